// Imports files of traffic exactly once, however often the import is started (decision D-120). Everything is read, checked and sorted before
// anything is written.
import { randomUUID } from 'node:crypto'
import type { Fragment } from 'postgres'
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
import { type Checked, checkFiles, FileFaults, type ImportFile, type Reading, sizeOf } from './checking.ts'
import { eventsOf, type ImportIdentity } from './events.ts'
import type { ImportedHit } from './hit.ts'
import { isImported, type Job, openJob } from './open-job.ts'
import { openSorting } from './sorting.ts'

export interface ImportContext extends Reading {
  postgres: Postgres
  clickhouse: ClickHouse
  /** Checking counts bytes of the files, importing events. */
  onProgress(step: 'checking' | 'importing', done: number, total: number): void
  /** Called in the transaction that marks the import as finished. */
  onFinish?(transaction: Postgres, imported: { id: string; events: number; days: readonly string[] }): Promise<void>
}

export interface ImportOutcome {
  id: string
  events: number
  /** Lines that are no events, by reason. */
  leftOut: Readonly<Record<string, number>>
  /** The first lines that cannot be read. */
  broken: readonly string[]
  /** Left out because events of their days are no longer kept (decision D-80). */
  tooOld: number
  days: number
  /** This run imported the `whole` file, the `rest` after an import that stopped, or nothing because all of it `was` there. */
  imported: 'whole' | 'rest' | 'was'
}

const whyNoSalt = ({ isOld }: Job): string =>
  `${
    isOld
      ? 'Its import started more than 30 days ago and never finished, so it was given up.'
      : 'Its import was not finished when the backup was made that this installation was restored from.'
  } The events imported so far stay; the rest can only be imported into another site.`

/** ClickHouse writes this many rows as one block. */
const batchEvents = 10_000

/** What an import of the files would read. */
export async function previewFiles(files: readonly ImportFile[], context: ImportContext): Promise<Checked> {
  const checked = await check(files, context)
  refuseImportedDays(checked, context)
  return checked
}

export async function importFiles(files: readonly ImportFile[], context: ImportContext): Promise<ImportOutcome> {
  const sorting = openSorting()
  try {
    const checked = await check(files, context, sorting.add)
    return await importHits(checked, sorting.inOrderOfTime(), context)
  } finally {
    sorting.close()
  }
}

/** `onHit` gets what would be written. */
function check(
  files: readonly ImportFile[],
  context: ImportContext,
  onHit?: (hit: ImportedHit) => void,
): Promise<Checked> {
  const size = sizeOf(files)
  let done = 0
  const onBytes = (bytes: number) => {
    done += bytes
    context.onProgress('checking', Math.min(done, size), size)
  }
  return checkFiles(files, context, onBytes, onHit)
}

/** Of a day with daily sums of another product, visitors would count twice (decision D-244). */
function refuseImportedDays({ daysWithEvents }: Checked, { site }: ImportContext): void {
  const imported = site.coverage.imported.flatMap(({ days }) => days)
  const both = [...daysWithEvents].filter((day) => imported.some(([first, last]) => first <= day && day <= last)).sort()
  if (both.length === 0) return
  const days = both.length === 1 ? both[0] : `${both[0]} to ${both.at(-1)}`
  throw new FileFaults([
    `Daily sums are imported for ${days}, and visitors would count twice. Undo that import, or end before these days with --until.`,
  ])
}

