// Signing in: a session begins, and the audit log says how.
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { recordOfUser } from './audit-log.ts'
import { takeLink, userOfLink } from './one-time-links.ts'
import { createSession, endSession, type Origin } from './sessions.ts'
import type { UserReference, UserSecrets } from './users.ts'

type SignInAction = 'user.signed_in' | 'user.recovery_code_used' | 'user.signed_on' | 'user.signed_in_with_link'

/** The browser in which somebody signs in. */
export interface Browser extends Origin {
  /** The value of its session cookie. */
  cookie: string | undefined
}

export interface NewSession {
  email: string
  /** The value for the session cookie. */
  value: string
}

/** Always creates a new session and ends the browser's old one: nobody can prepare a session for somebody else to sign in to. */
export const signIn = (
  postgres: Postgres,
  user: UserReference,
  { cookie, address, browser }: Browser,
  action: SignInAction = 'user.signed_in',
): Promise<NewSession> =>
  inTransaction(postgres, async (transaction) => {
    const { id, email } = user
    if (cookie) await endSession(transaction, cookie)
    const value = await createSession(transaction, id, { address, browser })
    await recordOfUser(transaction, { actor: email, address }, user, action)
    return { email, value }
  })

/** Uses up the link. A user with a second factor gets no session yet. */
export const signInWithLink = (
  postgres: Postgres,
  token: string,
  browser: Browser,
): Promise<{ user: UserSecrets; session: NewSession | undefined }> =>
  inTransaction(postgres, async (transaction) => {
    const user = await userOfLink(transaction, await takeLink(transaction, 'sign-in', token))
    if (user.hasSecondFactor) return { user, session: undefined }
    return { user, session: await signIn(transaction, user, browser, 'user.signed_in_with_link') }
  })

/** Records that somebody typed the right password of the user and a wrong code. */
export const recordWrongCode = (postgres: Postgres, user: UserReference, address: string) =>
  recordOfUser(postgres, { actor: 'somebody', address }, user, 'user.wrong_code')
