// From the spool into the engine: exactly once, whatever ends in between (decisions D-96 and D-97).
import { hash } from 'node:crypto'
import { type ClickHouse, isBadData } from '../../stores/clickhouse.ts'
import type { TrafficEvent } from '../../traffic/event.ts'
import { type Batch, missingOf, recordBatch } from '../../traffic/recording.ts'
import type { Taken } from '../intake.ts'
import type { Batches, SpooledBatch } from './batches.ts'
import type { DeadLetters } from './dead-letters.ts'
import { keyOf, type Shipped } from './shipped.ts'

export interface ShipperStores {
  clickhouse: ClickHouse
  eventsKeptFrom(): Promise<string>
  batches: Batches
  deadLetters: DeadLetters
  shipped: Shipped
  now(): number
}

export interface Shipment {
  events: number
  repeated: number
  /** Left out because events of their days are no longer kept (decision D-80): they lay in the spool for years. */
  tooOld: number
}

/** Events of so many days are kept everywhere: a retention has 25 months or more. */
const surelyKeptMs = 700 * 86_400_000

/** Ships the next batch and forgets it; undefined when there is none. Throws when it has to be tried again. */
export async function shipNext(stores: ShipperStores, isRetry: boolean): Promise<Shipment | undefined> {
  const { batches, shipped } = stores
  const spooled = batches.next()
  if (!spooled) return undefined
  const taken = readLines(spooled, stores.deadLetters)
  if (shipped.hasBatch(spooled.id)) {
    spooled.remove()
    return { events: taken.length, repeated: 0, tooOld: 0 }
  }
  const { keys, unseen } = withoutRepeated(taken, shipped)
  const events = await withoutTooOld(stores, unseen)
  for (const batch of byMonth(spooled.id, events)) {
    // Any doubt whether it went out before: look first, and send only what is missing. With nothing missing this writes the titles
    // again, which changes nothing: they may not have come as far.
    await record(
      stores,
      batch,
      spooled.isRepeated || isRetry ? await missingOf(stores.clickhouse, batch) : batch.events,
    )
  }
  shipped.keep(spooled.id, keys, events)
  spooled.remove()
  return { events: events.length, repeated: taken.length - unseen.length, tooOld: unseen.length - events.length }
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

/** Each id once: what was shipped lately goes, and of two in this batch the first stays. `keys` are those of all of them. */
function withoutRepeated(taken: readonly Taken[], shipped: Shipped) {
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

/** PostgreSQL knows from which day on events are kept, and is asked only about days that are old enough: it may be down. */
async function withoutTooOld(stores: ShipperStores, events: TrafficEvent[]): Promise<TrafficEvent[]> {
  const surelyKeptFrom = new Date(stores.now() - surelyKeptMs).toISOString().slice(0, 10)
  if (events.every(({ day }) => day >= surelyKeptFrom)) return events
  const keptFrom = await stores.eventsKeptFrom()
  return events.filter(({ day }) => day >= keptFrom)
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

/** A row that the engine refuses for what it holds is found by halving and put aside; all others go in. */
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
