// Limits how many different values a site may record (decision D-155). Anybody can send events, and every value is a row in many lists
// for ever. Beyond the limit a new value is recorded as `(other)`; values that the site had before keep their names. Synchronous and in
// memory, because every event passes here.
import { setImmediate as pause } from 'node:timers/promises'
import { hourMs, minuteMs } from '../../durations.ts'
import { createHashSet, type HashSet } from './hash-set.ts'

/** Replaces a value over the limit. No path or host can have this name; an event sent with this name shares the row. */
export const other = '(other)'

export const limitedColumns = [
  'path',
  'referrer',
  'source',
  'medium',
  'campaign',
  'content',
  'term',
  'hostname',
  'event',
  'property_key',
  /** A key and a value: `plan=pro`. */
  'property',
] as const
export type LimitedColumn = (typeof limitedColumns)[number]

interface Limit {
  /** How many values of the last days keep their names, those with the most events first. */
  maxEarlier: number
  /** How many new values a day may add. A value of more than 100 characters counts as several, because its cost grows with its length. */
  maxNew: number
  /** `maxNew` is for all days together: earlier values use it up too. */
  isForAllDays?: true
}

type ValueLimits = Readonly<Record<LimitedColumn, Limit>>

/** Normal traffic of a site with 160,000 events per day has 14,000 paths, 1,250 referrers, 40 sources and 30 event names. */
const standardLimits: ValueLimits = {
  // The largest known site has 20,000 different paths per day; on its first day all of them are new.
  path: { maxEarlier: 100_000, maxNew: 30_000 },
  referrer: { maxEarlier: 20_000, maxNew: 5_000 },
  // Every other list is also stored per source, so a source costs the most. Links are tagged by hand or by campaign.
  source: { maxEarlier: 10_000, maxNew: 2_000 },
  medium: { maxEarlier: 5_000, maxNew: 500 },
  campaign: { maxEarlier: 10_000, maxNew: 2_000 },
  content: { maxEarlier: 10_000, maxNew: 2_000 },
  // Search words are the most varied of the tags.
  term: { maxEarlier: 20_000, maxNew: 5_000 },
  // Many only where subdomains are allowed, for example one shop per customer.
  hostname: { maxEarlier: 10_000, maxNew: 1_000 },
  // Event names are written in the site's own code.
  event: { maxEarlier: 5_000, maxNew: 1_000 },
  property_key: { maxEarlier: 300, maxNew: 300, isForAllDays: true },
  property: { maxEarlier: 50_000, maxNew: 10_000 },
}

/** A site with fewer events and properties per day cannot have too many values, so for most sites only a counter is kept. */
const standardLimitedFrom = 5_000
/** For all sites together, about 40 MB. Above this number the site that was silent longest is forgotten and starts again. */
const maxValues = 2_000_000
const maxSites = 100_000
const charactersOfOne = 100
const retryMs = 30_000
const sweepMs = 10 * minuteMs
const rowsAtOnce = 2_000

/** A value of the last days. `isNew`: it came today for the first time. */
export interface EarlierValue {
  value: string
  isNew: boolean
}

/** The values that a site may record on one day. */
export interface LimitedDay {
  /** The value to record: itself or `(other)`. Empty values have no limit. */
  nameOf(column: LimitedColumn, value: string): string
}

export interface ValueLimiter {
  /** Counts an event and its properties. Returns undefined while the site's values are not limited. */
  ofEvent(siteId: string, day: string, properties?: number): LimitedDay | undefined
  size(): { sites: number; values: number }
  close(): void
}

export interface ValueLimiterOptions {
  readEarlier(siteId: string, day: string, column: LimitedColumn, max: number): Promise<EarlierValue[]>
  onReplaced(column: LimitedColumn): void
  onUnread(error: Error): void
  limits?: ValueLimits
  limitedFrom?: number
  maxValues?: number
  now?(): number
}

interface Counted {
  day: string
  /** Events, and properties of events. */
  count: number
}

interface Column {
  values: HashSet
  left: number
}

interface Watched extends LimitedDay {
  day: string
  columns: Record<LimitedColumn, Column>
  /** When to read the site's earlier values; infinity while they are being read and after that. */
  readAt: number
}

