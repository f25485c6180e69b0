type Reason = 'not_found' | 'spent_link' | 'sign_on_failed' | 'unknown_identity' | 'other_email' | 'identity_taken'

/** Why somebody may not make a change. It is thrown in the transaction of the change, so that nothing of the change is left. */
export class ChangeRefused extends Error {
  readonly reason: Reason

  constructor(reason: Reason) {
    super(`The change was refused: ${reason}`)
    this.reason = reason
  }
}
