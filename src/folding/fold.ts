// Folding a site's closed days: chunks that fit into memory, each readable as soon as it is written; then whole months.
import { eraseAgain } from '../accounts/deleted-sites.ts'
import { selectSite, siteOf } from '../accounts/sites.ts'
import { foldedDays } from '../stats/plan.ts'
import { onDays } from '../stats/query.ts'
import { type ClickHouse, isOutOfMemory } from '../stores/clickhouse.ts'
import { date, join, type Sql, sql, text } from '../stores/clickhouse-sql.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { DayRange } from '../traffic/folds.ts'
import { eventsKeptFrom } from '../traffic/kept.ts'
import {
  beginFold,
  claimLeftovers,
  commitFold,
  givenUp,
  isAlive,
  type Leftover,
  noteSwept,
  releaseRun,
  type Span,
  unfoldedDays,
  unfoldedMonths,
} from './ledger.ts'
import { foldMonths, foldStatements } from './statements.ts'

export interface Stores {
  postgres: Postgres
  clickhouse: ClickHouse
}

const dayMs = 86_400_000

/**
 * Folded together. What is unique of so many is still found in the processor's cache: 250,000 events of a day took 11.4 us each, the
 * same days by 1.5 million 15.7 to 19.3. A day is never divided.
 */
const mostEvents = 250_000
/** So few, or so few rows, are folded by one statement a table: two parts to merge instead of nine. */
export const fewEvents = 500_000
/** Of days that are summed up to months: five million take some 500 MB. */
const mostRows = 5_000_000
/** Of leftovers that one statement deletes. */
const mostSwept = 50

// A statement that outlives its process ends before its run is given up and its rows are deleted (ledger.ts).
export const settings = {
  max_execution_time: 600,
  wait_end_of_query: 1,
  max_threads: 2,
  // Each of up to nine groupings of a statement spills by itself. 160,000 events with values of their own: 590 MB a statement.
  max_bytes_before_external_group_by: '100000000',
  max_memory_usage: '2000000000',
  // One part a statement instead of one a million rows: every row is merged once less.
  min_insert_block_size_rows: '5000000',
  min_insert_block_size_bytes: '500000000',
} as const

export type Progress = (events: number, total: number) => void

/** Folds every day up to the last that is not folded yet, and the months that are then complete. Returns how many days. */
export async function foldSite(stores: Stores, siteId: string, last: string, onProgress?: Progress): Promise<number> {
  const all = await daysThrough(stores, siteId, last)
  return all ? foldDays(stores, siteId, await unfoldedDays(stores.postgres, siteId, all), last, onProgress) : 0
}

/** The same for days whose events are about to be dropped. */
export const foldForGood = async (stores: Stores, siteId: string, days: DayRange): Promise<number> =>
  foldDays(stores, siteId, await unfoldedDays(stores.postgres, siteId, days), '')

/** Folds every day again; each is read as it was folded before until its new rows are complete. */
export async function refoldSite(stores: Stores, siteId: string, last: string, onProgress?: Progress): Promise<number> {
  const all = await daysThrough(stores, siteId, last)
  return all ? foldDays(stores, siteId, [all], last, onProgress) : 0
}

/** From the start of the first month that events are kept of, so that this month can be complete too. */
async function daysThrough(
  { postgres, clickhouse }: Stores,
  siteId: string,
  last: string,
): Promise<DayRange | undefined> {
  const keptFrom = await eventsKeptFrom(postgres)
  const [row] = await clickhouse.rowsPatiently<{ day: string }>(
    sql`SELECT day FROM events WHERE site_id = ${text(siteId)} AND day >= ${date(keptFrom)} ORDER BY day LIMIT 1`,
  )
  return row && row.day <= last ? [`${row.day.slice(0, 8)}01`, last] : undefined
}

async function foldDays(
  stores: Stores,
  siteId: string,
  ranges: readonly DayRange[],
  last: string,
  onProgress: Progress = () => {},
): Promise<number> {
  const { postgres, clickhouse } = stores
  const counts = ranges.length === 0 ? new Map<string, number>() : await eventsByDay(clickhouse, siteId, ranges)
  const chunks = chunksOf(ranges, counts)
  const total = chunks.reduce((sum, { events }) => sum + events, 0)
  let done = 0
  for (const { days, events } of chunks) {
    const fold = (atOnce: boolean) =>
      write(stores, siteId, 'day', days, async (version) => foldStatements({ siteId, version, days }, { atOnce }))
    const atOnce = events < fewEvents
    await fold(atOnce).catch((error) => {
      // One statement a dimension takes half of it. What was written so far has a version of its own, and is swept.
      if (atOnce && isOutOfMemory(error)) return fold(false)
      throw error
    })
    done += events
    onProgress(done, total)
  }
  if (ranges.at(-1)?.[1] === last) {
    await postgres`UPDATE site_folding SET last_day_events = ${counts.get(last) ?? 0} WHERE site_id = ${siteId}`
  }
  for (const { months, rows } of await monthsTogether(stores, siteId)) {
    await write(stores, siteId, 'month', months, async (version) => {
      // Read after the fold has begun: a day that is taken out from now on takes its month with it.
      const [row] = await selectSite(postgres, siteId)
      const readable = foldedDays(months, row ? siteOf(row).folds : [])
      if (lengthOf(readable.flatMap(({ days }) => days)) < lengthOf(months)) return undefined
      return foldMonths({ siteId, version }, readable, { atOnce: rows < fewEvents })
    })
  }
  return lengthOf(ranges)
}

