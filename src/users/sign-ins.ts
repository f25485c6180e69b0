// Signing in: a session begins, and the audit log says how.
import { mayQueue } from '../mail/limits.ts'
import { type Outbox, queueMessage } from '../mail/outbox.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { knownBrowser } from './attempts.ts'
import { recordOfUser } from './audit-log.ts'
import { newSignInLetter } from './letters.ts'
import { takeLink, userOfLink } from './one-time-links.ts'
import { createSession, endSession, type Origin } from './sessions.ts'
import type { UserReference, UserSecrets } from './users.ts'

/** How the mail words each way to sign in. With a password, a code may have been asked for, too. */
const ways = {
  'user.signed_in': '',
  'user.recovery_code_used': ' with a recovery code',
  'user.signed_on': ' with single sign-on',
  'user.signed_in_with_link': ' with a one-time link',
} as const

type SignInAction = keyof typeof ways

/** The browser in which somebody signs in. */
export interface Browser extends Origin {
  /** The value of its session cookie. */
  cookie: string | undefined
  /** The cookie of a browser in which somebody has signed in before (attempts.ts). */
  browserCookie: string | undefined
}

export interface NewSession {
  email: string
  /** The value for the session cookie. */
  value: string
}

/**
 * Always creates a new session and ends the browser's old one: nobody can prepare a session for somebody else to sign in to. The user gets
 * a mail about a browser that is new (decision D-224); without an outbox, none.
 */
export const signIn = (
  postgres: Postgres,
  outbox: Outbox | undefined,
  user: UserReference,
  { cookie, browserCookie, address, browser }: Browser,
  action: SignInAction = 'user.signed_in',
): Promise<NewSession> =>
  inTransaction(postgres, async (transaction) => {
    const { id, email } = user
    if (cookie) await endSession(transaction, cookie)
    const value = await createSession(transaction, id, { address, browser })
    await recordOfUser(transaction, { actor: email, address }, user, action)
    if (outbox && !knownBrowser(outbox.secrets, browserCookie, email))
      await announce(transaction, outbox, email, { address, browser, how: ways[action] })
    return { email, value }
  })

/** Whoever knows the password could otherwise fill the mailbox. */
const mostPerHour = 10

async function announce(
  transaction: Postgres,
  outbox: Outbox,
  recipient: string,
  origin: Origin & { how: string },
): Promise<void> {
  const kind = 'new sign-in'
  const accountId = null
  if (!(await mayQueue(transaction, { kinds: [kind], recipient, accountId, mostPerHour }))) return
  const letter = newSignInLetter(outbox, recipient, { ...origin, at: new Date() })
  await queueMessage(transaction, outbox, { kind, recipient, accountId, letter })
}

/** Uses up the link. A user with a second factor gets no session yet. */
export const signInWithLink = (
  postgres: Postgres,
  outbox: Outbox | undefined,
  token: string,
  browser: Browser,
): Promise<{ user: UserSecrets; session: NewSession | undefined }> =>
  inTransaction(postgres, async (transaction) => {
    const user = await userOfLink(transaction, await takeLink(transaction, 'sign-in', token))
    if (user.hasSecondFactor) return { user, session: undefined }
    return { user, session: await signIn(transaction, outbox, user, browser, 'user.signed_in_with_link') }
  })

/** Records that somebody typed the right password of the user and a wrong code. */
export const recordWrongCode = (postgres: Postgres, user: UserReference, address: string) =>
  recordOfUser(postgres, { actor: 'somebody', address }, user, 'user.wrong_code')
