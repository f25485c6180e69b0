// Checks that rollups and sessions match the events. It counts every grouping set of every day again from the events, one by one and without the
// statements that write rollups. It also compares months with their days.

import { countDays, type DayRange, intersect } from '../calendar/days.ts'
import type { Stores } from '../cluster/stores.ts'
import { join, type Sql, sql, text, uint } from '../stores/clickhouse-sql.ts'
import { onDays } from '../traffic/conditions.ts'
import { readCoverage, rolledUpDays, type Segment, withSessions } from './coverage.ts'
import { type Dimension, dimensions, has, tableOf } from './dimensions.ts'
import { chunksOf, eventsByDay, type Progress, settings } from './roll-up.ts'
import { daysToRollUp } from './runs.ts'
import { compareSessions } from './verify-sessions.ts'

export interface Verdict {
  days: number
  /** Rolled-up days that cannot be counted again, because retention has dropped their events (decision D-79). */
  notRetained: number
  /** Closed days that queries read from the events: right, but slow. `rollup run` rolls them up. */
  missingDays: DayRange[]
  /** Days, or first days of months, whose rows differ from the events. */
  wrong: { span: 'day' | 'month'; day: string; rows: number }[]
}

export async function verifySite(stores: Stores, siteId: string, onProgress: Progress = () => {}): Promise<Verdict> {
  const coverage = await readCoverage(stores.postgres, siteId)
  const versions = coverage?.versions ?? []
  const all = versions.flatMap(({ days }) => days)
  const ranges = intersect(all, [[coverage?.eventsFrom ?? '', '9999-12-31']]).sort()
  const first = ranges[0]?.[0]
  const last = ranges
    .map(([, end]) => end)
    .sort()
    .at(-1)

  const wrong = new Map<string, Verdict['wrong'][number]>()
  const addWrong = (span: 'day' | 'month', rows: { day: string; rows: number }[]) => {
    for (const { day, rows: count } of rows) {
      const previous = wrong.get(`${span} ${day}`)
      wrong.set(`${span} ${day}`, { span, day, rows: count + (previous?.rows ?? 0) })
    }
  }
  const chunks = first ? chunksOf(ranges, await eventsByDay(stores.clickhouse, siteId, ranges)) : []
  const total = chunks.reduce((sum, { events }) => sum + events, 0)
  let done = 0
  for (const { days, events } of chunks) {
    onProgress(done, total)
    done += events
    for (const statement of comparisons(siteId, days, rolledUpDays(days, versions))) {
      addWrong('day', await stores.clickhouse.rowsPatiently(statement, settings))
    }
    const visits = rolledUpDays(days, withSessions(versions))
    if (visits.length > 0)
      addWrong('day', await stores.clickhouse.rowsPatiently(compareSessions(siteId, visits), settings))
  }
  for (const { version, months } of versions) {
    for (const month of months) {
      for (const statement of compareMonths(siteId, version, month, rolledUpDays([month], versions))) {
        addWrong('month', await stores.clickhouse.rowsPatiently(statement, settings))
      }
    }
  }
  onProgress(total, total)
  return {
    days: countDays(ranges),
    notRetained: countDays(all) - countDays(ranges),
    missingDays: first && last ? await daysToRollUp(stores.postgres, siteId, [first, last]) : [],
    wrong: [...wrong.values()].sort((one, other) => (one.day < other.day ? -1 : 1)),
  }
}

const columns = [
  ['hostname', sql`hostname`],
  ['utmSource', sql`utm_source`],
  ['country', sql`country`],
  ['device', sql`device`],
] as const
/** The columns that identify a rollup row, besides its value. */
const identity = sql`dimension, grouping_set, hostname, utm_source, country, device, day`

