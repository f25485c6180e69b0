// Shared by all pages that sign in.
import { daySeconds } from '../../durations.ts'
import { type Attempt, browserCookieOf } from '../../users/attempts.ts'
import { PasswordsBusy } from '../../users/password-queue.ts'
import { maxPasswordLength, minPasswordLength } from '../../users/passwords.ts'
import { useCode } from '../../users/second-factor.ts'
import type { NewSession } from '../../users/sign-ins.ts'
import { findUserById, type UserReference } from '../../users/users.ts'
import { type Html, html } from '../../web/html.ts'
import { Refusal } from '../refusals.ts'
import type { UserVisit, Visit } from '../route.ts'

const browserCookieSeconds = 400 * daySeconds

export function sessionCookies({ services, cookies }: Visit, { email, value }: NewSession): string[] {
  return [
    cookies.set('session', value),
    cookies.set('browser', browserCookieOf(services.keySecrets, email), browserCookieSeconds),
    cookies.remove('form'),
    cookies.remove('code'),
    cookies.remove('flow'),
  ]
}

/** Whether the field `password` holds the password of the user. Somebody at an open screen must not take the account over. */
export async function isOwnPassword(visit: UserVisit): Promise<boolean> {
  const { services, form, session } = visit
  const { id, email } = session.user
  const verdict = await judgeWithinLimits(visit, 'password', email, async () => {
    const user = await findUserById(services.postgres, id)
    return (await services.passwords.verify(form.get('password') ?? '', user?.passwordHash, id)) || undefined
  })
  return verdict === true
}

/** Uses up the code in the field `code`. Undefined if it is wrong. */
export const judgeCode = (visit: Visit, { id, email }: UserReference): Promise<'app' | 'recovery' | undefined> =>
  judgeWithinLimits(visit, 'code', email, () => {
    const { postgres, keySecrets, now } = visit.services
    return useCode(postgres, keySecrets, { userId: id, code: visit.form.get('code') ?? '', now: now() })
  })

/** Verifies a password or code; attempts are rate-limited. */
export async function judgeWithinLimits<Verdict>(
  { services, ...sender }: Pick<Visit, 'services' | 'clientAddress' | 'browserCookie'>,
  what: 'password' | 'code',
  email: string,
  judge: (knownUser: string | undefined) => Promise<Verdict | undefined>,
): Promise<Verdict | undefined> {
  const verdict = await judgeAttempt(services.attempts.begin(what, email, sender), judge)
  if (verdict === undefined) services.refusalTraces.note(`wrong_${what}`, sender.clientAddress)
  return verdict
}

/** Runs an attempt. It does not count if it was right or could not be verified. */
export async function judgeAttempt<Verdict>(
  { waitSeconds, knownUser, giveBack, turnAway }: Attempt,
  judge: (knownUser: string | undefined) => Promise<Verdict | undefined>,
): Promise<Verdict | undefined> {
  if (waitSeconds > 0) throw new Refusal('too_many', waitSeconds)
  try {
    const verdict = await judge(knownUser)
    if (verdict !== undefined) giveBack()
    return verdict
  } catch (error) {
    if (error instanceof PasswordsBusy) turnAway()
    else giveBack()
    throw error
  }
}

/** Only a path of the console: `//example.com` and `/\example.com` would lead to another host. */
export const ownPath = (next: string | null): string => (next && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/')

/** The fields for a new password. It is typed twice, because nobody can look it up. */
export const newPasswordFields = (): Html => html`
  <label>New password <input name="new-password" type="password" autocomplete="new-password" required minlength="${minPasswordLength}" maxlength="${maxPasswordLength}">
    <span class="hint">At least ${minPasswordLength} characters. A few unrelated words are easy to remember.</span></label>
  <label>The same again <input name="repeated-password" type="password" autocomplete="new-password" required></label>`

/** The password of these fields, or what is wrong with it. */
export function newPasswordOf(form: URLSearchParams): { password: string } | { wrong: string } {
  const password = form.get('new-password') ?? ''
  if (password.length < minPasswordLength) {
    return { wrong: `The password is too short. Use at least ${minPasswordLength} characters.` }
  }
  if (password.length > maxPasswordLength) {
    return { wrong: `The password is too long. Use at most ${maxPasswordLength} characters.` }
  }
  if (password !== form.get('repeated-password')) {
    return { wrong: 'The two passwords are not the same. Type both again.' }
  }
  return { password }
}
