// Imports a file of traffic exactly once, however often the import is started (decision D-120). The file is read twice: the first pass
// checks everything, the second writes.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import type { Fragment } from 'postgres'
import type { Site } from '../accounts/sites.ts'
import { agentOf } from '../enrichment/agent.ts'
import type { Countries } from '../enrichment/country.ts'
import { deleteOldSalts } from '../enrichment/salts.ts'
import { eraseAgain } from '../erasure/deleted-sites.ts'
import { retainedFrom } from '../rollups/coverage.ts'
import { invalidateDays } from '../rollups/invalidation.ts'
import { noteInClickHouse } from '../rollups/ledger.ts'
import { type ClickHouse, isIncomplete } from '../stores/clickhouse.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import type { TrafficEvent } from '../traffic/event.ts'
import { areOnTwoReplicas, type Batch, missingEvents, recordBatch } from '../traffic/recording.ts'
import { uuidOf } from '../traffic/uuid.ts'
import { eventsOf, type ImportIdentity } from './events.ts'
import { type ImportedHit, knownFields, readHit } from './hit.ts'
import { LineFault, readLines } from './lines.ts'
import { type FileRecord, readCsv, readJsonLines } from './records.ts'

export interface ImportFile {
  path: string
  format: 'csv' | 'jsonl'
}

export interface ImportContext {
  postgres: Postgres
  clickhouse: ClickHouse
  countries: Pick<Countries, 'countryOf'>
  site: Site
  now: number
  /** Called with bytes of the file, in each of the two passes. */
  onProgress(reading: 'checking' | 'importing', done: number, total: number): void
  /** Called in the transaction that marks the import as finished. */
  onFinish?(transaction: Postgres, imported: { events: number; days: readonly string[] }): Promise<void>
}

export interface ImportOutcome {
  id: string
  events: number
  /** Bots are not counted, as in live traffic. */
  bots: number
  /** Left out because events of their days are no longer kept (decision D-80). */
  tooOld: number
  days: number
  /** This run imported the `whole` file, the `rest` after an import that stopped, or nothing because all of it `was` there. */
  imported: 'whole' | 'rest' | 'was'
}

/** The faults of a file, by line. Reading stops after the first few faults. */
export class FileFaults extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(`The file cannot be imported:\n  ${faults.join('\n  ')}`)
    this.faults = faults
  }
}

const whyNoSalt = ({ isOld }: Job): string =>
  `${
    isOld
      ? 'Its import started more than 30 days ago and never finished, so it was given up.'
      : 'Its import was not finished when the backup was made that this installation was restored from.'
  } The events imported so far stay; the rest can only be imported into another site.`

const maxFaults = 10
/** ClickHouse writes this many rows as one block. */
const batchEvents = 10_000

export async function importFile(file: ImportFile, context: ImportContext): Promise<ImportOutcome> {
  const { size } = statSync(file.path)
  const reading = (pass: 'checking' | 'importing') => {
    let done = 0
    return (bytes: number) => {
      done += bytes
      context.onProgress(pass, Math.min(done, size), size)
    }
  }
  const checked = await checkFile(file, context, reading('checking'))
  await deleteOldSalts(context.postgres, context.now) // because there may be no collector that does it
  const job = await openJob(context, checked.content)
  const outcome = { id: job.id, events: checked.events, bots: checked.bots, tooOld: 0, days: 0 }
  if (job.isFinished) return { ...outcome, imported: 'was' }
  if (job.salt === null) throw new FileFaults([whyNoSalt(job)])

  const lock = await context.postgres.reserve()
  try {
    const [{ taken }] = await lock<[{ taken: boolean }]>`SELECT pg_try_advisory_lock(hashtext(${job.id})) AS taken`
    if (!taken) throw new FileFaults(['Another command is importing it right now.'])
    const { days, tooOld } = await writeFile(file, context, { ...job, salt: job.salt }, reading('importing'))
    const events = checked.events - tooOld
    await inTransaction(context.postgres, async (transaction) => {
      // Like a deletion of the site, which takes its row before that of the import.
      await transaction`SELECT FROM sites WHERE id = ${context.site.id} FOR KEY SHARE`
      await record(context, job, transaction`salt = NULL, finished_at = now()`, transaction)
      await context.onFinish?.(transaction, { events, days })
    })
    return {
      ...outcome,
      events,
      tooOld,
      days: days.length,
      imported: job.batchesDone > 0 ? 'rest' : 'whole',
    }
  } finally {
    // A broken connection has already lost the lock.
    await lock`SELECT pg_advisory_unlock(hashtext(${job.id}))`.catch(() => {})
    lock.release()
  }
}

