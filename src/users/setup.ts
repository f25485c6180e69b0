// The first owner of an installation. There is no open sign-up and no default password: a one-time link makes the owner.
import { createAccount } from '../accounts/accounts.ts'
import { type Outbox, queueMessage } from '../mail/outbox.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, recordAction } from './audit-log.ts'
import { ChangeRefused } from './change-refused.ts'
import { disconnectIdentities } from './identities.ts'
import { setupLetter } from './letters.ts'
import { createLink, lifetimes, takeLink } from './one-time-links.ts'
import { turnOffSecondFactor } from './second-factor.ts'
import { endSessionsOf } from './sessions.ts'
import { type Browser, type NewSession, signIn } from './sign-ins.ts'
import { createUser, findUser, setPassword } from './users.ts'

/** Only one setup runs at a time: two could both find no account and no owner. */
const lock = (transaction: Postgres) => transaction`SELECT pg_advisory_xact_lock(hashtext('footfall setup'))`

async function hasOwner(postgres: Postgres): Promise<boolean> {
  const [row] = await postgres<{ found: boolean }[]>`SELECT EXISTS (SELECT FROM members WHERE role = 'owner') AS found`
  return row?.found === true
}

/**
 * Returns a token, or undefined if there is an owner. Replaces an earlier link for the same address or, without an address, the link of
 * the last start. An address gets the link by mail, too.
 */
export const createSetupLink = (
  postgres: Postgres,
  outbox: Outbox | undefined,
  invited?: { by: Actor; email: string; accountId: string },
): Promise<string | undefined> =>
  inTransaction(postgres, async (transaction) => {
    await lock(transaction)
    if (await hasOwner(transaction)) return undefined
    await transaction`
      DELETE FROM one_time_links WHERE purpose = 'setup' AND email IS NOT DISTINCT FROM ${invited?.email ?? null}`
    if (!invited) return createLink(transaction, { purpose: 'setup' })
    const { by, email, accountId } = invited
    await recordAction(transaction, { ...by, accountId, action: 'member.invited', subject: email, details: 'owner' })
    const token = await createLink(transaction, { purpose: 'setup', accountId, email })
    if (outbox) {
      const message = { kind: 'invitation', recipient: email, accountId, expiresIn: lifetimes.setup } as const
      await queueMessage(transaction, outbox, { ...message, letter: setupLetter(outbox, token) })
    }
    return token
  })

/** Creates the first owner and signs them in. All other setup links stop working. */
export const makeFirstOwner = (
  postgres: Postgres,
  outbox: Outbox | undefined,
  token: string,
  { email, passwordHash }: { email: string; passwordHash: string },
  browser: Browser,
): Promise<NewSession> =>
  inTransaction(postgres, async (transaction) => {
    await lock(transaction)
    const link = await takeLink(transaction, 'setup', token)
    if (await hasOwner(transaction)) throw new ChangeRefused('spent_link')
    const accountId = link.accountId ?? (await firstAccount(transaction))
    const by = { actor: email, address: browser.address }
    const id = await ownerWith(transaction, outbox, by, { email, passwordHash })
    await transaction`
      INSERT INTO members (account_id, user_id, role) VALUES (${accountId}, ${id}, 'owner')
      ON CONFLICT (account_id, user_id) DO UPDATE SET role = 'owner'`
    await transaction`DELETE FROM one_time_links WHERE purpose = 'setup'`
    await recordAction(transaction, { accountId, ...by, action: 'account.set_up', subject: email })
    return signIn(transaction, undefined, { id, email }, browser)
  })

/** Creates the account only now: an operator who creates one before must not find two. */
async function firstAccount(transaction: Postgres): Promise<string> {
  const [first] = await transaction<{ id: string }[]>`SELECT id FROM accounts ORDER BY created_at, id LIMIT 1`
  return first?.id ?? createAccount(transaction, { name: 'Main', plan: 'Agency' })
}

/**
 * A user may be left from a deleted account. A person who can read the log of the server may take over that user, who is told by mail if a
 * second factor ends with it.
 */
async function ownerWith(
  transaction: Postgres,
  outbox: Outbox | undefined,
  by: Actor,
  { email, passwordHash }: { email: string; passwordHash: string },
): Promise<string> {
  const user = await findUser(transaction, email)
  if (!user) return createUser(transaction, email, passwordHash)
  await setPassword(transaction, user.id, passwordHash)
  if (user.hasSecondFactor) await turnOffSecondFactor(transaction, outbox, by, user)
  await endSessionsOf(transaction, user.id)
  await disconnectIdentities(transaction, { actor: email }, user)
  return user.id
}
