// The shipper process: moves batches from the spool into ClickHouse, one per second and shard (ship-batch.ts), and delivers notes to
// PostgreSQL (notes.ts). The collector starts and restarts it (supervisor.ts). It may crash at any moment without losing or repeating an event.
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { openCluster } from '../../cluster/cluster.ts'
import { byShard } from '../../cluster/stores.ts'
import { readCollectorConfigOrExit } from '../../config.ts'
import { eraseAgain } from '../../erasure/deleted-sites.ts'
import { forgetCollector, type Placement, placementsOf, reportCollector } from '../../moving/collectors.ts'
import { retainedFrom } from '../../rollups/coverage.ts'
import { invalidateDays } from '../../rollups/invalidation.ts'
import { noteInClickHouse } from '../../rollups/ledger.ts'
import type { ClickHouse } from '../../stores/clickhouse.ts'
import { within } from '../../stores/deadline.ts'
import { openPostgres } from '../../stores/postgres.ts'
import { openBatches } from './batches.ts'
import { openDeadLetters } from './dead-letters.ts'
import { deliverNotes, type NoteReaders } from './notes.ts'
import { openPlacements } from './placements.ts'
import { releaseKept, type Shipment, shipNextBatch } from './ship-batch.ts'
import { openShipped } from './shipped.ts'

/** Messages to the collector, for its log and metrics. */
export type ShipperMessage =
  | ({ is: 'shipped'; deadLetters: number } & Shipment)
  /** Events that were erased again, because their site was deleted while they were in the spool. */
  | { is: 'orphaned'; events: number }
  /** Sent after the first attempt and after every change; `cause` when it fails. */
  | { is: 'state'; of: 'shipping' | 'noting'; cause?: string }

/** One batch per second: ClickHouse prefers few large inserts, and an event is visible within two seconds. */
const everyMs = 1_000
const largeBatch = 10_000
const firstRetryMs = 200
const lastRetryMs = 30_000
const lastNotesRetryMs = 5_000
const postgresMs = 5_000
const releaseEveryMs = 5_000
const lastNotesMs = 1_000

const config = readCollectorConfigOrExit()
const cluster = openCluster(config)
let postgres = openPostgres(config.DATABASE_URL, 2)
const placements = openPlacements(config.SPOOL_FOLDER)
const batches = openBatches(config.SPOOL_FOLDER, placements)
const deadLetters = openDeadLetters(config.SPOOL_FOLDER)
const shipped = openShipped(config.SPOOL_FOLDER)
const answered = <Value>(work: Promise<Value>) => within(postgresMs, 'PostgreSQL', work)
const stores = {
  batches,
  deadLetters,
  shipped,
  retainedFrom: () => answered(retainedFrom(postgres)),
  now: Date.now,
}
const noteReaders: NoteReaders = {
  async invalidateDays(days) {
    if (await answered(invalidateDays(postgres, days))) await noteShards()
  },
  // This only records that they must be erased; the process that rolls up erases them (erasure/job.ts).
  eraseDeleted: (siteIds) => answered(eraseAgain(postgres, siteIds)),
}

/** If it fails, the process that rolls up does it within a minute. */
async function noteShards(): Promise<void> {
  const noted = byShard({ postgres, cluster }).map((shard) => noteInClickHouse(shard))
  await answered(Promise.allSettled(noted))
}

let ending = false
process.once('disconnect', () => process.exit()) // the collector has ended, and the next one starts its own shipper
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole process group; the collector decides when the shipper ends
process.once('SIGTERM', () => {
  ending = true
})

const send = (message: ShipperMessage) => process.send?.(message)

/** The holds that this process follows, by site: since PostgreSQL reported them, no batch of their shard was under way. */
const confirmed = new Map<string, string>()
let reportedAt: string | undefined
let isShipping = false
let reporting: Promise<boolean> | undefined
// A collector that PostgreSQL knows ships without it. One that it does not know could write events of a site that is moving.
while (!ending && !(await report()) && !placements.isKnown) await pause(everyMs)
const reports = setInterval(report, everyMs)

let delivering: Promise<void> | undefined
let hasNoted = false
let failures = 0
let retryNotesAt = 0
let released: Promise<unknown> | undefined
const noting = setInterval(deliver, everyMs)
const releasing = setInterval(release, releaseEveryMs)
/** Why batches are not shipped, by shard. */
const failing = new Map<number, string>()
isShipping = true
if (placements.isKnown) await Promise.all(cluster.shards.map(ship))
clearInterval(noting)
clearInterval(releasing)
clearInterval(reports)
await Promise.all([released, reporting])
// Notes that PostgreSQL does not take now are delivered by the next process.
await within(lastNotesMs, 'PostgreSQL', Promise.resolve(delivering).then(deliverOnce)).catch(() => {})
if (batches.isEmpty()) {
  placements.leave()
  await within(lastNotesMs, 'PostgreSQL', forgetCollector(postgres, placements.id)).catch(() => {})
}
placements.close()
batches.close()
deadLetters.close()
shipped.close()
await Promise.all([cluster.close(), postgres.end({ timeout: 1 })])
process.disconnect?.()

