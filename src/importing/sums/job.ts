// Imports files of daily sums exactly once (decision D-244). Rows are written under a version that nobody reads, and one transaction of PostgreSQL
// makes them readable together with the end of the import. So an import that was stopped begins again under another version.
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { DayRange } from '../../calendar/days.ts'
import { textOfDays, unionOf } from '../../rollups/imported-days.ts'
import type { ClickHouse } from '../../stores/clickhouse.ts'
import { sql, text } from '../../stores/clickhouse-sql.ts'
import { inTransaction, type Postgres } from '../../stores/postgres.ts'
import { storedId } from '../../traffic/recording.ts'
import { FileFaults } from '../checking.ts'
import { oneReplica, record } from '../job.ts'
import { LineFault } from '../lines.ts'
import { isImported, openJob } from '../open-job.ts'
import { type CheckedSums, checkSums, linesOf, type SumsFile, type SumsReading, tablesOf } from './checking.ts'
import { type DaySum, sumNames } from './format.ts'
import { daysWithEvents, importedBefore } from './own-days.ts'

export interface SumsContext extends SumsReading {
  postgres: Postgres
  clickhouse: ClickHouse
  /** Whether sums of days that have events are imported beside these. */
  besideEvents: boolean
  /** Called with bytes of the files, in each of the two passes. */
  onProgress(reading: 'checking' | 'importing', done: number, total: number): void
  /** Called in the transaction that marks the import as finished. */
  onFinish?(transaction: Postgres, imported: { id: string; days: readonly string[] }): Promise<void>
}

export interface SumsOutcome {
  id: string
  lines: number
  days: number
  lists: Readonly<Record<string, readonly DayRange[]>>
  leftOut: Readonly<Record<string, number>>
  /** The first lines that cannot be read. */
  broken: readonly string[]
  /** This run imported all of it, or nothing because it `was` there. */
  imported: 'whole' | 'was'
}

/** What an import of the files would read, with everything that would refuse it. */
export async function previewSums(files: readonly SumsFile[], context: SumsContext): Promise<CheckedSums> {
  const checked = await checkSums(files, context, progressOf(files, context, 'checking'))
  await refuseDaysOfOthers(context, checked)
  return checked
}

export async function importSums(files: readonly SumsFile[], context: SumsContext): Promise<SumsOutcome> {
  const checked = await checkSums(files, context, progressOf(files, context, 'checking'))
  if (checked.lists.length === 0) throw new FileFaults(['It contains no day.'])
  if (!(await isImported(context, checked))) await refuseDaysOfOthers(context, checked)
  const job = await openJob(context, checked)
  const outcome: Omit<SumsOutcome, 'imported'> = {
    id: job.id,
    lines: checked.lines,
    days: checked.days.length,
    lists: Object.fromEntries(checked.lists.map(({ list, days }) => [list, days])),
    leftOut: Object.fromEntries(checked.leftOut),
    broken: checked.broken,
  }
  if (job.isFinished) return { ...outcome, imported: 'was' }

  const { postgres } = context
  const lock = await postgres.reserve()
  try {
    const [{ taken }] = await lock<[{ taken: boolean }]>`SELECT pg_try_advisory_lock(hashtext(${job.id})) AS taken`
    if (!taken) throw new FileFaults(['Another command is importing it right now.'])
    const version = storedId(randomUUID())
    const written = await writeSums(checked, context, { importId: storedId(job.id), version })
    await untilOnEveryReplica(context, version, written)
    await finish(context, checked, job.id, version)
    await deleteStopped(context, storedId(job.id), version)
    return { ...outcome, imported: 'whole' }
  } finally {
    // A broken connection has already lost the lock.
    await lock`SELECT pg_advisory_unlock(hashtext(${job.id}))`.catch(() => {})
    lock.release()
  }
}

async function refuseDaysOfOthers({ postgres, clickhouse, site, besideEvents }: SumsContext, checked: CheckedSums) {
  const other = await importedBefore(postgres, site.id, checked.lists)
  if (other)
    throw new FileFaults([
      `The import ${other.id} has the list ${other.list} of ${textOfDays([other.days])} already. Undo it, or end before these days with --until.`,
    ])
  if (besideEvents) return
  const own = await daysWithEvents(
    postgres,
    clickhouse,
    site.id,
    unionOf(checked.days.map((day) => [day, day] as const)),
  )
  if (own.length > 0)
    throw new FileFaults([
      `${textOfDays(own)} have events of the site, whose visitors would count twice. End before these days with --until, or count both with --beside-events.`,
    ])
}