async function checkFile(file: ImportFile, context: ImportContext, onBytes: (bytes: number) => void) {
  const content = createHash('sha256')
  const faults: string[] = []
  let [events, bots] = [0, 0]
  let previous = { line: 0, time: 0 }
  const read = readHits(file, context, (chunk) => {
    content.update(chunk)
    onBytes(chunk.length)
  })
  for await (const hit of read) {
    if (hit instanceof LineFault) faults.push(hit.message)
    else if (hit.time < previous.time) faults.push(`Line ${hit.line}: is earlier than line ${previous.line}`)
    else previous = hit
    if (faults.length >= maxFaults) break
    if (hit instanceof LineFault) continue
    if (isProgram(hit)) bots++
    else events++
  }
  if (faults.length > 0) throw new FileFaults(faults)
  if (events === 0) throw new FileFaults(['It contains no event.'])
  return { content: content.digest(), events, bots }
}

/** A file without user agents has no bots. */
const isProgram = ({ userAgent }: ImportedHit): boolean => userAgent !== '' && agentOf(userAgent).isBot

async function* readHits(
  { path, format }: ImportFile,
  { countries, now }: ImportContext,
  onChunk: (chunk: Buffer) => void,
): AsyncGenerator<ImportedHit | LineFault> {
  const lines = readLines(path, onChunk)
  try {
    for await (const record of format === 'csv' ? readCsv(lines, knownFields) : readJsonLines(lines)) {
      yield record instanceof LineFault ? record : hitOf(record)
    }
  } catch (error) {
    if (!(error instanceof LineFault)) throw error
    yield error
  }

  function hitOf(record: FileRecord): ImportedHit | LineFault {
    try {
      return readHit(record, countries, now)
    } catch (error) {
      return new LineFault(`Line ${record.line}: ${(error as Error).message}`)
    }
  }
}

interface Job {
  id: string
  /** Null when the import is finished or was given up. */
  salt: Buffer | null
  isFinished: boolean
  /** Salts are deleted after 30 days. */
  isOld: boolean
  timeZone: string
  batchesDone: number
}

interface JobRow {
  id: string
  salt: Buffer | null
  is_finished: boolean
  is_old: boolean
  time_zone: string
  batches_done: number
}

/**
 * Finds the import of this content into this site, or creates it. Its id is derived from both: if a restored PostgreSQL does not know the
 * import, its events are still found in ClickHouse.
 */
async function openJob({ postgres, site }: ImportContext, content: Buffer): Promise<Job> {
  await postgres`
    INSERT INTO imports (id, site_id, content, time_zone, salt)
    VALUES (${uuidOf(`import of ${content.toString('hex')} into ${site.id}`)}, ${site.id}, ${content}, ${site.timeZone}, ${randomBytes(32)})
    ON CONFLICT (site_id, content) DO NOTHING`
  const [row] = await postgres<[JobRow]>`
    SELECT id, salt, finished_at IS NOT NULL AS is_finished, started_at < now() - interval '30 days' AS is_old, time_zone, batches_done
    FROM imports WHERE site_id = ${site.id} AND content = ${content}`
  const { id, salt, is_finished: isFinished, is_old: isOld, time_zone: timeZone, batches_done: batchesDone } = row
  return { id, salt, isFinished, isOld, timeZone, batchesDone }
}

