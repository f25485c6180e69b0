// Queues reports when they become due. Any number of processes may do it: the transaction that queues a report also moves its subscription on to
// the next period, so none is queued twice or skipped (decision D-219).
import { newId } from '../accounts/ids.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { dueAt, type Interval, periodAfter, type Schedule } from './due.ts'
import { forgetUnconfirmed } from './subscriptions.ts'

const atOnce = 200

interface LookedAt extends Schedule {
  id: string
  accountId: string
  email: string
  period: string
}

/** Returns how many reports were queued. Also forgets those that nobody confirmed. */
export async function queueDueReports(postgres: Postgres, signal?: AbortSignal): Promise<number> {
  await forgetUnconfirmed(postgres)
  let queued = 0
  while (!signal?.aborted) {
    const round = await inTransaction(postgres, queueSome)
    queued += round.queued
    if (round.looked === 0) break
  }
  return queued
}

/** Reports of one site are queued together, so that they are sent together and share the cache of statistics. */
async function queueSome(transaction: Postgres): Promise<{ looked: number; queued: number }> {
  const subscriptions = await transaction<LookedAt[]>`
    SELECT id, account_id AS "accountId", email, every AS interval, hour, time_zone AS zone, next_period::text AS period,
      ARRAY(
        SELECT DISTINCT time_zone FROM sites
        WHERE sites.account_id = report_subscriptions.account_id AND (site_id IS NULL OR sites.id = site_id)
      ) AS "siteZones"
    FROM report_subscriptions WHERE confirmed_at IS NOT NULL AND look_at <= now()
    ORDER BY look_at, account_id, site_id LIMIT ${atOnce} FOR UPDATE SKIP LOCKED`
  if (subscriptions.length === 0) return { looked: 0, queued: 0 }
  const [{ now }] = await transaction<[{ now: Date }]>`SELECT now()`
  const next = subscriptions.map((one) => {
    const due = dueAt(one.period, one)
    const isDue = due <= now.getTime()
    const nextPeriod = isDue ? periodAfter(one.interval as Interval, one.period) : one.period
    return {
      id: one.id,
      next_period: nextPeriod,
      look_at: new Date(isDue ? dueAt(nextPeriod, one) : due),
      report: isDue && {
        message: newId('mail'),
        account: one.accountId,
        email: one.email,
        period: one.period,
        due: new Date(due),
      },
    }
  })
  const looked = JSON.stringify(next)
  await transaction`
    UPDATE report_subscriptions AS subscription SET next_period = one.next_period, look_at = one.look_at
    FROM jsonb_to_recordset(${looked}::text::jsonb) AS one (id text, next_period date, look_at timestamptz)
    WHERE subscription.id = one.id`
  const reports = next.flatMap(({ id, report }) => (report ? [{ id, ...report }] : []))
  // A report that was due before a restore may have been sent already.
  await transaction`
    INSERT INTO outbox (id, kind, recipient, account_id, subscription_id, period, due_at, state, problem)
    SELECT message, 'report', email, account, one.id, period, due,
      CASE WHEN due < began_at THEN 'in doubt' ELSE 'waiting' END,
      CASE WHEN due < began_at THEN 'it was due before the database was restored, and may have been sent then' ELSE '' END
    FROM ledger,
      jsonb_to_recordset(${JSON.stringify(reports)}::text::jsonb)
        AS one (id text, message text, account text, email text, period date, due timestamptz)
    ON CONFLICT (subscription_id, period) DO NOTHING`
  return { looked: subscriptions.length, queued: reports.length }
}