export function openValueLimiter(options: ValueLimiterOptions): ValueLimiter {
  const { readEarlier, onReplaced, onUnread, limits = standardLimits, limitedFrom = standardLimitedFrom } = options
  const { now = Date.now } = options
  const max = options.maxValues ?? maxValues
  // Both are ordered by last event once they are half full. They are not an lru-cache: a watched site grows in place, which its `maxSize`
  // does not see, and for the counts it would allocate 2.8 MB at the start to save two lines.
  const counted = new Map<string, Counted>()
  const watched = new Map<string, Watched>()
  let values = 0
  let turn = Promise.resolve()

  /** True when the site has so many events today that its values are limited. */
  function countEvent(siteId: string, day: string, properties: number): boolean {
    const before = counted.get(siteId)
    const site = before && before.day >= day ? before : { day, count: 0 }
    if (counted.size > maxSites / 2) counted.delete(siteId)
    counted.set(siteId, site)
    if (counted.size > maxSites) counted.delete(counted.keys().next().value as string)
    site.count += 1 + properties
    return site.count >= limitedFrom
  }

  /**
   * Until the earlier values are read, every value counts as new, and twice as many are allowed: more than a normal site has in a day, so
   * that only an attack in this short time can replace a page.
   */
  function watch(siteId: string, day: string): Watched {
    const columns = {} as Watched['columns']
    for (const column of limitedColumns) columns[column] = { values: createHashSet(), left: 2 * limits[column].maxNew }
    const site: Watched = {
      day,
      columns,
      readAt: 0,
      nameOf: (column, value) => nameOf(site.columns[column], column, value),
    }
    counted.delete(siteId)
    watched.set(siteId, site)
    return site
  }

  async function read(siteId: string, site: Watched): Promise<void> {
    if (watched.get(siteId) !== site) return
    try {
      const columns = {} as Watched['columns']
      for (const column of limitedColumns) {
        const { maxEarlier, maxNew } = limits[column]
        columns[column] = await columnOf(
          await readEarlier(siteId, site.day, column, maxEarlier + maxNew),
          limits[column],
        )
      }
      if (watched.get(siteId) !== site) return
      values += sizeOf(columns) - sizeOf(site.columns)
      site.columns = columns
      makeRoom(siteId)
    } catch (error) {
      site.readAt = now() + retryMs
      onUnread(error as Error)
    }
  }

  function nameOf(column: Column, name: LimitedColumn, value: string): string {
    if (value === '' || column.values.has(value)) return value
    const cost = costOf(value)
    if (cost > column.left) {
      onReplaced(name)
      return other
    }
    column.left -= cost
    column.values.add(value)
    values++
    return value
  }

  function makeRoom(currentSiteId: string): void {
    for (const siteId of watched.keys()) {
      if (values <= max) return
      if (siteId !== currentSiteId) forget(siteId)
    }
  }

  function forget(siteId: string): void {
    const site = watched.get(siteId)
    if (site) values -= sizeOf(site.columns)
    watched.delete(siteId)
  }

  /** Forgets days that are over in every zone. */
  function sweep(): void {
    const oldest = new Date(now() - 12 * hourMs).toISOString().slice(0, 10)
    for (const [siteId, { day }] of counted) if (day < oldest) counted.delete(siteId)
    for (const [siteId, { day }] of watched) if (day < oldest) forget(siteId)
  }

  const timer = setInterval(sweep, sweepMs).unref()
  return {
    ofEvent(siteId, day, properties = 0) {
      let site = watched.get(siteId)
      // An event that waited for its salt over midnight must not start yesterday again.
      if (site && day < site.day) return undefined
      if (site && site.day !== day) {
        forget(siteId)
        site = undefined
      }
      if (!site && !countEvent(siteId, day, properties)) return undefined
      site ??= watch(siteId, day)
      if (2 * values > max) {
        watched.delete(siteId)
        watched.set(siteId, site)
        makeRoom(siteId)
      }
      if (site.readAt <= now()) {
        site.readAt = Number.POSITIVE_INFINITY
        const due = site
        // One site at a time, so that an attack on many sites does not overload ClickHouse.
        turn = turn.then(() => read(siteId, due))
      }
      return site
    },
    size: () => ({ sites: counted.size + watched.size, values }),
    close: () => clearInterval(timer),
  }
}

async function columnOf(earlier: readonly EarlierValue[], { maxNew, isForAllDays }: Limit): Promise<Column> {
  const values = createHashSet()
  let used = 0
  for (let from = 0; from < earlier.length; from += rowsAtOnce) {
    for (const { value, isNew } of earlier.slice(from, from + rowsAtOnce)) {
      if (values.add(value) && (isNew || isForAllDays)) used += costOf(value)
    }
    await pause() // hits come first
  }
  return { values, left: Math.max(0, maxNew - used) }
}

const sizeOf = (columns: Watched['columns']): number =>
  limitedColumns.reduce((sum, column) => sum + columns[column].values.size(), 0)

const costOf = (value: string): number => Math.ceil(value.length / charactersOfOne)