/** Ships to one shard until the process ends. A shard that is down does not hold up the others. */
async function ship(clickhouse: ClickHouse): Promise<void> {
  const { shard } = clickhouse
  let hasShipped = false
  let isRetry = false
  let retryMs = firstRetryMs
  // An orderly end ships the rest, as long as that works.
  while (!ending || (!isRetry && batches.next(shard) !== undefined)) {
    const began = Date.now()
    try {
      const shipment = await shipNextBatch({ ...stores, clickhouse }, isRetry)
      confirmHolds(shard)
      deliver()
      failing.delete(shard)
      if (!hasShipped || isRetry) sendShippingState()
      hasShipped = true
      isRetry = false
      retryMs = firstRetryMs
      if (shipment) send({ is: 'shipped', ...shipment, deadLetters: deadLetters.count() })
      if ((shipment?.events ?? 0) < largeBatch && !ending) await pause(Math.max(0, began + everyMs - Date.now()))
    } catch (error) {
      // It never gives up: it sends the same batch, with the same rows and id, until ClickHouse has it.
      failing.set(shard, (error as Error).message)
      if (!isRetry) sendShippingState()
      if (ending) break
      isRetry = true
      await pause(retryMs)
      retryMs = Math.min(2 * retryMs, lastRetryMs)
    }
  }
}

/** Tells PostgreSQL that this collector exists, and learns which sites move. Returns whether that worked. */
function report(): Promise<boolean> {
  reporting ??= (async () => {
    try {
      const own = { id: placements.id, host: hostname(), shards: cluster.shards.length, holds: [...confirmed.values()] }
      const {
        placements: changed,
        asOf,
        life,
      } = await answered(reportCollector(postgres, { ...own, since: reportedAt }))
      if (life !== placements.life) await beginLife(life)
      placements.take([...changed, ...(await heldNow(changed))])
      for (const [siteId, hold] of confirmed)
        if (!placements.held().some((held) => held.siteId === siteId && held.hold === hold)) confirmed.delete(siteId)
      reportedAt = asOf
      return true
    } catch {
      reconnect() // `deliver` reports that PostgreSQL is down
      return false
    }
  })().finally(() => {
    reporting = undefined
  })
  return reporting
}

/**
 * PostgreSQL is another one than before, or in another epoch: the sites of the spool may be elsewhere, and what was sent may be gone. A
 * process that ships ends, and the next one begins with this.
 */
async function beginLife(life: string): Promise<void> {
  const isNew = placements.life === undefined
  if (isShipping && !isNew) process.exit(1)
  const all = isNew ? [] : await answered(placementsOf(postgres, batches.siteIds()))
  if (!isNew) batches.forgetPlans()
  placements.beginLife(life, all)
}

/** A restored PostgreSQL does not report the end of a hold that it never knew. So whoever holds back events asks for each site. */
async function heldNow(changed: readonly Placement[]): Promise<Placement[]> {
  const held = placements.held().filter(({ siteId }) => !changed.some((one) => one.siteId === siteId))
  if (held.length === 0) return []
  const found = await answered(
    placementsOf(
      postgres,
      held.map(({ siteId }) => siteId),
    ),
  )
  return held.map(({ siteId, shard }) => found.find((one) => one.siteId === siteId) ?? { siteId, shard, hold: null })
}

/** Call it between two batches of the shard. */
function confirmHolds(shard: number): void {
  const unconfirmed = placements.held(shard).filter(({ siteId, hold }) => confirmed.get(siteId) !== hold)
  if (unconfirmed.length === 0 || !batches.isIdle(shard)) return
  for (const { siteId, hold } of unconfirmed) confirmed.set(siteId, hold)
  void report()
}

/** Beside the shipping: a replica that is away must not hold up anything. What cannot be released now is tried again. */
function release(): void {
  released ??= Promise.all(
    cluster.shards.map(async (clickhouse) => {
      while (!ending && (await releaseKept({ ...stores, clickhouse }).catch(() => false)));
    }),
  ).finally(() => {
    released = undefined
  })
}

function sendShippingState(): void {
  const causes = Array.from(failing, ([shard, cause]) =>
    cluster.shards.length === 1 ? cause : `shard ${shard}: ${cause}`,
  )
  send({ is: 'state', of: 'shipping', ...(causes.length > 0 && { cause: causes.join('; ') }) })
}

/** Runs beside the shipping, which does not wait for PostgreSQL. One delivery at a time. */
function deliver(): void {
  if (delivering || Date.now() < retryNotesAt) return
  delivering = deliverOnce().finally(() => {
    delivering = undefined
  })
}

async function deliverOnce(): Promise<void> {
  try {
    const orphaned = await deliverNotes(shipped, noteReaders)
    if (!hasNoted || failures > 0) send({ is: 'state', of: 'noting' })
    if (orphaned > 0) send({ is: 'orphaned', events: orphaned })
    hasNoted = true
    failures = 0
  } catch (error) {
    if (failures === 0) send({ is: 'state', of: 'noting', cause: (error as Error).message })
    retryNotesAt = Date.now() + Math.min(firstRetryMs * 2 ** failures++, lastNotesRetryMs)
    reconnect()
  }
}

/** The driver does not notice connections that died silently, so after a failure all are replaced. */
function reconnect(): void {
  postgres.end({ timeout: 0 }).catch(() => {})
  postgres = openPostgres(config.DATABASE_URL, 2)
}
