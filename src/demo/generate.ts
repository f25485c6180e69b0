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
  /** The site's IANA time zone: whose days count. */
  zone: string
  /** About how many to make: within two percent from ten thousand on. */
  events: number
  /** The same seed, present, zone and number of events give the same site. */
  seed: number
  /** The present, UTC milliseconds: traffic fills the thirteen months before it. */
  until: number
  /** How varied the site is; what is left out follows from the number of events. */
  shape?: Partial<Shape>
  /** At the start and after each step, about how many events are made, of all that were asked for. */
  onProgress?: (done: number, total: number) => void
  /** Ends the work between two steps; what was made stays. */
  signal?: AbortSignal
}

export interface DemoSummary {
  events: number
  sessions: number
  days: number
}

/** Fills a site with believable traffic. It adds to what is there: erase the site first to begin again. */
export async function generateDemo(options: DemoOptions): Promise<DemoSummary> {
  const { clickhouse, siteId, zone, events, seed, until, onProgress, signal } = options
  for (const [name, value, least] of [
    ['events', events, 1],
    ['seed', seed, 0],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < least) throw new RangeError(`${name} must be an integer from ${least}`)
  }
  const tables = tablesOf({ ...shapeOf(events), ...options.shape })
  const sessions = Math.max(1, Math.round(events / eventsPerSession))
  const days = planDays({ until, zone, sessions, seed, pushes: tables.pushes }).filter((day) => day.sessions > 0)
  const site = siteOf(options, tables, days)
  let made = 0
  onProgress?.(0, events)
  for (const chunk of chunksOf(days, sessions, `${siteId} ${seed} ${until}`)) {
    signal?.throwIfAborted()
    await clickhouse.run(insertEvents(site, chunk), settings)
    await clickhouse.run(insertTitles(siteId, chunk), settings)
    const [counted] = await clickhouse.rowsPatiently<{ events: number }>(countEvents(siteId, chunk))
    made += counted?.events ?? 0
    onProgress?.(Math.round((events * (chunk.firstSession + chunk.sessions)) / sessions), events)
  }
  return { events: made, sessions, days: days.length }
}

// An error must never arrive after a 200 has begun. Two writers keep two cores busy; more only make smaller parts.
const settings = { max_insert_threads: '2', wait_end_of_query: 1 } as const

// Large enough that what each statement does once does not count, small enough for progress and for memory.
const steps = 10
const fewestSessions = 20_000
const mostSessions = 500_000

/** Sessions are numbered through, so a chunk may end in the middle of a day. */
function* chunksOf(days: readonly PlannedDay[], total: number, name: string): Generator<Chunk> {
  const size = Math.min(mostSessions, Math.max(fewestSessions, Math.ceil(total / steps)))
  for (let firstSession = 0; firstSession < total; firstSession += size) {
    const sessions = Math.min(size, total - firstSession)
    yield {
      firstSession,
      sessions,
      days: days.filter(
        (day) => day.firstSession < firstSession + sessions && day.firstSession + day.sessions > firstSession,
      ),
      batchId: uuidOf(`${name} ${firstSession}`),
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

const uuidOf = (name: string): string =>
  hash('sha256', name)
    .slice(0, 32)
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
