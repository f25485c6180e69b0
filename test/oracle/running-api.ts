// The oracle's hands: everything it does to the API, so that the check itself knows neither stores nor HTTP.
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import type { CountryCode } from '../../src/traffic/country.ts'
import type { TrafficEvent } from '../../src/traffic/event.ts'
import { connect, createStores, disconnect } from '../support/stores.ts'
import { makeWorld } from '../support/world.ts'
import type { Params } from './params.ts'

export interface Response {
  status: number
  text: string
  header(name: string): string | null
}

export interface OpenSite {
  siteId: string
  record(events: readonly TrafficEvent[]): Promise<void>
  fold(last: string): Promise<void>
  /** Folds all days again. */
  refold(last: string): Promise<void>
  setNow(now: number): void
  /** From now on windows are cut in another zone. */
  moveTo(zone: string): Promise<void>
  unfold(days: readonly string[]): Promise<void>
  sweep(): Promise<unknown>
  /** Counts its open days, as of now. */
  count(): Promise<void>
  get(path: string, params: Params): Promise<Response>
  excludeCountries(countries: readonly CountryCode[]): Promise<void>
  close(): Promise<void>
}

export interface RunningApi {
  openSite(options: { zone: string; now: number; excludedCountries: readonly CountryCode[] }): Promise<OpenSite>
  close(): Promise<void>
}

/** The real API on real stores. All sites share them, so what leaks from one to another is a difference. */
export async function startRunningApi(): Promise<RunningApi> {
  const created = await createStores()
  const stores = connect(created.addresses)
  return {
    async openSite({ zone, now, excludedCountries }) {
      const world = await makeWorld(stores, {
        zone,
        now: new Date(now).toISOString(),
        excludedCountries: [...excludedCountries],
        // The rate limit has tests of its own; this one never stands in the way.
        limiter: memoryLimiter(() => now),
      })
      return {
        siteId: world.siteId,
        async record(events) {
          if (events.length > 0) await world.recordEvents(events)
        },
        fold: world.fold,
        refold: world.refold,
        setNow: (at) => world.setNow(new Date(at).toISOString()),
        moveTo: world.moveTo,
        unfold: (days) => world.unfold(...days),
        sweep: world.sweep,
        count: world.foldOpenDays,
        async get(path, params) {
          const query = new URLSearchParams(params.map(([name, value]) => [name, value])).toString()
          const { status, text, headers } = await world.get(path, query)
          return { status, text, header: (name) => headers.get(name) }
        },
        excludeCountries: (countries) => world.excludeCountries([...countries]),
        close: () => world.close(),
      }
    },
    async close() {
      await disconnect(stores)
      await created.remove()
    },
  }
}
