// One shipping round: takes the next batch for a shard from the spool and writes its events to ClickHouse exactly once, even if a process crashes in
// between (decisions D-96 and D-97).
import { randomUUID } from 'node:crypto'
import { dayMs } from '../../durations.ts'
import { type ClickHouse, isIncomplete } from '../../stores/clickhouse.ts'
import { isBadData } from '../../stores/clickhouse-errors.ts'
import type { TrafficEvent } from '../../traffic/event.ts'
import { areOnTwoReplicas, type Batch, missingEvents, recordBatch } from '../../traffic/recording.ts'
import { uuidOf } from '../../traffic/uuid.ts'
import type { SpooledLine } from '../spool/spooled-event.ts'
import type { Batches, SpooledBatch } from './batches.ts'
import type { DeadLetters } from './dead-letters.ts'
import { keyOf, type Shipped } from './shipped.ts'

export interface ShipperStores {
  clickhouse: ClickHouse
  retainedFrom(): Promise<string>
  batches: Pick<Batches, 'next' | 'kept'>
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
const surelyKeptMs = 700 * dayMs

/** Ships the next batch and removes it from the spool. Undefined when there is none. Throws when it must be tried again. */
export async function shipNextBatch(stores: ShipperStores, isRetry: boolean): Promise<Shipment | undefined> {
  const { batches, shipped } = stores
  const spooled = batches.next(stores.clickhouse.shard)
  if (!spooled) return undefined
  const lines = readLines(spooled, stores.deadLetters)
  if (shipped.hasBatch(spooled.id)) {
    spooled.remove()
    return { events: lines.length, repeated: 0, tooOld: 0 }
  }
  const { keys, unseen } = withoutRepeated(lines, shipped)
  const events = await withoutTooOld(stores, unseen)
  const isDoubtful = spooled.isRepeated || isRetry
  let isSafe = true
  for (const batch of byMonth(spooled.id, events)) {
    // If the batch may have been sent before, look first and send only the missing events. With none missing this still writes the
    // titles again, which changes nothing: the earlier attempt may have ended before them.
    const missing = isDoubtful ? await missingEvents(stores.clickhouse, batch.events) : batch.events
    if (!(await record(stores, batch, missing))) isSafe = false
  }
  // An earlier attempt may have reached one replica only.
  if (isDoubtful && isSafe) isSafe = await areOnTwoReplicas(stores.clickhouse, events)
  shipped.keep(spooled.id, keys, events)
  if (isSafe) spooled.remove()
  else spooled.keep()
  return { events: events.length, repeated: lines.length - unseen.length, tooOld: unseen.length - events.length }
}

/**
 * Removes a batch that only one replica had from the spool, when a second one has its events (decision D-202). The disk of the only
 * replica may have been lost meanwhile, so missing events are sent again, under a token that ClickHouse does not know. It waits for all
 * replicas, because one that is away may have the events. Returns whether there may be another batch.
 */
export async function releaseKept(stores: ShipperStores): Promise<boolean> {
  const keptBatch = stores.batches.kept(stores.clickhouse.shard)
  if (!keptBatch || (await isIncomplete(stores.clickhouse))) return false
  const events = await withoutTooOld(
    stores,
    readLines(keptBatch, stores.deadLetters).map(({ event }) => event),
  )
  for (const batch of byMonth(randomUUID(), events)) {
    const missing = new Set(await missingEvents(stores.clickhouse, batch.events))
    const stored = batch.events.filter((event) => !missing.has(event))
    if (!(await areOnTwoReplicas(stores.clickhouse, stored)) || !(await record(stores, batch, [...missing])))
      return false
  }
  stores.shipped.keep(randomUUID(), [], events) // their days may have been rolled up without the missing events
  keptBatch.remove()
  return true
}

function readLines({ lines }: Pick<SpooledBatch, 'lines'>, deadLetters: DeadLetters): SpooledLine[] {
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as SpooledLine]
    } catch (error) {
      deadLetters.put(line, (error as Error).message)
      return []
    }
  })
}

/** Keeps each id once: drops events that were shipped recently, and all but the first within this batch. `keys` has the keys of all. */
function withoutRepeated(lines: readonly SpooledLine[], shipped: Shipped) {
  const keys = new Set<string>()
  const unseen = lines.flatMap(({ event, isRepeatable }) => {
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

/**
 * When ClickHouse refuses a row for its content, halving finds the row; it becomes a dead letter and all others are written. Returns
 * whether it is safe to forget the events: not while only one replica has them.
 */
async function record(stores: ShipperStores, batch: Batch, missing: readonly TrafficEvent[]): Promise<boolean> {
  try {
    const only = await recordBatch(stores.clickhouse, batch, missing)
    if (!only) return true
    // ClickHouse also confirms rows that only another replica has, which may be down. Queries must find these before rows of later batches.
    if ((await missingEvents(only, missing)).length > 0)
      throw new Error('Only a replica that does not answer has the batch')
    return false
  } catch (error) {
    if (!isBadData(error)) throw error
    const [only, ...others] = missing
    if (only && others.length === 0) {
      stores.deadLetters.put(JSON.stringify(only), (error as Error).message)
      return true
    }
    const half = Math.ceil(missing.length / 2)
    let isSafe = true
    for (const part of [missing.slice(0, half), missing.slice(half)]) {
      if (!(await record(stores, { ...batch, events: part }, part))) isSafe = false
    }
    return isSafe
  }
}
