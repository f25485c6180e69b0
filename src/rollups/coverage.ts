// The state of a site's days: which are rolled up, which are settled, how far back events reach, and for which there are imported sums. It is
// part of the site, so every API process learns of a change within a second.
import type { PendingQuery, Row, TransactionSql } from 'postgres'
import type { DayRange } from '../calendar/days.ts'
import { intersect } from '../calendar/days.ts'
import type { Postgres } from '../stores/postgres.ts'

export interface Coverage {
  /** The rolled-up days and months; empty for a small site. */
  versions: readonly RollupVersion[]
  /** The last count of a busy site's today. */
  today: TodayRollup | null
  /** The last settled day. An event written for it or for an earlier day increments `invalidations`. Null: no day is settled. */
  settledThrough: string | null
  invalidations: number
  /** The first day whose events are retained. Earlier days exist only as rollups (decision D-79). */
  eventsFrom: string
  /** Daily sums of other products (imported-days.ts). No two of the same list have a day in common. */
  imported: readonly ImportedDays[]
}

export interface ImportedDays {
  /** `total`, or a dimension of version 2. */
  list: string
  /** The numbers that its rows have: columns of `imported_sums`. */
  metrics: readonly string[]
  days: readonly DayRange[]
  /** Of its rows. */
  version: string
}

/** The days and whole months whose rollup rows were written under one version (decision D-73). */
export interface RollupVersion {
  version: number
  /** What its rows contain: `currentLayout`, or less if another version of Footfall wrote them. */
  layout: number
  days: readonly DayRange[]
  /** Each range begins with the first day of a month and ends with the last day of a month. */
  months: readonly DayRange[]
}

/** 1: rollups. 2: rollups and sessions (decision D-237). Days with less are rolled up again (older-layouts.ts). */
export const currentLayout = 2

/** The days with sessions, by version. */
export const withSessions = (versions: readonly RollupVersion[]): RollupVersion[] =>
  versions.filter(({ layout }) => layout >= 2)

/** The days of a busy site that are not closed yet, counted at one instant (decision D-81). */
export interface TodayRollup {
  version: number
  days: DayRange
  /** UTC milliseconds. Later events are not counted. */
  asOf: number
  /** Closed days up to an instant. The previous periods of the rolling ranges end there. */
  parts: readonly DayPart[]
}

export interface DayPart {
  day: string
  /** UTC milliseconds. */
  until: number
  /** The version of the whole day when the part was counted. If the day has another version now, events have arrived since. */
  version: number
}

/** Rollup rows to read: their span, version and days. The rows of a month carry its first day. */
export interface Segment {
  span: Span
  version: number
  days: readonly DayRange[]
}

/** `part` is a day from its beginning until an instant. */
export type Span = 'day' | 'month' | 'part'

/** A column for a SELECT from `sites`: `Coverage` as JSON. */
export const coverageColumn = (postgres: Postgres): PendingQuery<Row[]> => postgres`
  json_build_object(
    'versions', (
      SELECT coalesce(json_agg(json_build_object(
        'version', version, 'layout', layout, 'days', day_ranges(days), 'months', day_ranges(months)) ORDER BY version), '[]')
      FROM rollup_coverage
      WHERE site_id = sites.id AND (days <> '{}' OR months <> '{}')
    ),
    'today', (
      SELECT json_build_object('version', version, 'days', json_build_array(first_day::text, last_day::text),
        'asOf', floor(extract(epoch FROM as_of) * 1000), 'parts', parts)
      FROM today_coverage WHERE site_id = sites.id AND today_coverage.time_zone = sites.time_zone
    ),
    'settledThrough', (SELECT considered_through::text FROM rollup_state WHERE site_id = sites.id),
    'invalidations', coalesce((SELECT invalidations FROM rollup_state WHERE site_id = sites.id), 0),
    'eventsFrom', (SELECT events_from::text FROM retention),
    'imported', (
      SELECT coalesce(json_agg(json_build_object(
        'list', list, 'metrics', metrics, 'days', day_ranges(days), 'version', version) ORDER BY list, days), '[]')
      FROM imported_days WHERE site_id = sites.id
    )
  )::text`

/** Undefined: the site does not exist. */
export async function readCoverage(postgres: Postgres, siteId: string): Promise<Coverage | undefined> {
  const [row] = await postgres<{ coverage: string }[]>`
    SELECT ${coverageColumn(postgres)} AS coverage FROM sites WHERE id = ${siteId}`
  return row && (JSON.parse(row.coverage) as Coverage)
}

/** The rolled-up days among these, by version. */
export const rolledUpDays = (ranges: readonly DayRange[], versions: readonly RollupVersion[]): Segment[] =>
  versions
    .map(({ version, days }): Segment => ({ span: 'day', version, days: intersect(ranges, days) }))
    .filter(({ days }) => days.length > 0)

/** The first day whose events are retained, `YYYY-MM-DD`. Nothing is written for earlier days (decision D-80). */
export async function retainedFrom(postgres: Postgres | TransactionSql): Promise<string> {
  const [row] = await postgres<[{ events_from: string }]>`SELECT events_from::text FROM retention`
  return row.events_from
}
