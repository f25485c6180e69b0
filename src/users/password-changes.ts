// New passwords, each together with its entry in the audit log.
import type { Outbox } from '../mail/outbox.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, recordOfUser } from './audit-log.ts'
import { disconnectIdentities } from './identities.ts'
import { createLink, endResetLinks, takeLink, userOfLink } from './one-time-links.ts'
import { turnOffSecondFactor } from './second-factor.ts'
import { endSessionsOf, type Session } from './sessions.ts'
import { setPassword, type UserReference } from './users.ts'

/** Ends the other sessions of the user. */
export const changePassword = (
  postgres: Postgres,
  actor: Actor,
  { id, user }: Session,
  passwordHash: string,
): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    await setPassword(transaction, user.id, passwordHash)
    await endResetLinks(transaction, user.id)
    await endSessionsOf(transaction, user.id, id)
    await recordOfUser(transaction, actor, user, 'user.password_changed')
  })

/** Creates a link to set a new password; earlier ones stop working. `disconnected`: the identities that it removed, in words. */
export const createResetLink = (
  postgres: Postgres,
  outbox: Outbox | undefined,
  actor: Actor,
  user: UserReference,
  { losesSecondFactor }: { losesSecondFactor: boolean },
): Promise<{ token: string; disconnected: string[] }> =>
  inTransaction(postgres, async (transaction) => {
    if (losesSecondFactor) await turnOffSecondFactor(transaction, outbox, actor, user)
    // Disconnects now, because the link may be used late or never (decision D-211).
    const disconnected = await disconnectIdentities(transaction, actor, user)
    await endResetLinks(transaction, user.id)
    await recordOfUser(transaction, actor, user, 'user.reset_link_created')
    return { token: await createLink(transaction, { purpose: 'reset', userId: user.id }), disconnected }
  })

/** Sets the password of the user of the link, and ends all their sessions and other such links. */
export const resetPassword = (
  postgres: Postgres,
  token: string,
  passwordHash: string,
  address: string,
): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    const user = await userOfLink(transaction, await takeLink(transaction, 'reset', token))
    const actor = { actor: user.email, address }
    await setPassword(transaction, user.id, passwordHash)
    await endResetLinks(transaction, user.id)
    await endSessionsOf(transaction, user.id)
    await recordOfUser(transaction, actor, user, 'user.password_reset')
    // After the sessions have ended: a request that connects an identity has finished by now, or fails (decision D-211).
    await disconnectIdentities(transaction, actor, user)
  })