async function importHits(
  checked: Checked,
  hits: AsyncIterable<ImportedHit>,
  context: ImportContext,
): Promise<ImportOutcome> {
  if (!checked.days) throw new FileFaults(['It contains no event.'])
  if (!(await isImported(context, checked))) refuseImportedDays(checked, context)
  await deleteOldSalts(context.postgres, context.now) // because there may be no collector that does it
  const job = await openJob(context, checked)
  const leftOut = Object.fromEntries(checked.leftOut)
  const outcome = { id: job.id, events: checked.events, leftOut, broken: checked.broken, tooOld: 0, days: 0 }
  if (job.isFinished) return { ...outcome, imported: 'was' }
  if (job.salt === null) throw new FileFaults([whyNoSalt(job)])

  const lock = await context.postgres.reserve()
  try {
    const [{ taken }] = await lock<[{ taken: boolean }]>`SELECT pg_try_advisory_lock(hashtext(${job.id})) AS taken`
    if (!taken) throw new FileFaults(['Another command is importing it right now.'])
    const { days, tooOld } = await writeHits(hits, checked.events, context, { ...job, salt: job.salt })
    const events = checked.events - tooOld
    await inTransaction(context.postgres, async (transaction) => {
      // Like a deletion of the site, which takes its row before that of the import.
      await transaction`SELECT FROM sites WHERE id = ${context.site.id} FOR KEY SHARE`
      await record(
        context,
        job,
        transaction`salt = NULL, finished_at = now(), events = ${events}, days = ${rangesOf(days)}::text::datemultirange`,
        transaction,
      )
      await context.onFinish?.(transaction, { id: job.id, events, days })
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

const rangesOf = (days: readonly string[]): string => `{${days.map((day) => `[${day},${day}]`).join(',')}}`

/** Returns the days that have events, in their order, and how many events were left out. */
async function writeHits(
  hits: AsyncIterable<ImportedHit>,
  total: number,
  context: ImportContext,
  job: ImportIdentity & { batchesDone: number },
): Promise<{ days: readonly string[]; tooOld: number }> {
  const eventOf = eventsOf(job, context.site)
  const days = new Set<string>()
  let [done, tooOld] = [0, 0]
  // ClickHouse may have batches that are not recorded: an import was killed after it wrote one, or PostgreSQL was restored from an older
  // backup. Batches are written in order, so all batches after the first missing one are missing, too.
  let mayBeThere = true

  async function write(number: number, batch: readonly TrafficEvent[]): Promise<void> {
    if (number < job.batchesDone) for (const { day } of batch) days.add(day)
    else {
      const missing = mayBeThere ? await missingEvents(context.clickhouse, batch) : batch
      const id = uuidOf(`${job.id} batch ${number}`)
      if (await writeBatch(context, { id, events: batch }, missing)) {
        mayBeThere = missing.length < batch.length
        for (const { day } of batch) days.add(day)
      } else tooOld += batch.length
      await record(context, job, context.postgres`batches_done = ${number + 1}`)
    }
    done += batch.length
    context.onProgress('importing', done, total)
  }

  let number = 0
  // While the stores write one batch, the next one is made.
  let writing: Promise<void> = Promise.resolve()
  try {
    for await (const batch of batchesOf(hits, eventOf)) {
      await writing
      writing = write(number++, batch)
      writing.catch(() => {}) // it is thrown where it is awaited
    }
  } finally {
    await writing
  }
  return { days: [...days].toSorted(), tooOld }
}

/** One month per batch, so that ClickHouse takes it whole or not at all. */
async function* batchesOf(
  hits: AsyncIterable<ImportedHit>,
  eventOf: (hit: ImportedHit) => TrafficEvent,
): AsyncGenerator<TrafficEvent[]> {
  let batch: TrafficEvent[] = []
  for await (const hit of hits) {
    const event = eventOf(hit)
    if (batch.length === batchEvents || (batch[0] && batch[0].day.slice(0, 7) !== event.day.slice(0, 7))) {
      yield batch
      batch = []
    }
    batch.push(event)
  }
  if (batch.length > 0) yield batch
}

/**
 * Records progress, unless the site has left the shard or is about to: the lock that keeps it there is lost when its connection breaks. A
 * batch that is not recorded may be on the wrong shard. The next import of the file begins with this batch, and writes its missing events.
 */
export async function record(
  { postgres, clickhouse, site }: Pick<ImportContext, 'postgres' | 'clickhouse' | 'site'>,
  { id }: Pick<Job, 'id'>,
  change: Fragment,
  connection = postgres,
): Promise<void> {
  const { count } = await connection`
    UPDATE imports SET ${change} FROM sites
    WHERE imports.id = ${id} AND sites.id = site_id AND shard = ${clickhouse.shard} AND undoing_at IS NULL
      AND NOT EXISTS (SELECT FROM site_moves WHERE site_moves.site_id = sites.id AND hold IS NOT NULL)`
  if (count > 0) return
  // What was written since then must go, too.
  const undone = await postgres`UPDATE imports SET undone_at = NULL WHERE id = ${id} AND undoing_at IS NOT NULL`
  if (undone.count > 0) throw new FileFaults(['It is being undone. Repeat the command that undoes it.'])
  const [deleted] = await eraseAgain(postgres, [site.id]) // erases what was written since then
  throw new FileFaults([
    deleted
      ? 'The site was deleted.'
      : 'The site has moved to another shard. Import the file again: it goes on where it ended.',
  ])
}

export const oneReplica =
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