/** Returns the days that have events, in their order, and how many events were left out. */
async function writeFile(
  file: ImportFile,
  context: ImportContext,
  job: ImportIdentity & { batchesDone: number },
  onBytes: (bytes: number) => void,
): Promise<{ days: readonly string[]; tooOld: number }> {
  const eventOf = eventsOf(job, context.site)
  const days = new Set<string>()
  let batch: TrafficEvent[] = []
  let [number, tooOld] = [0, 0]
  // ClickHouse may have batches that are not recorded: an import was killed after it wrote one, or PostgreSQL was restored from an older
  // backup. Batches are written in order, so all batches after the first missing one are missing, too.
  let mayBeThere = true

  async function flush(): Promise<void> {
    if (batch.length === 0) return
    if (number < job.batchesDone) for (const { day } of batch) days.add(day)
    else {
      const missing = mayBeThere ? await missingEvents(context.clickhouse, batch) : batch
      const id = uuidOf(`${job.id} batch ${number}`)
      if (await writeBatch(context, { id, events: batch }, missing)) {
        mayBeThere = missing.length < batch.length
        for (const { day } of batch) days.add(day)
      } else tooOld += batch.length
    }
    number++
    batch = []
    if (number > job.batchesDone) {
      await record(context, job, context.postgres`batches_done = ${number}`)
    }
  }

  for await (const hit of readHits(file, context, ({ length }) => onBytes(length))) {
    if (hit instanceof LineFault) throw new FileFaults(['It changed during the import.'])
    if (isProgram(hit)) continue
    const event = eventOf(hit)
    // One month per batch, so that ClickHouse takes it whole or not at all.
    if (batch.length === batchEvents || batch[0]?.day.slice(0, 7) !== event.day.slice(0, 7)) await flush()
    batch.push(event)
  }
  await flush()
  return { days: [...days].toSorted(), tooOld }
}

/**
 * Records progress, unless the site has left the shard or is about to: the lock that keeps it there is lost when its connection breaks. A
 * batch that is not recorded may be on the wrong shard. The next import of the file begins with this batch, and writes its missing events.
 */
async function record(
  { postgres, clickhouse, site }: ImportContext,
  { id }: Pick<Job, 'id'>,
  change: Fragment,
  connection = postgres,
): Promise<void> {
  const { count } = await connection`
    UPDATE imports SET ${change} FROM sites
    WHERE imports.id = ${id} AND sites.id = site_id AND shard = ${clickhouse.shard}
      AND NOT EXISTS (SELECT FROM site_moves WHERE site_moves.site_id = sites.id AND hold IS NOT NULL)`
  if (count > 0) return
  const [deleted] = await eraseAgain(postgres, [site.id]) // erases what was written since then
  throw new FileFaults([
    deleted
      ? 'The site was deleted.'
      : 'The site has moved to another shard. Import the file again: it goes on where it ended.',
  ])
}

const oneReplica =
  'Only one replica of ClickHouse answers, and one disk alone may be lost. Start the others, then import the same file again.'

/**
 * Whether two replicas have the batch. ClickHouse skips a batch that it had before, even if the rows were lost with a disk, so lost events
 * are sent again as a new batch.
 */
async function isSafe(clickhouse: ClickHouse, { events }: Batch): Promise<boolean> {
  if (await areOnTwoReplicas(clickhouse, events)) return true
  if (await isIncomplete(clickhouse)) return false
  const lost = await missingEvents(clickhouse, events)
  return lost.length > 0 && !(await recordBatch(clickhouse, { id: randomUUID(), events: lost }))
}

/** Returns false if events of this month are not kept. Checks again after the days are invalidated: only then is the answer certain. */
async function writeBatch(
  { clickhouse, postgres, site }: ImportContext,
  batch: Batch,
  missing: readonly TrafficEvent[],
): Promise<boolean> {
  const isRetained = async () => (batch.events[0]?.day ?? '') >= (await retainedFrom(postgres))
  if (!(await isRetained())) return false
  if ((await recordBatch(clickhouse, batch, missing)) || !(await isSafe(clickhouse, batch))) throw new Error(oneReplica)
  const days = new Set(batch.events.map(({ day }) => day))
  const written = Array.from(days, (day) => ({ siteId: site.id, day }))
  if (await invalidateDays(postgres, written)) await noteInClickHouse({ postgres, clickhouse })
  return isRetained()
}
