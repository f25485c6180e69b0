// From the spool into the engine: exactly once, whatever ends in between (decisions D-96 and D-97).
import { hash } from 'node:crypto'
import { type ClickHouse, isBadData } from '../../stores/clickhouse.ts'
import { eraseSite } from '../../traffic/erasure.ts'
import type { TrafficEvent } from '../../traffic/event.ts'
import type { SiteDay } from '../../traffic/late-days.ts'
import { type Batch, recordBatch, recordedIds } from '../../traffic/recording.ts'
import { dayIn } from '../calendar.ts'
import type { Taken } from '../intake.ts'
import type { Batches, SpooledBatch } from './batches.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { RecentIds } from './recent-ids.ts'

export interface ShipperStores {
  clickhouse: ClickHouse
  noteLateDays(days: readonly SiteDay[]): Promise<void>
  /** Undefined when nobody answered. */
  deletedAmong(siteIds: readonly string[]): Promise<readonly string[] | undefined>
  /** Sites of batches that were shipped without an answer to that. */
  unasked: Set<string>
  eventsKeptFrom(): Promise<string>
  batches: Batches
  deadLetters: DeadLetters
  recentIds: RecentIds
  now(): number
}

export interface Shipment {
  events: number
  repeated: number
  /** Erased again, because their site was deleted while they were on their way. */
  orphaned: number
  /** Left out because events of their days are no longer kept (decision D-80): they lay in the spool for years. */
  tooOld: number
  /** When the oldest of them was recorded. */
  oldest: number
}

/** Ships the next batch and forgets it; undefined when there is none. Throws when it has to be tried again. */
export async function shipNext(stores: ShipperStores, isRetry: boolean): Promise<Shipment | undefined> {
  const spooled = stores.batches.next()
  if (!spooled) return undefined
  const taken = readLines(spooled, stores.deadLetters)
  const repeatable = taken.filter(({ isRepeatable }) => isRepeatable).map(({ event }) => event)
  const ownIds = byMonth(
    spooled.id,
    taken.map(({ event }) => event),
  ).map(({ id }) => id)
  const siteIds = repeatable.map(({ siteId }) => siteId)
  await stores.recentIds.learn(stores.clickhouse, siteIds, ownIds, stores.now())
  const late = lateDays(taken, stores.now())
  const keptFrom = late.length > 0 ? await stores.eventsKeptFrom() : ''
  const unseen = withoutRepeated(taken, stores.recentIds)
  const events = unseen.filter(({ day }) => day >= keptFrom)
  for (const batch of byMonth(spooled.id, events)) {
    // Any doubt whether it went out before: look first, and send only what is missing.
    if (spooled.isRepeated || isRetry) await recordMissing(stores, batch)
    else await record(stores, batch)
  }
  // While it is still in the spool: whatever ends in between, they are noted again.
  if (late.length > 0) await stores.noteLateDays(late)
  const orphaned = await eraseOrphans(stores, events)
  spooled.remove()
  stores.recentIds.add(repeatable)
  const oldest = taken.reduce((least, { event }) => Math.min(least, event.time), stores.now())
  return {
    events: events.length,
    repeated: taken.length - unseen.length,
    tooOld: unseen.length - events.length,
    orphaned,
    oldest,
  }
}

/** Asked once they are in the engine: whoever deletes the site later than that erases them with it. */
async function eraseOrphans(stores: ShipperStores, events: readonly TrafficEvent[]): Promise<number> {
  for (const { siteId } of events) stores.unasked.add(siteId)
  const answer = await stores.deletedAmong([...stores.unasked])
  if (!answer) return 0
  const deleted = new Set(answer)
  for (const siteId of deleted) await eraseSite(stores.clickhouse, siteId)
  stores.unasked.clear()
  return events.filter(({ siteId }) => deleted.has(siteId)).length
}

function readLines({ lines }: SpooledBatch, deadLetters: DeadLetters): Taken[] {
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as Taken]
    } catch (error) {
      deadLetters.put(line, (error as Error).message)
      return []
    }
  })
}

/** Each id once: what was shipped lately goes, and of two in this batch the first stays. */
function withoutRepeated(taken: readonly Taken[], recent: RecentIds): TrafficEvent[] {
  const seen = new Set<string>()
  return taken.flatMap(({ event, isRepeatable }) => {
    if (!isRepeatable) return [event]
    const key = event.siteId + event.eventId
    if (seen.has(key) || recent.has(event)) return []
    seen.add(key)
    return [event]
  })
}

/** One partition each, so that an insert is taken whole or not at all. Ids follow from the batch's, so they are the same again. */
function byMonth(id: string, events: readonly TrafficEvent[]): Batch[] {
  const months = Map.groupBy(events, ({ day }) => day.slice(0, 7))
  return [...months].map(([month, some]) => ({ id: uuidOf(`${id} ${month}`), events: some }))
}

function uuidOf(text: string): string {
  const hex = hash('sha256', text)
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}

async function recordMissing(stores: ShipperStores, batch: Batch): Promise<void> {
  const there = await recordedIds(stores.clickhouse, batch)
  const missing = batch.events.filter(({ eventId }) => !there.has(eventId))
  // With nothing missing this writes the titles again, which changes nothing: they may not have come as far.
  await record(stores, { ...batch, events: batch.events }, missing)
}

/** A row that the engine refuses for what it holds is found by halving and put aside; all others go in. */
async function record(stores: ShipperStores, batch: Batch, missing = batch.events): Promise<void> {
  try {
    await recordBatch(stores.clickhouse, batch, missing)
  } catch (error) {
    if (!isBadData(error)) throw error
    const [only, ...others] = missing
    if (only && others.length === 0) return stores.deadLetters.put(JSON.stringify(only), (error as Error).message)
    const half = Math.ceil(missing.length / 2)
    for (const part of [missing.slice(0, half), missing.slice(half)]) await record(stores, { ...batch, events: part })
  }
}

function lateDays(taken: readonly Taken[], now: number): SiteDay[] {
  const late = new Map<string, SiteDay>()
  for (const { event, zone } of taken) {
    const { siteId, day } = event
    if (day < dayIn(zone, now)) late.set(`${siteId} ${day}`, { siteId, day })
  }
  return [...late.values()]
}
