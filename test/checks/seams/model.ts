// What an installation must answer, kept outside all stores: the settings that PostgreSQL has and the events that ClickHouse has. The two are
// separate, because each can be set back to another moment.
import type { CountryCode } from '../../../src/traffic/country.ts'
import type { TrafficEvent } from '../../../src/traffic/event.ts'
import type { NamedSite } from '../oracle/model.ts'

export interface SiteSettings {
  id: string
  domain: string
  zone: string
  excludedCountries: readonly CountryCode[]
  key: string
}

export interface Settings {
  sites: readonly SiteSettings[]
  /** Files whose import has ended, as `site file`. */
  imported: readonly string[]
}

export interface Traffic {
  /** By site. Those that retention has dropped count as well. */
  events: ReadonlyMap<string, readonly TrafficEvent[]>
  /** Nothing is written for earlier days. */
  eventsFrom: string
}

export interface Model {
  settings: Settings
  traffic: Traffic
}

export const nothing: Model = {
  settings: { sites: [], imported: [] },
  traffic: { events: new Map(), eventsFrom: '1970-01-01' },
}

/** What the oracle's model needs to know about each site. */
export const sitesOf = ({ settings, traffic }: Model): (NamedSite & { key: string })[] =>
  settings.sites.map(({ id, ...site }) => ({ siteId: id, ...site, events: traffic.events.get(id) ?? [] }))

/** Events that were accepted. Those that ClickHouse has, and those of days that are not kept, do not count again. */
export function withEvents({ events, eventsFrom }: Traffic, added: readonly TrafficEvent[]): Traffic {
  const all = new Map(events)
  for (const [siteId, some] of Map.groupBy(added, (event) => event.siteId)) {
    const known = all.get(siteId) ?? []
    const ids = new Set(known.map(({ eventId }) => eventId))
    all.set(siteId, [...known, ...some.filter(({ eventId, day }) => !ids.has(eventId) && day >= eventsFrom)])
  }
  return { events: all, eventsFrom }
}

export function withSite(settings: Settings, changed: SiteSettings): Settings {
  return { ...settings, sites: settings.sites.map((site) => (site.id === changed.id ? changed : site)) }
}
