// Mail to the owners of an account before an API key expires.
import { plans } from '../accounts/plans.ts'
import { type Outbox, queueMessage } from '../mail/outbox.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type ExpiringKey, expiringKeysLetter } from './letters.ts'
import { ownersOf } from './members.ts'

const ahead = '7 days'
/** Whoever makes many keys must not fill the mailboxes of the other owners: keys that are found meanwhile are in the next mail. */
const pause = '1 hour'
/** Accounts of one transaction. */
const atOnce = 20

const plansWithKeys = Object.entries(plans).flatMap(([name, plan]) => (plan ? [name] : []))

/**
 * Queues a mail to each owner about the keys that expire soon, once for each expiry of a key. Any number of processes may call it at the
 * same time: a locked account is left to the process that has it.
 */
export async function queueExpiringKeys(postgres: Postgres, outbox: Outbox, signal: AbortSignal): Promise<void> {
  let found = atOnce
  while (found === atOnce && !signal.aborted) {
    found = await inTransaction(postgres, async (transaction) => {
      const accounts = await transaction<{ id: string; name: string }[]>`
        SELECT id, name FROM accounts
        WHERE plan = ANY (${plansWithKeys})
          AND id IN (SELECT account_id FROM api_keys WHERE ${isDue(transaction)})
          AND NOT EXISTS (SELECT FROM outbox WHERE account_id = accounts.id AND kind = 'key expiry'
                                               AND queued_at > now() - ${pause}::text::interval)
        ORDER BY id LIMIT ${atOnce} FOR NO KEY UPDATE SKIP LOCKED`
      for (const account of accounts) await announce(transaction, outbox, account)
      return accounts.length
    })
  }
}

/** Without keys that were replaced: they are meant to end. */
const isDue = (postgres: Postgres) => postgres`
  NOT disabled AND expires_at > now() AND expires_at <= now() + ${ahead}::text::interval
    AND announced_expiry IS DISTINCT FROM expires_at
    AND NOT EXISTS (SELECT FROM api_keys AS newer WHERE newer.rotated_from = api_keys.id)`

/** A backup knows nothing of the notices that were sent after it was made (decision D-221). */
const doubtful = 'it was due before the database was restored, and may have been sent then'

async function announce(
  transaction: Postgres,
  outbox: Outbox,
  { id: accountId, name }: { id: string; name: string },
): Promise<void> {
  // Another process may have announced them between the search for accounts and their lock; then nothing is found here.
  const keys = await transaction<(ExpiringKey & { isDoubtful: boolean })[]>`
    UPDATE api_keys SET announced_expiry = expires_at WHERE account_id = ${accountId} AND ${isDue(transaction)}
    RETURNING name, prefix, expires_at AS "expiresAt",
      greatest(created_at, expires_at - ${ahead}::text::interval) < (SELECT began_at FROM ledger) AS "isDoubtful"`
  const inOrder = keys.toSorted((one, other) => one.expiresAt.getTime() - other.expiresAt.getTime())
  for (const [isDoubtful, some] of Map.groupBy(inOrder, (key) => key.isDoubtful)) {
    const letter = expiringKeysLetter(outbox, { id: accountId, name }, some)
    const doubt = isDoubtful ? doubtful : undefined
    for (const recipient of await ownersOf(transaction, accountId)) {
      await queueMessage(transaction, outbox, { kind: 'key expiry', recipient, accountId, letter, doubt })
    }
  }
}
