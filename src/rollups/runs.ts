// Records in PostgreSQL which days of a site are rolled up (migrations/postgres/0001_baseline.sql). At most one run writes the rows of
// a (version, day), and one statement makes them readable. So a reader sees a day before or after a run, never half of it, and any
// number of runs may be active (decision D-73). Each function sends one statement, because postgres.js 3.4 ends the process when a
// connection is lost within begin() or reserve().

import type { Fragment } from 'postgres'
import type { DayRange } from '../calendar/days.ts'
import type { Postgres } from '../stores/postgres.ts'
import { currentLayout } from './coverage.ts'

export type RunSpan = 'day' | 'month'

/** How long a reader may still read a version that was replaced: 15 minutes without PostgreSQL (decision D-69), plus one request. */
export const stalestReader = '20 minutes'

/** A run shows that it is alive before each statement, and a statement takes ten minutes at most (roll-up.ts). */
const givenUpAfter = '15 minutes'

export interface Run {
  id: string
  version: number
}

/** Records that a round works on the days of these sites through this one. The sites stay unfinished until `finishSites`. */
export async function considerSites(postgres: Postgres, siteIds: readonly string[], through: string): Promise<void> {
  await postgres`SELECT consider_sites(${siteIds as string[]}, ${through}::text::date)`
}

/** `events` is the number of events on the last closed day; null keeps the stored number. */
export async function finishSites(
  postgres: Postgres,
  sites: readonly { id: string; events: number | null }[],
): Promise<void> {
  await postgres`SELECT finish_sites(${JSON.stringify(sites)}::text::jsonb)`
}

/** Begins a run for these days or months. Undefined: the site is gone, is on another shard, or is about to change its shard. */
export async function beginRun(
  postgres: Postgres,
  siteId: string,
  shard: number,
  span: RunSpan,
  ranges: readonly DayRange[],
): Promise<Run | undefined> {
  const [run] = await postgres<Run[]>`
    SELECT run::text AS id, chosen AS version
    FROM begin_rollup_run(${siteId}, ${shard}::int::smallint, ${span}, ${multirangeOf(ranges)}::text::datemultirange,
      ${currentLayout}::int::smallint)`
  return run
}

export interface SiteRun extends Run {
  siteId: string
}

/** Begins a run for the same days of each site. Sites that are gone or move have none. */
export const beginRuns = (
  postgres: Postgres,
  siteIds: readonly string[],
  shard: number,
  ranges: readonly DayRange[],
): Promise<SiteRun[]> => postgres<SiteRun[]>`
  SELECT site AS "siteId", run::text AS id, chosen AS version
  FROM begin_rollup_runs(${siteIds as string[]}, ${shard}::int::smallint, ${multirangeOf(ranges)}::text::datemultirange,
    ${currentLayout}::int::smallint)`

/** Call it before each statement of runs. False: all were given up, and nobody will read their rows. */
export async function areAlive(postgres: Postgres, runs: readonly Run[]): Promise<boolean> {
  const { count } = await postgres`
    UPDATE rollup_runs SET alive_at = now() WHERE id = ANY(${idsOf(runs)}::text[]::bigint[]) AND state = 'writing'`
  return count > 0
}

/** Makes the rows of the run readable, except for days that got late events in the meantime. False: the run was given up. */
export async function publishRun(postgres: Postgres, { id }: Run): Promise<boolean> {
  const [row] = await postgres<[{ published: boolean }]>`SELECT publish_rollup_run(${id}) AS published`
  return row.published
}

/** `publishRun` for many runs. Returns the runs that were given up. */
export async function publishRuns(postgres: Postgres, runs: readonly SiteRun[]): Promise<SiteRun[]> {
  const rows = await postgres<{ id: string; published: boolean }[]>`
    SELECT run::text AS id, published FROM publish_rollup_runs(${idsOf(runs)}::text[]::bigint[])`
  const published = new Set(rows.filter((row) => row.published).map(({ id }) => id))
  return runs.filter(({ id }) => !published.has(id))
}

/** Ends a run without rows: it wrote none, or they are deleted. Its days may be written under its version again. */
export async function releaseRun(postgres: Postgres, { id }: Pick<Run, 'id'>): Promise<void> {
  await postgres`SELECT release_run(${id})`
}

/** The days in this range that are not readable yet. */
export async function daysToRollUp(postgres: Postgres, siteId: string, [first, last]: DayRange): Promise<DayRange[]> {
  const [row] = await postgres<[{ ranges: DayRange[] }]>`
    SELECT day_ranges(
      datemultirange(daterange(${first}::text::date, ${last}::text::date, '[]'))
      - coalesce((SELECT range_agg(days) FROM rollup_coverage WHERE site_id = ${siteId}), '{}')) AS ranges`
  return row.ranges
}

