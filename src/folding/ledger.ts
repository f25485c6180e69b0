// What of a site is folded, in PostgreSQL (migrations/postgres/0003_folds.sql and 0012_fold_runs.sql). Rows of a (version, day) are
// written by at most one run and become readable with one statement, so a reader sees a day before a fold or after it, never half of
// it, and any number of folds may be under way (decision D-73). One statement each: postgres.js 3.4 ends the process when a connection
// is lost within begin() or reserve().
import type { Postgres } from '../stores/postgres.ts'
import type { DayRange } from '../traffic/folds.ts'

export type Span = 'day' | 'month'

/** How long a reader may go on reading what is no longer readable: 15 minutes without PostgreSQL (decision D-69), and a request. */
export const stalestReader = '20 minutes'

/** A run shows that it is alive before each statement, which takes ten minutes at most (fold.ts). */
const givenUpAfter = '15 minutes'

export interface Run {
  id: string
  version: number
}

/** Begins to fold these days, or months; undefined when the site is gone. */
export async function beginFold(
  postgres: Postgres,
  siteId: string,
  span: Span,
  ranges: readonly DayRange[],
): Promise<Run | undefined> {
  const [run] = await postgres<Run[]>`
    SELECT run::text AS id, chosen AS version
    FROM begin_fold(${siteId}, ${span}, ${multirangeOf(ranges)}::text::datemultirange)`
  return run
}

/** Before each of its statements. False when it was given up: what it writes is not going to be read. */
export async function isAlive(postgres: Postgres, { id }: Run): Promise<boolean> {
  const { count } = await postgres`UPDATE fold_runs SET alive_at = now() WHERE id = ${id} AND state = 'folding'`
  return count === 1
}

/** Makes readable what the run wrote, less what events came late for meanwhile. False when it was given up. */
export async function commitFold(postgres: Postgres, { id }: Run): Promise<boolean> {
  const [row] = await postgres<[{ published: boolean }]>`SELECT commit_fold(${id}) AS published`
  return row.published
}

/** Ends a run that has no rows: they were never written, or are deleted. Its days may be written under its version again. */
export async function releaseRun(postgres: Postgres, { id }: Pick<Run, 'id'>): Promise<void> {
  await postgres`SELECT release_run(${id})`
}

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

/** Rows to delete. */
export interface Leftover {
  id: string
  siteId: string
  version: number
  span: Span
  ranges: DayRange[]
}

/** So many of what was written and is not readable any more, for so long that nobody can still be reading it. */
export const claimLeftovers = (postgres: Postgres, most: number, patience = stalestReader): Promise<Leftover[]> =>
  postgres<Leftover[]>`
    SELECT id::text, site_id AS "siteId", version, span, day_ranges(writes) AS ranges
    FROM claim_leftovers(${patience}::text::interval, ${most})`

/** So many of what runs have left behind that are given up. They can no longer commit, and nothing else is written there. */
export async function givenUp(postgres: Postgres, most: number): Promise<Leftover[]> {
  await postgres`
    UPDATE fold_runs SET state = 'given up', publishes = '{}'
    WHERE state IN ('folding', 'sweeping') AND alive_at < now() - ${givenUpAfter}::text::interval`
  return postgres<Leftover[]>`
    SELECT id::text, site_id AS "siteId", version, span, day_ranges(writes) AS ranges
    FROM fold_runs WHERE state = 'given up' ORDER BY id LIMIT ${most}`
}

/** After its rows are deleted. */
export async function noteSwept(postgres: Postgres, { id }: Leftover): Promise<void> {
  await postgres`UPDATE fold_runs SET state = 'swept' WHERE id = ${id} AND state = 'given up'`
}

const multirangeOf = (ranges: readonly DayRange[]): string => `{${ranges.map(([a, b]) => `[${a},${b}]`).join(',')}}`
