import { hash } from 'node:crypto'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { type PlannedDay, planDays } from './plan.ts'
import { dayNumber, eventsPerSession } from './sessions.ts'
import { type Shape, shapeOf, tablesOf } from './shape.ts'
import { type Chunk, countEvents, type DemoSite, insertEvents, insertTitles } from './statement.ts'

export interface DemoOptions {
  clickhouse: ClickHouse
  siteId: string
  domain: string
  /** The site's IANA time zone, which decides its days. */
  zone: string
  /** About how many events to make: within two percent from ten thousand on. */
  events: number
  /** The same seed, `until`, zone and number of events give the same site. */
  seed: number
  /** The present in UTC milliseconds. Traffic fills the thirteen months before it. */
  until: number
  /** How varied the site is. Missing values follow from the number of events. */
  shape?: Partial<Shape>
  /** Called at the start and after each step, with about how many events are done and how many were requested. */
  onProgress?: (done: number, total: number) => void
  /** Stops between two steps. The events made so far stay. */
  signal?: AbortSignal
}

export interface DemoSummary {
  events: number
  sessions: number
  days: number
}

/** Fills a site with believable traffic. It adds to existing events: erase the site first to start over. */
export async function generateDemo(options: DemoOptions): Promise<DemoSummary> {
  const { clickhouse, siteId, zone, events, seed, until, onProgress, signal } = options
  for (const [name, value, min] of [
    ['events', events, 1],
    ['seed', seed, 0],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < min)
      throw new RangeError(`${name} must be an integer of at least ${min}`)
  }
  const tables = tablesOf({ ...shapeOf(events), ...options.shape })
  const sessions = Math.max(1, Math.round(events / eventsPerSession))
  const days = planDays({ until, zone, sessions, seed, pushes: tables.pushes }).filter((day) => day.sessions > 0)
  const site = siteOf(options, tables, days)
  const count = async () =>
    (await clickhouse.rowsPatiently<{ events: number }>(countEvents(siteId, days)))[0]?.events ?? 0
  const before = await count()
  onProgress?.(0, events)
  for (const chunk of chunksOf(days, sessions)) {
    signal?.throwIfAborted()
    await clickhouse.run(insertEvents(site, chunk), settings)
    await clickhouse.run(insertTitles(site, chunk.days), settings)
    onProgress?.(Math.round((events * (chunk.firstSession + chunk.sessions)) / sessions), events)
  }
  return { events: (await count()) - before, sessions, days: days.length }
}

// ClickHouse must never send an error after a 200. Two insert threads keep two cores busy; more only make smaller parts.
const settings = { max_insert_threads: '2', wait_end_of_query: 1 } as const

// Large enough to make the fixed cost of a statement negligible, small enough for progress and for memory.
const steps = 10
const fewestSessions = 20_000
const maxSessions = 500_000

/** Sessions are numbered across days, so a chunk may end in the middle of a day. */
function* chunksOf(days: readonly PlannedDay[], total: number): Generator<Chunk> {
  const size = Math.min(maxSessions, Math.max(fewestSessions, Math.ceil(total / steps)))
  for (let firstSession = 0; firstSession < total; firstSession += size) {
    const sessions = Math.min(size, total - firstSession)
    yield {
      firstSession,
      sessions,
      days: days.filter(
        (day) => day.firstSession < firstSession + sessions && day.firstSession + day.sessions > firstSession,
      ),
    }
  }
}

function siteOf(
  { siteId, domain, seed, shape, events }: DemoOptions,
  tables: DemoSite['tables'],
  days: readonly PlannedDay[],
): DemoSite {
  const bare = domain.replace(/^www\./, '')
  const hostnames = shape?.hostnames ?? shapeOf(events).hostnames
  const main = `www.${bare}`
  return {
    siteId,
    hostnames: {
      main,
      blog: hostnames > 1 ? `blog.${bare}` : main,
      shop: hostnames > 2 ? `shop.${bare}` : main,
    },
    seed,
    salt: Number.parseInt(hash('sha256', `${siteId} ${seed}`).slice(0, 12), 16),
    tables,
    pages: {
      pages: tables.pages,
      seed,
      brand: brandOf(bare),
      firstDay: dayNumber(days.at(0)!.date),
      lastDay: dayNumber(days.at(-1)!.date),
    },
  }
}

/** `acme.example` -> Acme. */
const brandOf = (domain: string): string => domain.charAt(0).toUpperCase() + domain.slice(1).replace(/\..*$/, '')
