// The shipper: a process beside the collector, which starts it and starts it again (collector/ship.ts). It may end at any instant.
import { setTimeout as pause } from 'node:timers/promises'
import { eraseAgain } from '../../accounts/deleted-sites.ts'
import { readCollectorConfigOrExit } from '../../config.ts'
import { openClickHouse } from '../../stores/clickhouse.ts'
import { within } from '../../stores/deadline.ts'
import { openPostgres } from '../../stores/postgres.ts'
import { eventsKeptFrom } from '../../traffic/kept.ts'
import { noteLateDays } from '../../traffic/late-days.ts'
import { openBatches } from './batches.ts'
import { openDeadLetters } from './dead-letters.ts'
import { deliverNotes, type NoteReaders } from './notes.ts'
import { openShipped } from './shipped.ts'
import { type Shipment, shipNext } from './shipper.ts'

/** What the collector is told of it, for its log and metrics. */
export type ShipperNews =
  | ({ is: 'shipped'; deadLetters: number } & Shipment)
  /** Events that were erased again, because their site was deleted while they were on their way. */
  | { is: 'orphaned'; events: number }
  /** After the first attempt and whenever it changes; `cause` when it does not work. */
  | { is: 'state'; of: 'shipping' | 'noting'; cause?: string }

/** A batch a second: the engine likes few large inserts, and an event is seen within two. */
const everyMs = 1_000
const largeBatch = 10_000
const firstRetryMs = 200
const lastRetryMs = 30_000
const lastNotesRetryMs = 5_000
const postgresMs = 5_000
const lastNotesMs = 1_000

const config = readCollectorConfigOrExit()
const clickhouse = openClickHouse(config.CLICKHOUSE_URL)
let postgres = openPostgres(config.DATABASE_URL, 2)
const batches = openBatches(config.SPOOL_FOLDER)
const deadLetters = openDeadLetters(config.SPOOL_FOLDER)
const shipped = openShipped(config.SPOOL_FOLDER)
const answered = <Value>(work: Promise<Value>) => within(postgresMs, 'PostgreSQL', work)
const stores = {
  clickhouse,
  batches,
  deadLetters,
  shipped,
  eventsKeptFrom: () => answered(eventsKeptFrom(postgres)),
  now: Date.now,
}
const noteReaders: NoteReaders = {
  noteLateDays: (days) => answered(noteLateDays(postgres, days)),
  // Whatever folds does it (folding/erasures.ts).
  eraseDeleted: (siteIds) => answered(eraseAgain(postgres, siteIds)),
}

let ending = false
process.once('disconnect', () => process.exit()) // the collector is gone, and the next one starts its own
process.on('SIGINT', () => {}) // from a terminal it goes to the whole group; the collector says when
process.once('SIGTERM', () => {
  ending = true
})

const tell = (news: ShipperNews) => process.send?.(news)

let delivering: Promise<void> | undefined
let hasNoted = false
let failures = 0
let retryNotesAt = 0
const noting = setInterval(deliver, everyMs)
let hasShipped = false
let isRetry = false
let retryMs = firstRetryMs
while (!ending || (await hasMore())) {
  const began = Date.now()
  try {
    const shipment = await shipNext(stores, isRetry)
    deliver()
    if (!hasShipped || isRetry) tell({ is: 'state', of: 'shipping' })
    hasShipped = true
    isRetry = false
    retryMs = firstRetryMs
    if (shipment) tell({ is: 'shipped', ...shipment, deadLetters: deadLetters.count() })
    if ((shipment?.events ?? 0) < largeBatch && !ending) await pause(Math.max(0, began + everyMs - Date.now()))
  } catch (error) {
    // Never given up: the same batch, the same rows, the same id, until the engine has them.
    if (!isRetry) tell({ is: 'state', of: 'shipping', cause: (error as Error).message })
    if (ending) break
    isRetry = true
    await pause(retryMs)
    retryMs = Math.min(2 * retryMs, lastRetryMs)
  }
}
clearInterval(noting)
// What PostgreSQL does not take now, the next process tells it.
await within(lastNotesMs, 'PostgreSQL', Promise.resolve(delivering).then(deliverOnce)).catch(() => {})
batches.close()
deadLetters.close()
shipped.close()
await Promise.all([clickhouse.close(), postgres.end({ timeout: 1 })])
process.disconnect?.()

/** An orderly end leaves nothing behind if it can. */
async function hasMore(): Promise<boolean> {
  return !isRetry && batches.next() !== undefined
}

/** Beside the shipping, which does not wait for PostgreSQL. One at a time. */
function deliver(): void {
  if (delivering || Date.now() < retryNotesAt) return
  delivering = deliverOnce().finally(() => {
    delivering = undefined
  })
}

async function deliverOnce(): Promise<void> {
  try {
    const orphaned = await deliverNotes(shipped, noteReaders)
    if (!hasNoted || failures > 0) tell({ is: 'state', of: 'noting' })
    if (orphaned > 0) tell({ is: 'orphaned', events: orphaned })
    hasNoted = true
    failures = 0
  } catch (error) {
    if (failures === 0) tell({ is: 'state', of: 'noting', cause: (error as Error).message })
    retryNotesAt = Date.now() + Math.min(firstRetryMs * 2 ** failures++, lastNotesRetryMs)
    // The driver does not notice connections that died in silence: after a failure none of them is worth keeping.
    postgres.end({ timeout: 0 }).catch(() => {})
    postgres = openPostgres(config.DATABASE_URL, 2)
  }
}
