// The measured sites.
import { createHash } from 'node:crypto'
import type { Shape } from '../../src/demo/shape.ts'

export interface BenchSite {
  name: string
  id: string
  domain: string
  /** The approximate number over thirteen months. */
  events: number
}

/** The same at every size, so that only the traffic grows. */
export const whaleShape: Shape = {
  paths: 20_000,
  countries: 120,
  referrers: 2_000,
  utmSources: 40,
  customEvents: 30,
  hostnames: 3,
}

/** Ten per day. */
export const tinyEvents = 4_000

/** How many of a thousand small sites have how many events. */
export const kinds = [
  { events: 200_000, of1000: 10 },
  { events: 40_000, of1000: 90 },
  { events: 10_000, of1000: 400 },
  { events: tinyEvents, of1000: 500 },
]

export const siteOf = (name: string, events: number): BenchSite => ({
  name,
  id: `site_${base32(name)}`,
  domain: `${name.replace('/', '-')}.example`,
  events,
})

/** The largest sites, which are queried most, come first. */
export const smallSites = (count: number): BenchSite[] =>
  kinds.flatMap(({ events, of1000 }) =>
    Array.from({ length: Math.max(1, Math.round((of1000 * count) / 1_000)) }, (_, nth) =>
      siteOf(`${events}-${nth}`, events),
    ),
  )

/** Sixteen characters, as in ids; the same words give the same characters. */
export const base32 = (words: string): string =>
  Array.from(
    createHash('sha256').update(words).digest().subarray(0, 16),
    (byte) => 'abcdefghijklmnopqrstuvwxyz234567'[byte & 31],
  ).join('')
