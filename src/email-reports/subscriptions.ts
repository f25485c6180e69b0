// Who gets which report. Changes by people are in users/report-changes.ts, each together with its entry in the audit log.
import { newId } from '../accounts/ids.ts'
import type { Postgres } from '../stores/postgres.ts'
import { dueAt, firstPeriodDueAfter, type Interval } from './due.ts'

export interface NewSubscription {
  accountId: string
  /** Null: one report about all sites of the account. */
  siteId: string | null
  email: string
  /** Null: an address that is no member, and must confirm before it gets anything. */
  userId: string | null
  /** Of its site, as in the API: `page:starts_with:/blog`. */
  filters?: readonly string[]
  interval: Interval
  hour: number
  timeZone: string
  createdBy: string
}

export interface Subscription extends NewSubscription {
  id: string
  /** The domain of its site. */
  domain: string | null
  /** The name of its account. */
  account: string
  filters: readonly string[]
  isConfirmed: boolean
  createdAt: Date
}

/** How long an address may confirm. After that nobody remembers that it was asked. */
export const confirmWithin = '7 days'

const isForgotten = (postgres: Postgres) => postgres`
  confirmed_at IS NULL AND report_subscriptions.created_at <= now() - ${confirmWithin}::text::interval`

const select = (postgres: Postgres) => postgres`
  SELECT report_subscriptions.id, report_subscriptions.account_id AS "accountId", site_id AS "siteId", email, user_id AS "userId",
    every AS interval, hour, report_subscriptions.time_zone AS "timeZone", created_by AS "createdBy", filters,
    domain, accounts.name AS account, confirmed_at IS NOT NULL AS "isConfirmed", report_subscriptions.created_at AS "createdAt"
  FROM report_subscriptions JOIN accounts ON accounts.id = report_subscriptions.account_id LEFT JOIN sites ON sites.id = site_id
  WHERE NOT (${isForgotten(postgres)})`

/** Of an account, all sites first. */
export const subscriptionsOf = (postgres: Postgres, accountId: string): Promise<Subscription[]> =>
  postgres<Subscription[]>`
    ${select(postgres)} AND report_subscriptions.account_id = ${accountId} ORDER BY domain NULLS FIRST, email, every DESC`

export async function findSubscription(postgres: Postgres, id: string): Promise<Subscription | undefined> {
  const [row] = await postgres<Subscription[]>`${select(postgres)} AND report_subscriptions.id = ${id}`
  return row
}

/** Its first report is the next one that becomes due. Undefined: the address has such a report already. */
export async function createSubscription(postgres: Postgres, one: NewSubscription): Promise<string | undefined> {
  const { interval, hour, timeZone: zone } = one
  const [{ now, siteZones }] = await postgres<[{ now: Date; siteZones: string[] }]>`
    SELECT now(), ARRAY(
      SELECT DISTINCT time_zone FROM sites
      WHERE account_id = ${one.accountId} AND (${one.siteId}::text IS NULL OR id = ${one.siteId})) AS "siteZones"`
  const schedule = { interval, hour, zone, siteZones }
  const period = firstPeriodDueAfter(now.getTime(), schedule)
  const id = newId('rep')
  const { count } = await postgres`
    INSERT INTO report_subscriptions
      (id, account_id, site_id, email, user_id, every, hour, time_zone, next_period, look_at, confirmed_at, created_by, filters)
    VALUES (${id}, ${one.accountId}, ${one.siteId}, ${one.email}, ${one.userId}, ${interval}, ${hour}, ${zone},
      ${period}::text::date, ${new Date(dueAt(period, schedule))}, ${one.userId === null ? null : now}, ${one.createdBy}, ${[...(one.filters ?? [])]})
    ON CONFLICT DO NOTHING`
  return count > 0 ? id : undefined
}

/** The same period is next, so no report is repeated or skipped. */
export const changeSchedule = (
  postgres: Postgres,
  id: string,
  { hour, timeZone }: Pick<NewSubscription, 'hour' | 'timeZone'>,
) => postgres`UPDATE report_subscriptions SET hour = ${hour}, time_zone = ${timeZone}, look_at = now() WHERE id = ${id}`

/**
 * From now on the address gets its reports. Those that became due before are left out, because nobody had asked for them. False: it was
 * confirmed before, or does not exist any more.
 */
export async function confirmSubscription(postgres: Postgres, id: string): Promise<boolean> {
  const [row] = await postgres<{ interval: Interval; hour: number; zone: string; siteZones: string[]; now: Date }[]>`
    SELECT every AS interval, hour, time_zone AS zone, now(), ARRAY(
      SELECT DISTINCT time_zone FROM sites
      WHERE account_id = report_subscriptions.account_id AND (site_id IS NULL OR id = site_id)) AS "siteZones"
    FROM report_subscriptions WHERE id = ${id} AND confirmed_at IS NULL AND NOT (${isForgotten(postgres)}) FOR UPDATE`
  if (!row) return false
  const period = firstPeriodDueAfter(row.now.getTime(), row)
  await postgres`
    UPDATE report_subscriptions SET confirmed_at = now(), next_period = greatest(next_period, ${period}::text::date), look_at = now()
    WHERE id = ${id}`
  return true
}

/** Also deletes its messages that are not sent yet. */
export async function deleteSubscription(postgres: Postgres, id: string): Promise<boolean> {
  const { count } = await postgres`DELETE FROM report_subscriptions WHERE id = ${id}`
  return count > 0
}

/** Deletes what nobody has confirmed in time. */
export const forgetUnconfirmed = (postgres: Postgres) =>
  postgres`DELETE FROM report_subscriptions WHERE ${isForgotten(postgres)}`
