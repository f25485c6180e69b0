// The shipper: a process beside the collector, which starts it and starts it again (collector/ship.ts). It may end at any instant.
import { setTimeout as pause } from 'node:timers/promises'
import { deletedAmong } from '../../accounts/sites.ts'
import { readCollectorConfigOrExit } from '../../config.ts'
import { openClickHouse } from '../../stores/clickhouse.ts'
import { within } from '../../stores/deadline.ts'
import { openPostgres } from '../../stores/postgres.ts'
import { eventsKeptFrom } from '../../traffic/kept.ts'
import { noteLateDays, type SiteDay } from '../../traffic/late-days.ts'
import { openBatches } from './batches.ts'
import { openDeadLetters } from './dead-letters.ts'
import { createRecentIds } from './recent-ids.ts'
import { type Shipment, shipNext } from './shipper.ts'

/** What the collector is told of it, for its log and metrics. */
export type ShipperNews =
  | ({ is: 'shipped'; deadLetters: number } & Shipment)
  | { is: 'failed'; cause: string }
  | { is: 'well' }

/** A batch a second: the engine likes few large inserts, and an event is seen within two. */
const everyMs = 1_000
const largeBatch = 10_000
const firstRetryMs = 200
const lastRetryMs = 30_000
const deletedMs = 500

const config = readCollectorConfigOrExit()
const clickhouse = openClickHouse(config.CLICKHOUSE_URL)
const postgres = openPostgres(config.DATABASE_URL, 2)
const batches = openBatches(config.SPOOL_FOLDER)
const deadLetters = openDeadLetters(config.SPOOL_FOLDER)
const recentIds = createRecentIds()
const stores = {
  clickhouse,
  batches,
  deadLetters,
  recentIds,
  noteLateDays: (days: readonly SiteDay[]) => noteLateDays(postgres, days),
  // Without PostgreSQL shipping goes on. Who was deleted is asked again with the next batch; a shipper that ends before leaves orphans.
  deletedAmong: (siteIds: readonly string[]) =>
    within(deletedMs, 'PostgreSQL', deletedAmong(postgres, siteIds)).catch(() => undefined),
  unasked: new Set<string>(),
  eventsKeptFrom: () => eventsKeptFrom(postgres),
  now: Date.now,
}

let ending = false
process.once('disconnect', () => process.exit()) // the collector is gone, and the next one starts its own
process.on('SIGINT', () => {}) // from a terminal it goes to the whole group; the collector says when
process.once('SIGTERM', () => {
  ending = true
})

const tell = (news: ShipperNews) => process.send?.(news)

let isRetry = false
let retryMs = firstRetryMs
while (!ending || (await hasMore())) {
  const began = Date.now()
  try {
    const shipment = await shipNext(stores, isRetry)
    if (isRetry) tell({ is: 'well' })
    isRetry = false
    retryMs = firstRetryMs
    if (shipment) tell({ is: 'shipped', ...shipment, deadLetters: deadLetters.count() })
    if ((shipment?.events ?? 0) < largeBatch && !ending) await pause(Math.max(0, began + everyMs - Date.now()))
  } catch (error) {
    // Never given up: the same batch, the same rows, the same id, until the engine has them.
    if (!isRetry) tell({ is: 'failed', cause: (error as Error).message })
    if (ending) break
    isRetry = true
    await pause(retryMs)
    retryMs = Math.min(2 * retryMs, lastRetryMs)
  }
}
batches.close()
deadLetters.close()
await Promise.all([clickhouse.close(), postgres.end({ timeout: 1 })])
process.disconnect?.()

/** An orderly end leaves nothing behind if it can. */
async function hasMore(): Promise<boolean> {
  return !isRetry && batches.next() !== undefined
}
