// Limits of mail that people cause, so that nobody fills the mailbox of somebody else (decision D-223). They are counted in the outbox, which
// all processes share.
import type { Postgres } from '../stores/postgres.ts'
import type { Kind } from './kinds.ts'

const perRecipient = 3
const perAccount = 50

export interface LimitedMail {
  /** Messages of these kinds are counted together. */
  kinds: readonly Kind[]
  recipient: string
  /** Null if it concerns no account. */
  accountId: string | null
  /** How many a recipient gets in an hour. */
  mostPerHour?: number
}

/**
 * Whether one more message may be queued. Call it in the transaction that queues it, late, because it makes others wait that mail to
 * the same address or for the same account: two at the same time must not both find room for the last one. A transaction with several
 * recipients asks in the order of their addresses, so that two transactions never wait for each other.
 */
export async function mayQueue(
  transaction: Postgres,
  { kinds, recipient, accountId, mostPerHour = perRecipient }: LimitedMail,
): Promise<boolean> {
  if (accountId) await lock(transaction, `mail for ${accountId}`)
  await lock(transaction, `mail to ${recipient}`)
  const isCounted = transaction`kind = ANY (${[...kinds]}) AND queued_at > now() - interval '1 hour'`
  const [row] = await transaction<{ may: boolean }[]>`
    SELECT (SELECT count(*) FROM outbox WHERE recipient = ${recipient} AND ${isCounted}) < ${mostPerHour}
       AND (SELECT count(*) FROM outbox WHERE account_id = ${accountId} AND ${isCounted}) < ${perAccount} AS may`
  return row?.may === true
}

const lock = (transaction: Postgres, what: string) =>
  transaction`SELECT pg_advisory_xact_lock(hashtext(${`footfall ${what}`}))`
