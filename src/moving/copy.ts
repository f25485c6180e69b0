// Copies the rows of a site from one shard to another, through this process. Each table is divided into slices; a slice that differs on
// the other shard is deleted there and copied again. So a copy may be interrupted and repeated at any time, and a comparison without
// differences is the proof that it is complete.
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { lastingTables } from '../cluster/tables.ts'
import { type ClickHouse, serversOf } from '../stores/clickhouse.ts'
import { date, type Sql, sql, text, uints } from '../stores/clickhouse-sql.ts'

interface Slicing {
  /** By default, all rows of the table. */
  rows?: Sql
  /** A number for each row; rows with the same number are copied together. */
  slice: Sql
  /** The days of the rows in a slice, for tables that have days. */
  day?: Sql
  /** A number that identifies the content of a row. */
  content: Sql
}

const hour = sql`toUnixTimestamp(toStartOfHour(time))`

const byDay: Slicing = { slice: sql`toUInt32(day)`, day: sql`day`, content: sql`cityHash64(*)` }

const slicings: Record<keyof typeof lastingTables, Slicing> = {
  // By hour, because the events of the last hour are copied while new ones are held back.
  events: { slice: hour, day: sql`day`, content: sql`event_id` },
  // FINAL: ClickHouse merges titles of the same page at any time.
  titles: { rows: sql`titles FINAL`, slice: sql`cityHash64(pathname) % 256`, content: sql`cityHash64(*)` },
  short_rollups: byDay,
  long_rollups: byDay,
  sessions: byDay,
  imported_sums: byDay,
}

const tables = Object.entries(lastingTables).map(([name, table]) => ({
  name,
  table,
  rows: table,
  ...slicings[name as keyof typeof slicings],
}))
type Table = (typeof tables)[number]

interface Slice {
  slice: number
  first: string
  last: string
  rows: number
  /** The sum of `Slicing.content` over its rows, modulo 2^64. */
  content: string
}

export interface CopyOptions {
  siteId: string
  source: ClickHouse
  target: ClickHouse
  /** UTC milliseconds. Later events are left out: a slice that still grows would be copied again and again. */
  before?: number
  onProgress?: (rows: number, total: number) => void
  /** Throws when the copy must stop. */
  mayGoOn?: () => Promise<void>
}

/** Rows in one INSERT. Ten million events of 60 bytes each: a copy that is interrupted repeats a minute of work. */
const maxRows = 10_000_000
/** ClickHouse accepts 128 kB per parameter. */
const maxSlices = 5_000

/** Copies the slices that differ. Returns the number of rows, or undefined if nothing differs. */
export async function copyDifferences(options: CopyOptions): Promise<number | undefined> {
  const work: { table: Table; slices: Difference[] }[] = []
  for (const table of tables) work.push({ table, slices: await differencesOf(table, options) })
  const total = work.flatMap(({ slices }) => slices).reduce((sum, { rows }) => sum + rows, 0)
  let done = 0
  for (const { table, slices } of work) {
    for (const chunk of chunksOf(slices)) {
      await options.mayGoOn?.()
      await copyChunk(table, chunk, options)
      done += chunk.reduce((sum, { rows }) => sum + rows, 0)
      options.onProgress?.(done, total)
    }
  }
  return work.every(({ slices }) => slices.length === 0) ? undefined : total
}

/** Throws if an earlier process still uploads to a server of the target: its rows could arrive after the last comparison. */
export async function refuseRunningUploads(target: ClickHouse, siteId: string): Promise<void> {
  for (const server of serversOf(target)) await server.upload('titles', Readable.from([]), uploadOf(siteId))
}

const uploadOf = (siteId: string): string => `move ${siteId}`

interface Difference extends Omit<Slice, 'content'> {
  /** Whether the target has rows of this slice. */
  isOnTarget: boolean
}

async function differencesOf(table: Table, { siteId, source, target, before }: CopyOptions): Promise<Difference[]> {
  const [onSource, onTarget] = await Promise.all([slicesOf(table, source, siteId), slicesOf(table, target, siteId)])
  const differences: Difference[] = []
  for (const { content, ...slice } of onSource.values()) {
    const copy = onTarget.get(slice.slice)
    onTarget.delete(slice.slice)
    if (copy?.content === content && copy.rows === slice.rows) continue
    if (table.slice === hour && before !== undefined && slice.slice * 1_000 >= before) continue
    const first = copy && copy.first < slice.first ? copy.first : slice.first
    const last = copy && copy.last > slice.last ? copy.last : slice.last
    differences.push({ ...slice, first, last, isOnTarget: copy !== undefined })
  }
  for (const { content: _, ...slice } of onTarget.values()) differences.push({ ...slice, rows: 0, isOnTarget: true })
  return differences.sort((one, other) => one.slice - other.slice)
}

async function slicesOf(table: Table, clickhouse: ClickHouse, siteId: string): Promise<Map<number, Slice>> {
  const day = table.day ?? sql`toDate(0)`
  const rows = await clickhouse.rowsPatiently<Slice>(sql`
    SELECT ${table.slice} AS slice, min(${day}) AS first, max(${day}) AS last, count() AS rows, toString(sum(${table.content})) AS content
    FROM ${table.rows} WHERE site_id = ${text(siteId)} GROUP BY slice`)
  return new Map(rows.map((row) => [row.slice, row]))
}

/** Groups slices by month, so that ClickHouse writes few parts. */
function chunksOf(slices: readonly Difference[]): Difference[][] {
  const chunks: Difference[][] = []
  let rows = 0
  for (const slice of slices) {
    const chunk = chunks.at(-1)
    const isSame = chunk?.[0]?.first.slice(0, 7) === slice.first.slice(0, 7)
    if (chunk && isSame && chunk.length < maxSlices && rows + slice.rows <= maxRows) chunk.push(slice)
    else {
      chunks.push([slice])
      rows = 0
    }
    rows += slice.rows
  }
  return chunks
}

async function copyChunk(
  { name, table, rows, slice, day }: Table,
  chunk: readonly Difference[],
  { siteId, source, target }: CopyOptions,
): Promise<void> {
  const numbers = chunk.map((one) => one.slice)
  const [first, last] = [
    chunk.map((one) => one.first).sort()[0] ?? '',
    chunk
      .map((one) => one.last)
      .sort()
      .at(-1) ?? '',
  ]
  const days = day ? sql`AND ${day} BETWEEN ${date(first)} AND ${date(last)}` : sql``
  const condition = sql`site_id = ${text(siteId)} ${days} AND has(${uints(numbers)}, ${slice})`
  if (chunk.some(({ isOnTarget }) => isOnTarget)) {
    // On every replica, because `catchUp` does not wait for deletions.
    await target.run(sql`DELETE FROM ${table} WHERE ${condition}`, { lightweight_deletes_sync: '2' })
  }
  if (chunk.every((one) => one.rows === 0)) return
  const content = await source.download(sql`SELECT * FROM ${rows} WHERE ${condition}`)
  const broken = once(content, 'error').then(([error]) => Promise.reject(error))
  await Promise.race([target.upload(name, content, uploadOf(siteId)), broken])
}
