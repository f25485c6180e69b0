// Rolls up a site's closed days in chunks that fit into memory. Each chunk is readable as soon as it is written. Whole months follow.
import { countDays, type DayRange, dayAfter, firstOfMonth } from '../calendar/days.ts'
import type { Stores } from '../cluster/stores.ts'
import { dayMs } from '../durations.ts'
import { eraseAgain } from '../erasure/deleted-sites.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { isOutOfMemory } from '../stores/clickhouse-errors.ts'
import { date, type Sql, sql, text } from '../stores/clickhouse-sql.ts'
import { onDays } from '../traffic/conditions.ts'
import { readCoverage, retainedFrom, rolledUpDays } from './coverage.ts'
import { noteInClickHouse } from './ledger.ts'
import { areAlive, beginRun, daysToRollUp, monthsToRollUp, publishRun, type RunSpan, releaseRun } from './runs.ts'
import { monthStatements, rollupStatements } from './statements.ts'

/**
 * Events per chunk. The processor's cache can hold their unique visitors: in chunks of 250,000 events an event took 11.4 us, in chunks
 * of 1.5 million 15.7 to 19.3 us. A day is never divided.
 */
export const maxEvents = 250_000
/** Below this number of events or rows, one statement per table rolls them up: two parts to merge instead of nine. */
export const fewEvents = 500_000
/** Rows of days that are summed up to months at once: five million take about 500 MB. */
const maxRows = 5_000_000

// A statement that outlives its process must end before its run is given up and its rows are deleted (runs.ts).
export const settings = {
  max_execution_time: 600,
  wait_end_of_query: 1,
  max_threads: 2,
  // Above this, groupings spill to disk, which is slow and bounds little: with 100 MB, events of a large site took 32 us each instead of
  // 25, and 160,000 events with unique values 681 MB instead of 699 (decision D-159).
  max_bytes_before_external_group_by: '500000000',
  max_memory_usage: '2000000000',
  // One part per statement instead of one per million rows: every row is merged one time less.
  min_insert_block_size_rows: '5000000',
  min_insert_block_size_bytes: '500000000',
  // Twenty years of a small site fit into one chunk, and `sessions` has a partition per month.
  max_partitions_per_insert_block: '0',
} as const

export type Progress = (events: number, total: number) => void

/** Rolls up every closed day that is missing, then every month that is complete. Returns the number of days. */
export async function rollUpSite(stores: Stores, siteId: string, last: string, onProgress?: Progress): Promise<number> {
  const all = await daysThrough(stores, siteId, last)
  return all ? rollUpDays(stores, siteId, await daysToRollUp(stores.postgres, siteId, all), last, onProgress) : 0
}

/** Rolls up the missing days in this range, whose events retention is about to drop. */
export const rollUpForGood = async (stores: Stores, siteId: string, days: DayRange): Promise<number> =>
  rollUpDays(stores, siteId, await daysToRollUp(stores.postgres, siteId, days), '')

/** Rolls up every day again. Readers use the old version of a day until its new rows are complete. */
export async function rebuildSite(
  stores: Stores,
  siteId: string,
  last: string,
  onProgress?: Progress,
): Promise<number> {
  const all = await daysThrough(stores, siteId, last)
  return all ? rollUpDays(stores, siteId, [all], last, onProgress) : 0
}

/** Rolls up one day again, and its month. */
export const rebuildDay = (stores: Stores, siteId: string, day: string): Promise<number> =>
  rollUpDays(stores, siteId, [[day, day]], '')

/** The days to roll up. They begin with the first day of the first month with events, so that this month can be complete, too. */
async function daysThrough(
  { postgres, clickhouse }: Stores,
  siteId: string,
  last: string,
): Promise<DayRange | undefined> {
  const eventsFrom = await retainedFrom(postgres)
  const [row] = await clickhouse.rowsPatiently<{ day: string }>(
    sql`SELECT day FROM events WHERE site_id = ${text(siteId)} AND day >= ${date(eventsFrom)} ORDER BY day LIMIT 1`,
  )
  return row && row.day <= last ? [firstOfMonth(row.day), last] : undefined
}

async function rollUpDays(
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
  let tooLarge: Error | undefined
  for (const chunk of chunks) {
    await rollUpChunk(stores, siteId, chunk).catch((error: Error) => {
      if (!isOutOfMemory(error)) throw error
      tooLarge = error // must not keep later days from being rolled up
    })
    done += chunk.events
    onProgress(done, total)
  }
  if (ranges.at(-1)?.[1] === last) {
    await postgres`UPDATE rollup_state SET last_day_events = ${counts.get(last) ?? 0} WHERE site_id = ${siteId}`
  }
  await rollUpMonths(stores, siteId)
  if (tooLarge) throw tooLarge
  return countDays(ranges)
}

