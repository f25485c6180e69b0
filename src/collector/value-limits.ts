// How many different values a site may have (decision D-155). Anybody can send events, and every value is a row in many lists for ever:
// beyond the limit a new value is recorded as `(other)`, while values that the site had before keep their names. In memory, and at
// once: every event passes here.
import { setImmediate as pause } from 'node:timers/promises'
import { createHashSet, type HashSet } from './hash-set.ts'

/** What stands for a value that is not recorded. No path and no host can be called so; whoever sends it as a name is in the same row. */
export const other = '(other)'

export const limitedColumns = ['path', 'referrer', 'source', 'hostname', 'event'] as const
export type LimitedColumn = (typeof limitedColumns)[number]

interface Limit {
  /** Values of the last days that keep their names, those with the most events first. */
  known: number
  /** New values of a day. One of more than 100 characters counts as several: what it costs is its length. */
  fresh: number
}

export type ValueLimits = Readonly<Record<LimitedColumn, Limit>>

/** In honest traffic of a site with 160,000 events a day there are 14,000 paths, 1,250 referrers, 40 sources and 30 event names. */
const standardLimits: ValueLimits = {
  // The largest honest site has 20,000 different paths a day; on its first day all of them are new.
  path: { known: 100_000, fresh: 30_000 },
  referrer: { known: 20_000, fresh: 5_000 },
  // Every other list is stored for each source too, so one costs the most; links are tagged by hand or by campaign.
  source: { known: 10_000, fresh: 2_000 },
  // Only where subdomains are allowed: a shop for each customer.
  hostname: { known: 10_000, fresh: 1_000 },
  // Written in the site's own code.
  event: { known: 5_000, fresh: 1_000 },
}

/** Fewer events than this a day cannot be too many values: of most sites nothing but a number is remembered. */
const standardLimitedFrom = 5_000
/** Of all sites together: some 40 MB. Beyond it the site without events for the longest time is forgotten, and begins anew. */
const mostValues = 2_000_000
const mostSites = 100_000
const charactersOfOne = 100
const retryMs = 30_000
const sweepMs = 600_000
const rowsAtOnce = 2_000

/** A value of the last days; `isNew` if it came today for the first time. */
export interface EarlierValue {
  value: string
  isNew: boolean
}

/** The values of a site on one day. */
export interface LimitedDay {
  /** The value as it may be recorded. An empty one is none. */
  nameOf(column: LimitedColumn, value: string): string
}

export interface ValueLimiter {
  /** Counts an event; undefined as long as its values may be what they are. */
  ofEvent(siteId: string, day: string): LimitedDay | undefined
  size(): { sites: number; values: number }
  close(): void
}

export interface ValueLimiterOptions {
  readEarlier(siteId: string, day: string, column: LimitedColumn, most: number): Promise<EarlierValue[]>
  onReplaced(column: LimitedColumn): void
  onUnread(error: Error): void
  limits?: ValueLimits
  limitedFrom?: number
  mostValues?: number
  now?(): number
}

interface Counted {
  day: string
  events: number
  /** When its earlier values are to be read; never again while they are. */
  readAt: number
}

interface Column {
  values: HashSet
  left: number
}

interface Watched extends LimitedDay {
  day: string
  columns: Record<LimitedColumn, Column>
}

export function openValueLimiter(options: ValueLimiterOptions): ValueLimiter {
  const { readEarlier, onReplaced, onUnread, limits = standardLimits, limitedFrom = standardLimitedFrom } = options
  const { now = Date.now } = options
  const most = options.mostValues ?? mostValues
  // Both in the order of their last events as soon as they are half full.
  const counted = new Map<string, Counted>()
  const watched = new Map<string, Watched>()
  let values = 0
  let turn = Promise.resolve()

  function countEvent(siteId: string, day: string): void {
    const before = counted.get(siteId)
    const count = before && before.day >= day ? before : { day, events: 0, readAt: 0 }
    if (counted.size > mostSites / 2) counted.delete(siteId)
    counted.set(siteId, count)
    if (counted.size > mostSites) counted.delete(counted.keys().next().value as string)
    count.events++
    if (count.events < limitedFrom || now() < count.readAt) return
    count.readAt = Number.POSITIVE_INFINITY
    // One site at a time: an attack on many must not be one on ClickHouse.
    turn = turn.then(() => watch(siteId, count.day, count))
  }

  /** Until then new values pass: without knowing the earlier ones, an attacker could use up the day for them. */
  async function watch(siteId: string, day: string, count: Counted): Promise<void> {
    if (counted.get(siteId) !== count) return
    try {
      const columns = {} as Record<LimitedColumn, Column>
      for (const column of limitedColumns) {
        const { known, fresh } = limits[column]
        columns[column] = await columnOf(await readEarlier(siteId, day, column, known + fresh), fresh)
      }
      if (counted.get(siteId) !== count) return
      counted.delete(siteId)
      watched.set(siteId, { day, columns, nameOf: (column, value) => nameOf(columns[column], column, value) })
      for (const column of limitedColumns) values += columns[column].values.size()
      makeRoom(siteId)
    } catch (error) {
      count.readAt = now() + retryMs
      onUnread(error as Error)
    }
  }

  function nameOf(known: Column, column: LimitedColumn, value: string): string {
    if (value === '' || known.values.has(value)) return value
    const cost = costOf(value)
    if (cost > known.left) {
      onReplaced(column)
      return other
    }
    known.left -= cost
    known.values.add(value)
    values++
    return value
  }

  function makeRoom(kept: string): void {
    for (const siteId of watched.keys()) {
      if (values <= most) return
      if (siteId !== kept) forget(siteId)
    }
  }

  function forget(siteId: string): void {
    for (const { values: set } of Object.values(watched.get(siteId)?.columns ?? {})) values -= set.size()
    watched.delete(siteId)
  }

  /** Days that are over in every zone. */
  function sweep(): void {
    const oldest = new Date(now() - 12 * 3_600_000).toISOString().slice(0, 10)
    for (const [siteId, { day }] of counted) if (day < oldest) counted.delete(siteId)
    for (const [siteId, { day }] of watched) if (day < oldest) forget(siteId)
  }

  const timer = setInterval(sweep, sweepMs).unref()
  return {
    ofEvent(siteId, day) {
      const known = watched.get(siteId)
      // One that waited for a salt over midnight must not begin yesterday again.
      if (known && day < known.day) return undefined
      if (known?.day === day) {
        if (2 * values > most) {
          watched.delete(siteId)
          watched.set(siteId, known)
          makeRoom(siteId)
        }
        return known
      }
      if (known) forget(siteId)
      countEvent(siteId, day)
      return undefined
    },
    size: () => ({ sites: counted.size + watched.size, values }),
    close: () => clearInterval(timer),
  }
}

async function columnOf(earlier: readonly EarlierValue[], fresh: number): Promise<Column> {
  const values = createHashSet()
  let used = 0
  for (let from = 0; from < earlier.length; from += rowsAtOnce) {
    for (const { value, isNew } of earlier.slice(from, from + rowsAtOnce)) {
      if (values.add(value) && isNew) used += costOf(value)
    }
    await pause() // hits come first
  }
  return { values, left: Math.max(0, fresh - used) }
}

const costOf = (value: string): number => Math.ceil(value.length / charactersOfOne)