/** For every dimension and grouping set, a statement that finds the days on which events and rollups differ. */
function comparisons(siteId: string, days: readonly DayRange[], stored: readonly Segment[]): Sql[] {
  return dimensions.total.groupingSets.flatMap((set) => {
    const used = columns.flatMap(([filter, column]) => (has(set, filter) ? [column] : []))
    const list = (...some: Sql[]) => join([sql`day`, ...some, ...used], sql`, `)
    // Columns outside the set are empty, so that a rollup row with a value there is wrong.
    const expected = (name: string) =>
      sql`${text(name)} AS dimension, toUInt8(${uint(set)}) AS grouping_set, ${join(
        columns.map(([filter, column]) => (has(set, filter) ? column : sql`'' AS ${column}`)),
        sql`, `,
      )}, day`
    const named = has(set, 'utmSource') ? sql`events.utm_source != ''` : sql`true`
    const events = sql`FROM events WHERE site_id = ${text(siteId)} AND ${onDays(days)} AND ${named}`
    const rollups = (dimension: Dimension) =>
      sql`FROM ${tableOf(dimension)} WHERE site_id = ${text(siteId)} AND ${inDays(stored, `${dimension.name} ${set} `)}`

    const hits = (dimension: Dimension) => sql`
      SELECT day, count() AS rows FROM (
        SELECT day FROM (
          SELECT ${expected(dimension.name)}, item, views, visitors FROM (
            SELECT
              ${list(sql`${dimension.value} AS item`)}, toInt64(${dimension.counted}) AS views,
              toInt64(uniqExact(visitor_id)) AS visitors
            ${events} AND ${dimension.hits} GROUP BY ${list(sql`item`)}
          )
          UNION ALL
          SELECT ${identity}, value, -views, -visitors ${rollups(dimension)}
        )
        GROUP BY ${identity}, item HAVING sum(views) != 0 OR sum(visitors) != 0
      )
      GROUP BY day`
    const hosts = has(set, 'hostname') ? sql`groupUniqArray(events.hostname)` : sql`['']`
    const sessions = sql`
      SELECT day, count() AS rows FROM (
        SELECT day FROM (
          SELECT ${expected('total')}, toInt64(1) AS sessions, toInt64(bounced) AS bounces, toInt64(milliseconds) AS duration
          FROM (
            SELECT
              day, any(events.country) AS country, any(events.device) AS device, any(events.utm_source) AS utm_source,
              arrayJoin(${hosts}) AS hostname, count() = 1 AND countIf(name = 'pageview') = 1 AS bounced,
              date_diff('millisecond', min(time), max(time)) AS milliseconds
            ${events} GROUP BY day, session_id
          )
          UNION ALL
          SELECT ${identity}, -sessions, -bounces, -duration ${rollups(dimensions.total)}
        )
        GROUP BY ${identity} HAVING sum(sessions) != 0 OR sum(bounces) != 0 OR sum(duration) != 0
      )
      GROUP BY day`
    const counted = Object.values<Dimension>(dimensions).filter(({ groupingSets }) => groupingSets.includes(set))
    return [...counted.map(hits), sessions]
  })
}

function compareMonths(siteId: string, version: number, months: DayRange, stored: readonly Segment[]): Sql[] {
  const compare = (table: Sql, counts: readonly Sql[]) => {
    const all = join(counts, sql`, `)
    const differs = join(
      counts.map((count) => sql`sum(sign * ${count}) != 0`),
      sql` OR `,
    )
    const group = sql`dimension, grouping_set, hostname, utm_source, country, device, month, value`
    return sql`
  SELECT month AS day, count() AS rows FROM (
    SELECT month FROM (
      SELECT dimension, grouping_set, hostname, utm_source, country, device, toStartOfMonth(day) AS month, value, ${all}, 1 AS sign
      FROM ${table} WHERE site_id = ${text(siteId)} AND ${inDays(stored, '')}
      UNION ALL
      SELECT dimension, grouping_set, hostname, utm_source, country, device, day AS month, value, ${all}, -1 AS sign
      FROM ${table} WHERE site_id = ${text(siteId)} AND startsWith(rollup_key, ${text(`month ${version} `)}) AND ${onDays([months])}
    )
    GROUP BY ${group}
    HAVING ${differs}
  )
  GROUP BY month`
  }
  const [views, visitors] = [sql`views`, sql`visitors`]
  return [
    compare(sql`short_rollups`, [views, visitors, sql`sessions`, sql`bounces`, sql`duration`]),
    compare(sql`long_rollups`, [views, visitors]),
  ]
}

/** Rollup rows of these days, with this text in their key after span and version. */
const inDays = (stored: readonly Segment[], begin: string): Sql => {
  const segments = stored.map(
    ({ version, days }) => sql`(startsWith(rollup_key, ${text(`day ${version} ${begin}`)}) AND ${onDays(days)})`,
  )
  return sql`(${join(segments, sql` OR `)})`
}