export async function rollUpChunk(stores: Stores, siteId: string, { days, events }: Chunk): Promise<void> {
  const rollUp = (atOnce: boolean) =>
    write(stores, siteId, 'day', days, async (version) =>
      rollupStatements({ siteIds: [siteId], version, days }, { atOnce }),
    )
  const atOnce = events < fewEvents
  await rollUp(atOnce).catch((error) => {
    // One statement per dimension takes half the memory. The rows written so far have their own version, and are swept.
    if (atOnce && isOutOfMemory(error)) return rollUp(false)
    throw error
  })
}

/** Rolls up every month whose days are all rolled up. */
export async function rollUpMonths(stores: Stores, siteId: string): Promise<void> {
  const { postgres } = stores
  for (const { months, rows } of await monthsTogether(stores, siteId)) {
    await write(stores, siteId, 'month', months, async (version) => {
      // Read after the run has begun: from then on, invalidating a day also invalidates its month.
      const readable = rolledUpDays(months, (await readCoverage(postgres, siteId))?.versions ?? [])
      if (countDays(readable.flatMap(({ days }) => days)) < countDays(months)) return undefined
      return monthStatements({ siteId, version }, readable, { atOnce: rows < fewEvents })
    })
  }
}

async function write(
  { postgres, clickhouse }: Stores,
  siteId: string,
  span: RunSpan,
  days: readonly DayRange[],
  statements: (version: number) => Promise<Sql[] | undefined>,
): Promise<void> {
  const run = await beginRun(postgres, siteId, clickhouse.shard, span, days)
  if (!run) {
    if (await readCoverage(postgres, siteId))
      throw new Error(`Site ${siteId} moves to another shard. The next round tries again.`)
    return // the site was deleted
  }
  await noteInClickHouse({ postgres, clickhouse })
  const writing = await statements(run.version)
  // A day was invalidated just before. The next round tries again.
  if (!writing) return releaseRun(postgres, run)
  for (const statement of writing) {
    if (!(await areAlive(postgres, [run]))) break
    await clickhouse.run(statement, settings)
  }
  if (await publishRun(postgres, run)) return
  if ((await eraseAgain(postgres, [siteId])).length > 0) return // the site was deleted in the meantime
  throw new Error(`Rolling up site ${siteId} took too long, so the run was given up. The next round tries again.`)
}

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

/** Groups the months to roll up, so that each group fits into memory. */
async function monthsTogether(
  { postgres, clickhouse }: Stores,
  siteId: string,
): Promise<{ months: DayRange[]; rows: number }[]> {
  const months = await monthsToRollUp(postgres, siteId)
  if (months.length === 0) return []
  const counts = await clickhouse.rowsPatiently<{ month: string; rows: number }>(sql`
    SELECT toStartOfMonth(day) AS month, count() AS rows FROM long_rollups
    WHERE site_id = ${text(siteId)} AND startsWith(rollup_key, 'day ') AND ${onDays(months)} GROUP BY month`)
  const rowsOf = new Map(counts.map(({ month, rows }) => [month, rows]))
  const together: { months: DayRange[]; rows: number }[] = []
  for (const month of months) {
    const rows = rowsOf.get(month[0]) ?? 0
    let last = together.at(-1)
    if (!last || last.rows + rows > maxRows) {
      last = { months: [], rows: 0 }
      together.push(last)
    }
    append(last.months, month)
    last.rows += rows
  }
  return together
}

/** Adjoining days are one range: a statement that names each of 150 months is too long for ClickHouse. */
function append(ranges: DayRange[], [first, last]: DayRange): void {
  const before = ranges.at(-1)
  if (before && dayAfter(before[1]) === first) ranges[ranges.length - 1] = [before[0], last]
  else ranges.push([first, last])
}

export interface Chunk {
  days: DayRange[]
  events: number
}

/** Groups the days in order into chunks, including days without events. */
export function chunksOf(ranges: readonly DayRange[], events: ReadonlyMap<string, number>): Chunk[] {
  const chunks: Chunk[] = []
  for (const [first, last] of ranges) {
    for (let time = Date.parse(first); time <= Date.parse(last); time += dayMs) {
      const day = new Date(time).toISOString().slice(0, 10)
      const count = events.get(day) ?? 0
      let chunk = chunks.at(-1)
      if (!chunk || chunk.events + count > maxEvents) {
        chunk = { days: [], events: 0 }
        chunks.push(chunk)
      }
      append(chunk.days, [day, day])
      chunk.events += count
    }
  }
  return chunks
}