function progressOf(files: readonly SumsFile[], { onProgress }: SumsContext, pass: 'checking' | 'importing') {
  const size = files.reduce((total, { path }) => total + statSync(path).size, 0)
  let done = 0
  return (bytes: number) => {
    done += bytes
    onProgress(pass, Math.min(Math.round(done), size), size)
  }
}

interface Writing {
  importId: string
  version: string
}

/** Rows in memory, and in one INSERT. Files are in order of days, so most rows with the same value meet here. */
const maxRows = 20_000

type Row = Record<string, string | number>

/** Returns how many rows there are now. */
async function writeSums(checked: CheckedSums, context: SumsContext, writing: Writing): Promise<number> {
  const onBytes = progressOf(checked.files, context, 'importing')
  let rows = new Map<string, Row>()
  let [number, lines, written] = [0, 0, 0]
  async function flush(): Promise<void> {
    if (rows.size === 0) return
    written += rows.size
    const token = `${writing.version} ${number++}`
    if (await context.clickhouse.insert('imported_sums', [...rows.values()], token)) throw new Error(oneReplica)
    rows = new Map()
  }
  for (const file of checked.files)
    for await (const table of tablesOf(file, context.site, onBytes)) {
      for await (const line of linesOf(table, context)) {
        if (line instanceof LineFault || 'reason' in line) continue
        lines++
        for (const row of line.rows) add(rows, row, context.site.id, writing)
        if (rows.size >= maxRows) await flush()
      }
      await flush()
    }
  if (lines !== checked.lines) throw new FileFaults(['It changed during the import.'])
  return written
}

const replicaMs = 60_000

/** A reader of a replica that lags would answer without them, and keep the answer: these days are settled. */
async function untilOnEveryReplica({ clickhouse, site }: SumsContext, version: string, written: number): Promise<void> {
  const deadline = performance.now() + replicaMs
  for (const replica of clickhouse.replicas?.all ?? [])
    for (;;) {
      const [row] = await replica.rowsPatiently<{ rows: string }>(sql`
        SELECT toString(count()) AS rows FROM imported_sums WHERE site_id = ${text(site.id)} AND version = toUInt64(${text(version)})`)
      if (row?.rows === String(written)) break
      if (performance.now() > deadline) throw new Error(laggingReplica)
      await pause(500)
    }
}

const laggingReplica =
  'A replica of ClickHouse does not have all rows after a minute. Import the same file again when it has caught up.'

function add(rows: Map<string, Row>, { list, day, value, sums }: DaySum, siteId: string, writing: Writing): void {
  const key = `${list} ${day} ${value}`
  const known = rows.get(key)
  const row = known ?? { site_id: siteId, list, day, value, version: writing.version, import_id: writing.importId }
  for (const name of sumNames) row[name] = Number(row[name] ?? 0) + (sums[name] ?? 0)
  if (!known) rows.set(key, row)
}

async function finish(context: SumsContext, { lists, days }: CheckedSums, id: string, version: string): Promise<void> {
  const { postgres, site } = context
  await inTransaction(postgres, async (transaction) => {
    // Two imports of the same days must see each other.
    await transaction`SELECT FROM sites WHERE id = ${site.id} FOR NO KEY UPDATE`
    const other = await importedBefore(transaction, site.id, lists)
    if (other) throw new FileFaults([`The import ${other.id} has imported the same days in the meantime.`])
    const all = rangesOf(unionOf(days.map((day) => [day, day] as const)))
    await record(
      context,
      { id },
      transaction`salt = NULL, finished_at = now(), days = ${all}::text::datemultirange`,
      transaction,
    )
    for (const { list, metrics, days } of lists)
      await transaction`
        INSERT INTO imported_days (site_id, import_id, list, metrics, days, version)
        VALUES (${site.id}, ${id}, ${list}, ${metrics as string[]}, ${rangesOf(days)}::text::datemultirange, ${version})`
    await context.onFinish?.(transaction, { id, days })
  })
}

const rangesOf = (days: readonly DayRange[]): string =>
  `{${days.map(([first, last]) => `[${first},${last}]`).join(',')}}`

/** Rows of runs that were stopped. Nobody reads them, so it does no harm if this one is stopped, too. */
async function deleteStopped({ clickhouse, site }: SumsContext, importId: string, version: string): Promise<void> {
  const stopped = sql`site_id = ${text(site.id)} AND import_id = toUInt64(${text(importId)}) AND version != toUInt64(${text(version)})`
  const [row] = await clickhouse.rowsPatiently<{ rows: string }>(
    sql`SELECT toString(count()) AS rows FROM imported_sums WHERE ${stopped}`,
  )
  if (row?.rows !== '0') await clickhouse.run(sql`DELETE FROM imported_sums WHERE ${stopped}`)
}
