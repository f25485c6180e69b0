// Moves batches from the spool into ClickHouse, one per second and shard (ship-batch.ts), and delivers notes to PostgreSQL (notes.ts). It may
// crash at any moment without losing or repeating an event.
import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../../cluster/cluster.ts'
import { byShard } from '../../cluster/stores.ts'
import { eraseAgain } from '../../erasure/deleted-sites.ts'
import { forgetCollector } from '../../moving/collectors.ts'
import { retainedFrom } from '../../rollups/coverage.ts'
import { invalidateDays } from '../../rollups/invalidation.ts'
import { noteInClickHouse } from '../../rollups/ledger.ts'
import type { ClickHouse } from '../../stores/clickhouse.ts'
import { within } from '../../stores/deadline.ts'
import type { Postgres } from '../../stores/postgres.ts'
import { openBatches } from './batches.ts'
import { openDeadLetters } from './dead-letters.ts'
import { deliverNotes, type NoteReaders } from './notes.ts'
import { openPlacements } from './placements.ts'
import { createReporting } from './reporting.ts'
import { releaseKept, type Shipment, shipNextBatch } from './ship-batch.ts'
import { openShipped } from './shipped.ts'

/** Messages to the collector, for its log and metrics. */
export type ShipperMessage =
  | ({ is: 'shipped'; deadLetters: number } & Shipment)
  /** Events that were erased again, because their site was deleted while they were in the spool. */
  | { is: 'orphaned'; events: number }
  /** Sent after the first attempt and after every change; `cause` when it fails. */
  | { is: 'state'; of: 'shipping' | 'noting'; cause?: string }

export interface Shipper {
  /** Ships until `end` is called, and then what is left, as long as that works. */
  run(): Promise<void>
  end(): void
}

export interface ShipperOptions {
  cluster: Cluster
  /** Called again after a failure: the driver does not notice connections that died silently. */
  connectPostgres(): Postgres
  spoolFolder: string
  send(message: ShipperMessage): void
  /** Ends the process; the next one begins with the other installation (reporting.ts). */
  exit(): never
}

/** One batch per second: ClickHouse prefers few large inserts, and an event is visible within two seconds. */
const everyMs = 1_000
const largeBatch = 10_000
const firstRetryMs = 200
const lastRetryMs = 30_000
const lastNotesRetryMs = 5_000
const postgresMs = 5_000
const releaseEveryMs = 5_000
const lastNotesMs = 1_000

export function createShipper({ cluster, connectPostgres, spoolFolder, send, exit }: ShipperOptions): Shipper {
  let postgres = connectPostgres()
  const placements = openPlacements(spoolFolder)
  const batches = openBatches(spoolFolder, placements)
  const deadLetters = openDeadLetters(spoolFolder)
  const shipped = openShipped(spoolFolder)
  let ending = false
  let isShipping = false
  /** Why batches are not shipped, by shard. */
  const failing = new Map<number, string>()
  let releasing: Promise<unknown> | undefined
  let delivering: Promise<void> | undefined
  let hasNoted = false
  let failures = 0
  let retryNotesAt = 0

  const ask = <Value>(work: (postgres: Postgres) => Promise<Value>) => within(postgresMs, 'PostgreSQL', work(postgres))
  const reporting = createReporting({
    placements,
    batches,
    shards: cluster.shards.length,
    ask,
    reconnect,
    onOtherInstallation() {
      if (isShipping) exit()
    },
  })
  const stores = { batches, deadLetters, shipped, retainedFrom: () => ask(retainedFrom), now: Date.now }
  const noteReaders: NoteReaders = {
    async invalidateDays(days) {
      if (await ask((postgres) => invalidateDays(postgres, days))) await noteShards()
    },
    // This only records that they must be erased; the rollup process erases them (erasure/job.ts).
    eraseDeleted: (siteIds) => ask((postgres) => eraseAgain(postgres, siteIds)),
  }

  /** If this fails, the rollup process does it within a minute. */
  async function noteShards(): Promise<void> {
    await ask((postgres) => Promise.allSettled(byShard({ postgres, cluster }).map((shard) => noteInClickHouse(shard))))
  }

  /** Ships to one shard until the end. A shard that is down does not hold up the others. */
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
        reporting.confirmHolds(shard)
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

  function sendShippingState(): void {
    const causes = Array.from(failing, ([shard, cause]) =>
      cluster.shards.length === 1 ? cause : `shard ${shard}: ${cause}`,
    )
    send({ is: 'state', of: 'shipping', ...(causes.length > 0 && { cause: causes.join('; ') }) })
  }

  /** Runs in parallel with shipping: a replica that is away must not delay it. What cannot be released now is tried again. */
  function release(): void {
    releasing ??= Promise.all(
      cluster.shards.map(async (clickhouse) => {
        while (!ending && (await releaseKept({ ...stores, clickhouse }).catch(() => false)));
      }),
    ).finally(() => {
      releasing = undefined
    })
  }

  /** Runs in parallel with shipping, which does not wait for PostgreSQL. One delivery at a time. */
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

  /** After a failure all connections are replaced. */
  function reconnect(): void {
    postgres.end({ timeout: 0 }).catch(() => {})
    postgres = connectPostgres()
  }

  async function shipUntilEnd(): Promise<void> {
    // A collector that PostgreSQL knows ships even while PostgreSQL is down. Any other could write events of a site that is moving.
    while (!ending && !(await reporting.report()) && !placements.isKnown) await pause(everyMs)
    const timers = [
      setInterval(reporting.report, everyMs),
      setInterval(deliver, everyMs),
      setInterval(release, releaseEveryMs),
    ]
    isShipping = true
    if (placements.isKnown) await Promise.all(cluster.shards.map(ship))
    for (const timer of timers) clearInterval(timer)
    await Promise.all([releasing, reporting.idle()])
  }

  /** Notes that PostgreSQL does not take now are delivered by the next process. */
  async function deliverTheRest(): Promise<void> {
    await within(lastNotesMs, 'PostgreSQL', Promise.resolve(delivering).then(deliverOnce)).catch(() => {})
    if (!batches.isEmpty()) return
    placements.leave()
    await within(lastNotesMs, 'PostgreSQL', forgetCollector(postgres, placements.id)).catch(() => {})
  }

  return {
    async run() {
      await shipUntilEnd()
      await deliverTheRest()
      for (const file of [placements, batches, deadLetters, shipped]) file.close()
      await postgres.end({ timeout: 1 })
    },
    end() {
      ending = true
    },
  }
}
