// Sessions of people who are signed in. The cookie holds 256 random bits; PostgreSQL holds only their hash, so a stolen table signs nobody in.
import { hash, randomBytes } from 'node:crypto'
import { newId } from '../accounts/ids.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, recordOfUser } from './audit-log.ts'
import { ChangeRefused } from './change-refused.ts'
import type { User, UserReference } from './users.ts'

const maxIdle = '12 hours'
const maxAge = '7 days'
/** `seen_at` of a session in use is written at most this often, so that reading a page rarely writes. */
const notedEvery = '1 minute'

export interface Session {
  id: string
  user: User
}

/** Where a session comes from, for the list of sessions. */
export interface Origin {
  /** Truncated. */
  address: string
  browser: string
}

/** Returns the value for the cookie. Also deletes expired sessions. */
export async function createSession(postgres: Postgres, userId: string, { address, browser }: Origin): Promise<string> {
  const value = randomBytes(32).toString('base64url')
  await postgres`
    DELETE FROM user_sessions
    WHERE seen_at <= now() - ${maxIdle}::text::interval OR created_at <= now() - ${maxAge}::text::interval`
  await postgres`UPDATE users SET signed_in_at = now() WHERE id = ${userId}`
  await postgres`
    INSERT INTO user_sessions (hash, id, user_id, address, browser)
    VALUES (${hashOf(value)}, ${newId('sess')}, ${userId}, ${address}, ${browser})`
  return value
}

export async function findSession(postgres: Postgres, value: string): Promise<Session | undefined> {
  const [row] = await postgres<(User & { session: string; isNoted: boolean })[]>`
    SELECT user_sessions.id AS session, users.id, email, totp_secret IS NOT NULL AS "hasSecondFactor",
           password_hash IS NOT NULL AS "hasPassword",
           seen_at > now() - ${notedEvery}::text::interval AS "isNoted"
    FROM user_sessions JOIN users ON users.id = user_id
    WHERE hash = ${hashOf(value)}
      AND seen_at > now() - ${maxIdle}::text::interval
      AND user_sessions.created_at > now() - ${maxAge}::text::interval`
  if (!row) return undefined
  const { session, isNoted, ...user } = row
  if (!isNoted) await postgres`UPDATE user_sessions SET seen_at = now() WHERE id = ${session}`
  return { id: session, user }
}

/** Somebody who watches a site. */
export interface Watching {
  sessionId: string
  siteId: string
}

/** Of these, those who are still signed in and in the account of their site. It does not count as use of a session. */
export async function stillWatching(postgres: Postgres, all: readonly Watching[]): Promise<ReadonlySet<Watching>> {
  const rows = await postgres<{ place: number }[]>`
    SELECT place::int
    FROM unnest(${all.map(({ sessionId }) => sessionId)}::text[], ${all.map(({ siteId }) => siteId)}::text[])
           WITH ORDINALITY AS watching (session_id, site_id, place)
      JOIN user_sessions ON user_sessions.id = session_id
        AND seen_at > now() - ${maxIdle}::text::interval
        AND user_sessions.created_at > now() - ${maxAge}::text::interval
      JOIN sites ON sites.id = site_id
      JOIN members ON members.user_id = user_sessions.user_id AND members.account_id = sites.account_id`
  return new Set(rows.flatMap(({ place }) => all[place - 1] ?? []))
}

export const endSession = (postgres: Postgres, value: string) =>
  postgres`DELETE FROM user_sessions WHERE hash = ${hashOf(value)}`

export interface SessionListing extends Origin {
  id: string
  createdAt: Date
  seenAt: Date
}

/** The running sessions of a user, the one used last at the top. */
export const sessionsOf = (postgres: Postgres, userId: string): Promise<SessionListing[]> => postgres<SessionListing[]>`
  SELECT id, address, browser, created_at AS "createdAt", seen_at AS "seenAt" FROM user_sessions
  WHERE user_id = ${userId}
    AND seen_at > now() - ${maxIdle}::text::interval
    AND created_at > now() - ${maxAge}::text::interval
  ORDER BY seen_at DESC, id`

export const endSessionOf = (postgres: Postgres, actor: Actor, user: UserReference, id: string): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    const { count } = await transaction`DELETE FROM user_sessions WHERE user_id = ${user.id} AND id = ${id}`
    if (count === 0) throw new ChangeRefused('not_found')
    await recordOfUser(transaction, actor, user, 'user.session_ended')
  })

export const signOutEverywhere = (postgres: Postgres, actor: Actor, user: UserReference): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    await endSessionsOf(transaction, user.id)
    await recordOfUser(transaction, actor, user, 'user.signed_out_everywhere')
  })

/** Ends the sessions of a user; all, or all but one. */
export const endSessionsOf = (postgres: Postgres, userId: string, exceptId: string | null = null) =>
  postgres`DELETE FROM user_sessions WHERE user_id = ${userId} AND id IS DISTINCT FROM ${exceptId}`

const hashOf = (value: string): Buffer => hash('sha256', value, 'buffer')
