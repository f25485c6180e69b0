type Reason =
  | 'not_found'
  | 'owners_only'
  | 'spent_link'
  | 'sign_on_failed'
  | 'unknown_identity'
  | 'other_email'
  | 'identity_taken'

/** A change that is not allowed. It is thrown in the transaction of the change, which is then rolled back. */
export class ChangeRefused extends Error {
  readonly reason: Reason

  constructor(reason: Reason) {
    super(`The change was refused: ${reason}`)
    this.reason = reason
  }
}
