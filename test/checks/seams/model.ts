// What an installation must answer, kept outside all stores: the settings that PostgreSQL has and the events that ClickHouse has. The two are
// separate, because each can be set back to another moment.
import type { CountryCode } from '../../../src/traffic/country.ts'
import type { TrafficEvent } from '../../../src/traffic/event.ts'
import type { Goal } from '../../../src/traffic/goals.ts'
import type { Imported } from '../oracle/imported.ts'
import type { NamedSite } from '../oracle/model.ts'
import { sumLists, sumsOfFile } from './sum-files.ts'

export interface SiteSettings {
  id: string
  domain: string
  zone: string
  excludedCountries: readonly CountryCode[]
  /** By name. */
  goals: readonly Goal[]
  key: string
}

export interface Settings {
  sites: readonly SiteSettings[]
  /** Ids of sites that were deleted. */
  deleted: readonly string[]
  /** Files whose import has ended, as `site file`. */
  imported: readonly string[]
  /** Imports of daily sums that have ended and were not undone. */
  sums: readonly ImportOfSums[]
  /** Nothing is written for earlier days. */
  eventsFrom: string
}

export interface ImportOfSums {
  siteId: string
  /** Which file. */
  number: number
  importId: string
  /** Of its rows: an import that is done again writes others. */
  version: string
}

export interface Traffic {
  /** By site. Those that retention has dropped count as well. */
  events: ReadonlyMap<string, readonly TrafficEvent[]>
  /** Imports of daily sums whose rows are there. */
  sums: readonly ImportOfSums[]
  /** As it is noted in ClickHouse. */
  eventsFrom: string
}

export interface Model {
  settings: Settings
  traffic: Traffic
}

export const nothing: Model = {
  settings: { sites: [], deleted: [], imported: [], sums: [], eventsFrom: '1970-01-01' },
  traffic: { events: new Map(), sums: [], eventsFrom: '1970-01-01' },
}

/** What the oracle's model needs to know about each site. */
export const sitesOf = ({ settings, traffic }: Model): (NamedSite & Pick<SiteSettings, 'key' | 'goals'>)[] =>
  settings.sites.map(({ id, ...site }) => ({
    siteId: id,
    ...site,
    events: traffic.events.get(id) ?? [],
    imported: importedOf(id, settings, traffic),
  }))

/** Days are those that PostgreSQL knows. Without the rows of a ClickHouse that is older, they have no numbers. */
function importedOf(siteId: string, settings: Settings, traffic: Traffic): Imported | undefined {
  const known = settings.sums.filter((one) => one.siteId === siteId)
  if (known.length === 0) return undefined
  const isThere = ({ version }: ImportOfSums) => traffic.sums.some((one) => one.version === version)
  const files = known.map((one) => ({ ...sumsOfFile(one.number), isThere: isThere(one) }))
  return {
    days: files.flatMap(({ days }) => days),
    lists: sumLists,
    rows: files.flatMap(({ rows, isThere }) => (isThere ? rows : [])),
    files: {},
  }
}

/** Sites that have traffic, and that PostgreSQL does not know because it is a copy from before they were created. */
export const unknownIn = ({ settings: { sites, deleted }, traffic }: Model): string[] =>
  [...traffic.events]
    .filter(([, events]) => events.length > 0)
    .map(([id]) => id)
    .concat(traffic.sums.map(({ siteId }) => siteId))
    .filter(
      (id, index, all) => all.indexOf(id) === index && !deleted.includes(id) && !sites.some((site) => site.id === id),
    )
    .sort()

/** Events that were accepted. Those that ClickHouse has, and those of days that are not kept, do not count again. */
export function withEvents({ settings, traffic }: Model, added: readonly TrafficEvent[]): Model {
  const events = new Map(traffic.events)
  for (const [siteId, some] of Map.groupBy(added, (event) => event.siteId)) {
    if (settings.deleted.includes(siteId)) continue
    const known = events.get(siteId) ?? []
    const ids = new Set(known.map(({ eventId }) => eventId))
    const more = some.filter(({ eventId, day }) => !ids.has(eventId) && day >= settings.eventsFrom)
    events.set(siteId, [...known, ...more])
  }
  return { settings, traffic: { ...traffic, events } }
}

export const withRetention = ({ settings, traffic }: Model, eventsFrom: string): Model => ({
  settings: { ...settings, eventsFrom },
  traffic: { ...traffic, eventsFrom },
})

/** The two were of different moments. What one of them knows about retention holds, and rows of deleted sites are erased again. */
export function restored(settings: Settings, traffic: Traffic): Model {
  const events = new Map([...traffic.events].filter(([id]) => !settings.deleted.includes(id)))
  const eventsFrom = [settings.eventsFrom, traffic.eventsFrom].sort().at(-1) as string
  const sums = traffic.sums.filter(({ siteId }) => !settings.deleted.includes(siteId))
  return withRetention({ settings, traffic: { ...traffic, events, sums } }, eventsFrom)
}

export function withSite(settings: Settings, changed: SiteSettings): Settings {
  return { ...settings, sites: settings.sites.map((site) => (site.id === changed.id ? changed : site)) }
}
