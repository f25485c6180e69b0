// What of a site is folded, in PostgreSQL (migrations/postgres/0003_folds.sql). Rows of a (version, day) are written at most once
// and become readable with one update, so a reader sees a day before a fold or after it, never half of it (decision D-73).
import type { TransactionSql } from 'postgres'
import type { Postgres } from '../stores/postgres.ts'
import type { DayRange } from '../traffic/folds.ts'

export type Span = 'day' | 'month'

/** How long a reader may go on reading what is no longer readable: 15 minutes without PostgreSQL (decision D-69), and a request. */
export const stalestReader = '20 minutes'

const columnsOf = {
  day: { readable: 'days', pending: 'pending_days', written: 'written_days' },
  month: { readable: 'months', pending: 'pending_months', written: 'written_months' },
} as const

/**
 * Begins to fold these days, or months, and says under which version: the lowest that no row of them was ever written under, so
 * that what a fold that did not finish has left behind is never read.
 */
export function beginFold(
  postgres: Postgres,
  siteId: string,
  span: Span,
  ranges: readonly DayRange[],
): Promise<number> {
  const { pending, written } = columnsOf[span]
  const asked = multirangeOf(ranges)
  return postgres.begin(async (transaction) => {
    await transaction`INSERT INTO site_folding (site_id) VALUES (${siteId}) ON CONFLICT DO NOTHING`
    await transaction`SELECT FROM site_folding WHERE site_id = ${siteId} FOR UPDATE`
    await transaction`
      UPDATE site_folds SET pending_days = '{}', pending_months = '{}'
      WHERE site_id = ${siteId} AND (pending_days <> '{}' OR pending_months <> '{}')`
    const [row] = await transaction<[{ version: number }]>`
      SELECT coalesce(
        (SELECT min(version) FROM site_folds
         WHERE site_id = ${siteId} AND NOT ${transaction(written)} && ${asked}::text::datemultirange),
        (SELECT max(version) + 1 FROM site_folds WHERE site_id = ${siteId}),
        1) AS version`
    await transaction`
      INSERT INTO site_folds (site_id, version, ${transaction(pending)}, ${transaction(written)})
      VALUES (${siteId}, ${row.version}, ${asked}::text::datemultirange, ${asked}::text::datemultirange)
      ON CONFLICT (site_id, version) DO UPDATE
      SET ${transaction(pending)} = excluded.${transaction(pending)},
          ${transaction(written)} = site_folds.${transaction(written)} + excluded.${transaction(written)}`
    return row.version
  }) as Promise<number>
}

/**
 * Makes what was written readable, less the days that events came late for meanwhile; a month that such a day was part of is no
 * longer the sum of its days. A readable day whose events are no longer kept stays as it is: they may have been gone already when
 * they were read (decision D-79). False when the site is gone.
 */
export function commitFold(postgres: Postgres, siteId: string, span: Span, version: number): Promise<boolean> {
  const { readable, pending } = columnsOf[span]
  return postgres.begin(async (transaction) => {
    await transaction`SELECT FROM site_folding WHERE site_id = ${siteId} FOR UPDATE`
    // Before it is looked at: what a note has just taken out of it must be seen.
    await transaction`SELECT FROM site_folds WHERE site_id = ${siteId} AND version = ${version} FOR UPDATE`
    const [row] = await transaction<{ finished: string; months: string }[]>`
      SELECT
        finished::text,
        coalesce((
          SELECT range_agg(daterange(
            date_trunc('month', lower(range))::date, (date_trunc('month', upper(range) - 1) + interval '1 month')::date))
          FROM unnest(finished) AS range), '{}')::text AS months
      FROM site_folds,
        LATERAL (SELECT ${transaction(pending)} - ${span === 'day' ? finalDays(transaction, siteId) : transaction`'{}'`} AS finished) AS what
      WHERE site_id = ${siteId} AND version = ${version}`
    if (!row) return false
    const { finished, months } = row
    if (span === 'day') {
      await transaction`
        UPDATE site_folds SET months = months - ${months}::text::datemultirange
        WHERE site_id = ${siteId} AND months && ${months}::text::datemultirange`
    }
    await transaction`
      UPDATE site_folds SET ${transaction(readable)} = ${transaction(readable)} - ${finished}::text::datemultirange
      WHERE site_id = ${siteId} AND version <> ${version} AND ${transaction(readable)} && ${finished}::text::datemultirange`
    await transaction`
      UPDATE site_folds
      SET ${transaction(readable)} = ${transaction(readable)} + ${finished}::text::datemultirange, ${transaction(pending)} = '{}'
      WHERE site_id = ${siteId} AND version = ${version}`
    return true
  }) as Promise<boolean>
}

const finalDays = (transaction: TransactionSql, siteId: string) => transaction`
  coalesce(
    (SELECT range_agg(days) FROM site_folds WHERE site_id = ${siteId})
    * (SELECT datemultirange(daterange(NULL, kept_from)) FROM retention), '{}')`

/** The days from the first to the last that are not readable yet. */
export async function unfoldedDays(postgres: Postgres, siteId: string, [first, last]: DayRange): Promise<DayRange[]> {
  const [row] = await postgres<[{ ranges: DayRange[] }]>`
    SELECT day_ranges(
      datemultirange(daterange(${first}::text::date, ${last}::text::date, '[]'))
      - coalesce((SELECT range_agg(days) FROM site_folds WHERE site_id = ${siteId}), '{}')) AS ranges`
  return row.ranges
}

/** Months whose days are all readable, and which are not readable themselves. */
export async function unfoldedMonths(postgres: Postgres, siteId: string): Promise<DayRange[]> {
  const rows = await postgres<{ first: string; last: string }[]>`
    WITH folds AS (
      SELECT range_agg(days) AS days, coalesce(range_agg(months), '{}') AS months
      FROM site_folds WHERE site_id = ${siteId}
    )
    SELECT month::date::text AS first, (month + interval '1 month' - interval '1 day')::date::text AS last
    FROM folds, unnest(days) AS range,
      generate_series(date_trunc('month', lower(range)), upper(range) - 1, interval '1 month') AS month
    WHERE days @> daterange(month::date, (month + interval '1 month')::date)
      AND NOT months && datemultirange(daterange(month::date, (month + interval '1 month')::date))
    ORDER BY month`
  return rows.map(({ first, last }) => [first, last])
}

export interface Leftover {
  siteId: string
  version: number
  span: Span
  ranges: DayRange[]
}

/** What was written and is not readable any more, for so long that nobody can still be reading it. */
export async function leftovers(postgres: Postgres, patience = stalestReader): Promise<Leftover[]> {
  return postgres<Leftover[]>`
    SELECT site_id AS "siteId", version, span, day_ranges(ranges) AS ranges
    FROM site_folds,
      LATERAL (VALUES ('day', written_days - days - pending_days), ('month', written_months - months - pending_months))
        AS rest (span, ranges)
    WHERE ranges <> '{}' AND changed_at < now() - ${patience}::text::interval
    ORDER BY site_id, version`
}

/** After its rows are deleted: they may be written again. */
export async function clearLeftover(postgres: Postgres, { siteId, version, span, ranges }: Leftover): Promise<void> {
  const { written } = columnsOf[span]
  await postgres`
    UPDATE site_folds SET ${postgres(written)} = ${postgres(written)} - ${multirangeOf(ranges)}::text::datemultirange
    WHERE site_id = ${siteId} AND version = ${version}`
}

const multirangeOf = (ranges: readonly DayRange[]): string => `{${ranges.map(([a, b]) => `[${a},${b}]`).join(',')}}`