/** For each site, the days from its `first` through the last one that are not readable yet. */
export async function daysOfSitesToRollUp(
  postgres: Postgres,
  sites: readonly { id: string; first: string }[],
  last: string,
): Promise<Map<string, DayRange[]>> {
  const rows = await postgres<{ id: string; ranges: DayRange[] }[]>`
    SELECT id, day_ranges(
      datemultirange(daterange(first, ${last}::text::date, '[]'))
      - coalesce((SELECT range_agg(days) FROM rollup_coverage WHERE site_id = id), '{}')) AS ranges
    FROM jsonb_to_recordset(${JSON.stringify(sites)}::text::jsonb) AS given (id text, first date)`
  return new Map(rows.map(({ id, ranges }) => [id, ranges]))
}

/** Months that are not readable although all their days are. */
export async function monthsToRollUp(postgres: Postgres, siteId: string): Promise<DayRange[]> {
  const rows = await postgres<{ first: string; last: string }[]>`
    SELECT first, last FROM ${missingMonths(postgres, [siteId])} ORDER BY first`
  return rows.map(({ first, last }) => [first, last])
}

/** The sites with months that are not readable although all their days are. */
export async function sitesWithMonthsToRollUp(postgres: Postgres, siteIds: readonly string[]): Promise<string[]> {
  const rows = await postgres<{ id: string }[]>`
    SELECT DISTINCT site_id AS id FROM ${missingMonths(postgres, siteIds)} ORDER BY id`
  return rows.map(({ id }) => id)
}

const missingMonths = (postgres: Postgres, siteIds: readonly string[]): Fragment => postgres`(
    WITH covered AS (
      SELECT site_id, range_agg(days) AS days, coalesce(range_agg(months), '{}') AS months
      FROM rollup_coverage WHERE site_id = ANY(${siteIds as string[]}) GROUP BY site_id
    )
    SELECT site_id, month::date::text AS first, (month + interval '1 month' - interval '1 day')::date::text AS last
    FROM covered, unnest(days) AS range,
      generate_series(date_trunc('month', lower(range)), upper(range) - 1, interval '1 month') AS month
    WHERE days @> daterange(month::date, (month + interval '1 month')::date)
      AND NOT months && datemultirange(daterange(month::date, (month + interval '1 month')::date))
  ) AS missing`

/** Rollup rows to delete: they are no longer readable, or their run was given up. */
export interface Leftover {
  id: string
  siteId: string
  version: number
  span: RunSpan
  ranges: DayRange[]
}

/** At most `max` leftovers that stopped being readable so long ago that no reader can still be using them. */
export const claimLeftovers = (
  postgres: Postgres,
  shard: number,
  max: number,
  patience = stalestReader,
): Promise<Leftover[]> =>
  postgres<Leftover[]>`
    SELECT id::text, site_id AS "siteId", version, span, day_ranges(writes) AS ranges
    FROM claim_leftovers(${shard}::int::smallint, ${patience}::text::interval, ${max}, ${currentLayout}::int::smallint)`

/** At most `max` leftovers of runs that were given up. Such a run can no longer publish, and no other run writes the same rows. */
export async function givenUp(postgres: Postgres, shard: number, max: number): Promise<Leftover[]> {
  await postgres`
    UPDATE rollup_runs SET state = 'given up', publishes = '{}'
    WHERE state IN ('writing', 'sweeping') AND alive_at < now() - ${givenUpAfter}::text::interval`
  return postgres<Leftover[]>`
    SELECT id::text, site_id AS "siteId", version, span, day_ranges(writes) AS ranges
    FROM rollup_runs
    WHERE state = 'given up' AND site_id IN (SELECT sites.id FROM sites WHERE shard = ${shard})
      AND site_id NOT IN (SELECT moving.site_id FROM site_moves moving WHERE hold IS NOT NULL)
    ORDER BY id LIMIT ${max}`
}

/** Call it after the rows of the leftover are deleted. */
export async function noteSwept(postgres: Postgres, { id }: Leftover): Promise<void> {
  await postgres`UPDATE rollup_runs SET state = 'swept' WHERE id = ${id} AND state = 'given up'`
}

const idsOf = (runs: readonly Run[]): string[] => runs.map(({ id }) => id)

const multirangeOf = (ranges: readonly DayRange[]): string => `{${ranges.map(([a, b]) => `[${a},${b}]`).join(',')}}`