export const lengthOf = (ranges: readonly DayRange[]): number =>
  ranges.reduce((sum, [first, last]) => sum + (Date.parse(last) - Date.parse(first)) / dayMs + 1, 0)

async function write(
  { postgres, clickhouse }: Stores,
  siteId: string,
  span: Span,
  days: readonly DayRange[],
  statements: (version: number) => Promise<Sql[] | undefined>,
): Promise<void> {
  const run = await beginFold(postgres, siteId, span, days)
  if (!run) return // the site was deleted
  const writing = await statements(run.version)
  // A day was taken out just before: the next round begins again.
  if (!writing) return releaseRun(postgres, run)
  for (const statement of writing) {
    if (!(await isAlive(postgres, run))) break
    await clickhouse.run(statement, settings)
  }
  if (await commitFold(postgres, run)) return
  const [row] = await selectSite(postgres, siteId)
  if (row) throw new Error(`Folding ${row.domain} took so long that it was given up; it is folded again later.`)
  await eraseAgain(postgres, [siteId]) // it was deleted meanwhile
}

/** Deletes rows that nobody can be reading any more, of many sites at once: a deletion goes through every part of its table. */
export async function sweep(stores: Stores, patience?: string): Promise<number> {
  const { postgres } = stores
  let swept = 0
  const sweepAll = async (find: () => Promise<Leftover[]>, end: (one: Leftover) => Promise<void>) => {
    for (let found = await find(); found.length > 0; found = await find()) {
      await deleteRows(stores, found)
      for (const one of found) await end(one)
      swept += found.length
    }
  }
  await sweepAll(
    () => givenUp(postgres, mostSwept),
    (one) => noteSwept(postgres, one),
  )
  await sweepAll(
    () => claimLeftovers(postgres, mostSwept, patience),
    (one) => releaseRun(postgres, one),
  )
  return swept
}

async function deleteRows({ clickhouse }: Stores, some: readonly Leftover[]): Promise<void> {
  const days = some.filter(({ span }) => span === 'day') // months are of long lists alone
  if (days.length > 0) await clickhouse.run(sql`DELETE FROM short_tallies WHERE ${rowsOf(days)}`)
  await clickhouse.run(sql`DELETE FROM long_tallies WHERE ${rowsOf(some)}`)
}

const rowsOf = (some: readonly Leftover[]): Sql =>
  join(
    some.map(
      ({ siteId, span, version, ranges }) =>
        sql`(site_id = ${text(siteId)} AND startsWith(place, ${text(`${span} ${version} `)}) AND ${onDays(ranges)})`,
    ),
    sql` OR `,
  )

export async function eventsByDay(
  clickhouse: ClickHouse,
  siteId: string,
  days: readonly DayRange[],
): Promise<Map<string, number>> {
  const rows = await clickhouse.rowsPatiently<{ day: string; events: number }>(
    sql`SELECT day, count() AS events FROM events WHERE site_id = ${text(siteId)} AND ${onDays(days)} GROUP BY day`,
  )
  return new Map(rows.map(({ day, events }) => [day, events]))
}

/** The months to fold, as many at a time as fit into memory. */
async function monthsTogether(
  { postgres, clickhouse }: Stores,
  siteId: string,
): Promise<{ months: DayRange[]; rows: number }[]> {
  const months = await unfoldedMonths(postgres, siteId)
  if (months.length === 0) return []
  const counts = await clickhouse.rowsPatiently<{ month: string; rows: number }>(sql`
    SELECT toStartOfMonth(day) AS month, count() AS rows FROM long_tallies
    WHERE site_id = ${text(siteId)} AND startsWith(place, 'day ') AND ${onDays(months)} GROUP BY month`)
  const rowsOf = new Map(counts.map(({ month, rows }) => [month, rows]))
  const together: { months: DayRange[]; rows: number }[] = []
  for (const month of months) {
    const rows = rowsOf.get(month[0]) ?? 0
    let last = together.at(-1)
    if (!last || last.rows + rows > mostRows) {
      last = { months: [], rows: 0 }
      together.push(last)
    }
    last.months.push(month)
    last.rows += rows
  }
  return together
}

interface Chunk {
  days: DayRange[]
  events: number
}

/** Days in order, as many as may be folded at once; days without events belong to a chunk too. */
export function chunksOf(ranges: readonly DayRange[], events: ReadonlyMap<string, number>): Chunk[] {
  const chunks: Chunk[] = []
  for (const [first, last] of ranges) {
    for (let time = Date.parse(first); time <= Date.parse(last); time += dayMs) {
      const day = new Date(time).toISOString().slice(0, 10)
      const count = events.get(day) ?? 0
      let chunk = chunks.at(-1)
      if (!chunk || chunk.events + count > mostEvents) {
        chunk = { days: [], events: 0 }
        chunks.push(chunk)
      }
      const range = chunk.days.at(-1)
      if (range && Date.parse(range[1]) === time - dayMs) chunk.days[chunk.days.length - 1] = [range[0], day]
      else chunk.days.push([day, day])
      chunk.events += count
    }
  }
  return chunks
}
