// One shipping round: takes the next batch for a shard from the spool and writes its events to ClickHouse exactly once, even if a process crashes in
// between (decisions D-96 and D-97).
import { type ClickHouse, isBadData } from '../../stores/clickhouse.ts'
import type { TrafficEvent } from '../../traffic/event.ts'
import { type Batch, missingEvents, recordBatch } from '../../traffic/recording.ts'
import { uuidOf } from '../../traffic/uuid.ts'
import type { SpooledLine } from '../spool/spooled-event.ts'
import type { Batches, SpooledBatch } from './batches.ts'
import type { DeadLetters } from './dead-letters.ts'
import { keyOf, type Shipped } from './shipped.ts'

export interface ShipperStores {
  clickhouse: ClickHouse
  retainedFrom(): Promise<string>
  batches: Batches
  deadLetters: DeadLetters
  shipped: Shipped
  now(): number
}

export interface Shipment {
  events: number
  repeated: number
  /** Left out because events of their days are no longer kept (decision D-80): they were in the spool for years. */
  tooOld: number
}

/** Younger events are always kept: a retention is at least 25 months. */
const surelyKeptMs = 700 * 86_400_000

/** Ships the next batch and removes it from the spool. Undefined when there is none. Throws when it must be tried again. */
export async function shipNextBatch(stores: ShipperStores, isRetry: boolean): Promise<Shipment | undefined> {
  const { batches, shipped } = stores
  const spooled = batches.next(stores.clickhouse.shard)
  if (!spooled) return undefined
  const taken = readLines(spooled, stores.deadLetters)
  if (shipped.hasBatch(spooled.id)) {
    spooled.remove()
    return { events: taken.length, repeated: 0, tooOld: 0 }
  }
  const { keys, unseen } = withoutRepeated(taken, shipped)
  const events = await withoutTooOld(stores, unseen)
  for (const batch of byMonth(spooled.id, events)) {
    // If the batch may have been sent before, look first and send only the missing events. With none missing this still writes the
    // titles again, which changes nothing: the earlier attempt may have ended before them.
    await record(
      stores,
      batch,
      spooled.isRepeated || isRetry ? await missingEvents(stores.clickhouse, batch.events) : batch.events,
    )
  }
  shipped.keep(spooled.id, keys, events)
  spooled.remove()
  return { events: events.length, repeated: taken.length - unseen.length, tooOld: unseen.length - events.length }
}

function readLines({ lines }: SpooledBatch, deadLetters: DeadLetters): SpooledLine[] {
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as SpooledLine]
    } catch (error) {
      deadLetters.put(line, (error as Error).message)
      return []
    }
  })
}

/** Keeps each id once: drops events that were shipped recently, and all but the first within this batch. `keys` has all of their keys. */
function withoutRepeated(taken: readonly SpooledLine[], shipped: Shipped) {
  const keys = new Set<string>()
  const unseen = taken.flatMap(({ event, isRepeatable }) => {
    if (!isRepeatable) return [event]
    const key = keyOf(event)
    const isRepeated = keys.has(key) || shipped.hasKey(key)
    keys.add(key)
    return isRepeated ? [] : [event]
  })
  return { keys, unseen }
}

/** PostgreSQL knows from which day on events are kept. It may be down, so it is queried only for batches with very old days. */
async function withoutTooOld(stores: ShipperStores, events: TrafficEvent[]): Promise<TrafficEvent[]> {
  const surelyKeptFrom = new Date(stores.now() - surelyKeptMs).toISOString().slice(0, 10)
  if (events.every(({ day }) => day >= surelyKeptFrom)) return events
  const eventsFrom = await stores.retainedFrom()
  return events.filter(({ day }) => day >= eventsFrom)
}

/** One partition per insert, so that it is written whole or not at all. The ids follow from the batch's id, so a retry has the same. */
function byMonth(id: string, events: readonly TrafficEvent[]): Batch[] {
  const months = Map.groupBy(events, ({ day }) => day.slice(0, 7))
  return [...months].map(([month, some]) => ({ id: uuidOf(`${id} ${month}`), events: some }))
}

/** When ClickHouse refuses a row for its content, halving finds the row; it becomes a dead letter and all others are written. */
async function record(stores: ShipperStores, batch: Batch, missing: readonly TrafficEvent[]): Promise<void> {
  try {
    await recordBatch(stores.clickhouse, batch, missing)
  } catch (error) {
    if (!isBadData(error)) throw error
    const [only, ...others] = missing
    if (only && others.length === 0) return stores.deadLetters.put(JSON.stringify(only), (error as Error).message)
    const half = Math.ceil(missing.length / 2)
    for (const part of [missing.slice(0, half), missing.slice(half)]) {
      await record(stores, { ...batch, events: part }, part)
    }
  }
}
