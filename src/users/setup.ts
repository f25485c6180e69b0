// The first owner of an installation. There is no open sign-up and no default password: a one-time link makes the owner.
import { createAccount } from '../accounts/accounts.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { disconnectIdentities } from './identities.ts'
import { createLink, takeLink } from './one-time-links.ts'
import { turnOffSecondFactor } from './second-factor.ts'
import { endSessionsOf } from './sessions.ts'
import { createUser, findUser, setPassword } from './users.ts'

/** Two of these must not run at the same time: both could find no account and no owner. */
const lock = (transaction: Postgres) => transaction`SELECT pg_advisory_xact_lock(hashtext('footfall setup'))`

async function hasOwner(postgres: Postgres): Promise<boolean> {
  const [row] = await postgres<{ found: boolean }[]>`SELECT EXISTS (SELECT FROM members WHERE role = 'owner') AS found`
  return row?.found === true
}

/**
 * Returns a token, or undefined if there is an owner. An earlier link for the same address stops working; without an address, the one of
 * the last start.
 */
export const createSetupLink = (
  postgres: Postgres,
  { email, accountId }: { email?: string; accountId?: string } = {},
): Promise<string | undefined> =>
  inTransaction(postgres, async (transaction) => {
    await lock(transaction)
    if (await hasOwner(transaction)) return undefined
    await transaction`
      DELETE FROM one_time_links WHERE purpose = 'setup' AND email IS NOT DISTINCT FROM ${email ?? null}`
    return createLink(transaction, { purpose: 'setup', ...(accountId && { accountId }), ...(email && { email }) })
  })

/** Returns undefined if the link does not work or there is an owner by now. All other links of this kind stop working. */
export async function makeFirstOwner(
  transaction: Postgres,
  token: string,
  { email, passwordHash }: { email: string; passwordHash: string },
): Promise<{ accountId: string; userId: string } | undefined> {
  await lock(transaction)
  const link = await takeLink(transaction, 'setup', token)
  if (!link || (await hasOwner(transaction))) return undefined
  const accountId = link.accountId ?? (await firstAccount(transaction))
  const userId = await ownerWith(transaction, email, passwordHash)
  await transaction`
    INSERT INTO members (account_id, user_id, role) VALUES (${accountId}, ${userId}, 'owner')
    ON CONFLICT (account_id, user_id) DO UPDATE SET role = 'owner'`
  await transaction`DELETE FROM one_time_links WHERE purpose = 'setup'`
  return { accountId, userId }
}

/** Made only now: an operator who creates an account first must not find two. */
async function firstAccount(transaction: Postgres): Promise<string> {
  const [first] = await transaction<{ id: string }[]>`SELECT id FROM accounts ORDER BY created_at, id LIMIT 1`
  return first?.id ?? createAccount(transaction, { name: 'Main', plan: 'Agency' })
}

/** A user may be left from an account that was deleted. Whoever can read the log of the server may take its place. */
async function ownerWith(transaction: Postgres, email: string, passwordHash: string): Promise<string> {
  const known = await findUser(transaction, email)
  if (!known) return createUser(transaction, email, passwordHash)
  await setPassword(transaction, known.id, passwordHash)
  await turnOffSecondFactor(transaction, known.id)
  await endSessionsOf(transaction, known.id)
  await disconnectIdentities(transaction, known, { actor: email })
  return known.id
}
