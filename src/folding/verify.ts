// Whether what is folded is what the events say: every cell of every day counted again from the events, one by one and without
// the fold's statements; and months against their days.
import { findSite } from '../accounts/sites.ts'
import { type Dimension, dimensions, narrowedBy, tableOf } from '../stats/dimensions.ts'
import { columnsOf, subject } from '../stats/places.ts'
import { foldedDays, type Segment } from '../stats/plan.ts'
import { onDays } from '../stats/query.ts'
import { join, type Sql, sql, text } from '../stores/clickhouse-sql.ts'
import type { DayRange } from '../traffic/folds.ts'
import { chunksOf, eventsByDay, lengthOf, type Stores, settings } from './fold.ts'
import { unfoldedDays } from './ledger.ts'

export interface Verdict {
  days: number
  /** Folded days that cannot be counted again, because their events are no longer kept (decision D-79). */
  notKept: number
  /** Closed days of a folded site that are read from the events. Right, but slow; `fold run` folds them. */
  unfolded: DayRange[]
  /** Days, or first days of months, that hold rows which differ from the events. */
  wrong: { span: 'day' | 'month'; day: string; rows: number }[]
}

export async function verifySite(
  stores: Stores,
  siteId: string,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Verdict> {
  const site = await findSite(stores.postgres, siteId)
  const folds = site?.folds ?? []
  const all = folds.flatMap(({ days }) => days)
  const ranges = since(all, site?.eventsFrom ?? '').sort()
  const notKept = lengthOf(all) - lengthOf(ranges)
  const first = ranges[0]?.[0]
  const last = ranges
    .map(([, end]) => end)
    .sort()
    .at(-1)

  const wrong = new Map<string, Verdict['wrong'][number]>()
  const note = (span: 'day' | 'month', rows: { day: string; rows: number }[]) => {
    for (const { day, rows: count } of rows) {
      const known = wrong.get(`${span} ${day}`)
      wrong.set(`${span} ${day}`, { span, day, rows: count + (known?.rows ?? 0) })
    }
  }
  const chunks = first ? chunksOf(ranges, await eventsByDay(stores.clickhouse, siteId, ranges)) : []
  for (const [index, { days }] of chunks.entries()) {
    onProgress(index, chunks.length)
    for (const statement of comparisons(siteId, days, foldedDays(days, folds))) {
      note('day', await stores.clickhouse.rowsPatiently(statement, settings))
    }
  }
  for (const { version, months } of folds) {
    for (const month of months) {
      const statement = compareMonths(siteId, version, month, foldedDays([month], folds))
      note('month', await stores.clickhouse.rowsPatiently(statement, settings))
    }
  }
  onProgress(chunks.length, chunks.length)
  return {
    days: lengthOf(ranges),
    notKept,
    unfolded: first && last ? await unfoldedDays(stores.postgres, siteId, [first, last]) : [],
    wrong: [...wrong.values()].sort((one, other) => (one.day < other.day ? -1 : 1)),
  }
}

const since = (ranges: readonly DayRange[], from: string): DayRange[] =>
  ranges.filter(([, last]) => last >= from).map(([first, last]) => [first < from ? from : first, last])

const columns = { hostname: sql`hostname`, utmSource: sql`utm_source`, country: sql`country`, device: sql`device` }

/** For every dimension and cell: the days on which what the events say and the tallies do not cancel each other out. */
function comparisons(siteId: string, days: readonly DayRange[], stored: readonly Segment[]): Sql[] {
  return dimensions.total.cells.flatMap((cell) => {
    const keys = columnsOf(cell).map((column) => columns[column])
    const key = (...more: Sql[]) => join([sql`day`, ...more, ...keys], sql`, `)
    const named = cell & narrowedBy.utmSource ? sql`events.utm_source != ''` : sql`true`
    const events = sql`FROM events WHERE site_id = ${text(siteId)} AND ${onDays(days)} AND ${named}`
    const counts = (name: string) => {
      const texts = columnsOf(cell).map((column) =>
        column === 'hostname' || column === 'utmSource'
          ? sql`' ', toString(length(${columns[column]})), ':', ${columns[column]}`
          : sql`' ', ${columns[column]}`,
      )
      return sql`concat(${join([sql`${text(`${name} ${cell}`)}`, sql`''`, ...texts], sql`, `)})`
    }
    const tallies = (dimension: Dimension) =>
      sql`FROM ${tableOf(dimension)} WHERE site_id = ${text(siteId)} AND ${inDays(stored, `${dimension.name} ${cell}`)}`

    const hits = (dimension: Dimension) => sql`
      SELECT day, count() AS rows FROM (
        SELECT day, subject, item FROM (
          SELECT day, ${counts(dimension.name)} AS subject, item, views, visitors FROM (
            SELECT ${key(sql`${dimension.value} AS item`)}, toInt64(${dimension.counted}) AS views, toInt64(uniqExact(visitor_id)) AS visitors
            ${events} AND ${dimension.hits} GROUP BY ${key(sql`item`)}
          )
          UNION ALL
          SELECT day, ${subject} AS subject, value AS item, -views, -visitors ${tallies(dimension)}
        )
        GROUP BY day, subject, item HAVING sum(views) != 0 OR sum(visitors) != 0
      )
      GROUP BY day`
    const hosts = cell & narrowedBy.hostname ? sql`groupUniqArray(events.hostname)` : sql`['']`
    const sessions = sql`
      SELECT day, count() AS rows FROM (
        SELECT day, subject FROM (
          SELECT
            day, ${counts('total')} AS subject, toInt64(1) AS sessions, toInt64(bounced) AS bounces,
            toInt64(milliseconds) AS duration
          FROM (
            SELECT
              day, any(events.country) AS country, any(events.device) AS device, any(events.utm_source) AS utm_source,
              arrayJoin(${hosts}) AS hostname, count() = 1 AND countIf(name = 'pageview') = 1 AS bounced,
              date_diff('millisecond', min(time), max(time)) AS milliseconds
            ${events} GROUP BY day, session_id
          )
          UNION ALL
          SELECT day, ${subject} AS subject, -sessions, -bounces, -duration ${tallies(dimensions.total)}
        )
        GROUP BY day, subject HAVING sum(sessions) != 0 OR sum(bounces) != 0 OR sum(duration) != 0
      )
      GROUP BY day`
    const counted = Object.values<Dimension>(dimensions).filter(({ cells }) => cells.includes(cell))
    return [...counted.map(hits), sessions]
  })
}

const compareMonths = (siteId: string, version: number, months: DayRange, stored: readonly Segment[]): Sql => sql`
  SELECT month AS day, count() AS rows FROM (
    SELECT month FROM (
      SELECT *, toStartOfMonth(day) AS month, ${subject} AS subject, 1 AS sign FROM long_tallies
      WHERE site_id = ${text(siteId)} AND (${join(
        Object.values<Dimension>(dimensions).flatMap(({ name, isLong }) => (isLong ? [inDays(stored, name)] : [])),
        sql` OR `,
      )})
      UNION ALL
      SELECT *, day AS month, ${subject} AS subject, -1 AS sign FROM long_tallies
      WHERE site_id = ${text(siteId)} AND startsWith(place, ${text(`month ${version} `)}) AND ${onDays([months])}
    )
    GROUP BY subject, month, value
    HAVING sum(sign * views) != 0 OR sum(sign * visitors) != 0
  )
  GROUP BY month`

/** Tallies whose subject is the one given, or begins with it as a word. */
const inDays = (stored: readonly Segment[], begin: string): Sql => {
  const segments = stored.map(({ version, days }) => {
    const place = `day ${version} ${begin}`
    return sql`((place = ${text(place)} OR startsWith(place, ${text(`${place} `)})) AND ${onDays(days)})`
  })
  return sql`(${join(segments, sql` OR `)})`
}
