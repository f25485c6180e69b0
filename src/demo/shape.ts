// How varied a site is, and the tables of words.ts cut to that size.
import { topPosts } from './pages.ts'
import {
  type CustomEvent,
  campaigns,
  countries,
  customEvents,
  mainPages,
  type Source,
  sources,
  viralReferrers,
} from './words.ts'

export interface Shape {
  paths: number
  countries: number
  referrers: number
  utmSources: number
  customEvents: number
  /** 1 for `www.`, 2 with `blog.`, 3 with `shop.`. */
  hostnames: number
}

const small: Shape = { paths: 80, countries: 30, referrers: 40, utmSources: 10, customEvents: 5, hostnames: 2 }
const whale: Shape = { paths: 20_000, countries: 120, referrers: 2_000, utmSources: 40, customEvents: 30, hostnames: 3 }

/** Interpolates by ratio between a small site of ten thousand events and a whale of a hundred million. */
export function shapeOf(events: number): Shape {
  const size = Math.min(1, Math.max(0, (Math.log10(events) - 4) / 4))
  const between = (name: keyof Shape) => Math.round(small[name] * (whale[name] / small[name]) ** size)
  return {
    paths: between('paths'),
    countries: between('countries'),
    referrers: between('referrers'),
    utmSources: between('utmSources'),
    customEvents: between('customEvents'),
    hostnames: between('hostnames'),
  }
}

/** The possible sources (rows of `sources`) and targets (pages) of pushes. Both are counted from 1, as in ClickHouse. */
export interface Pushes {
  campaigns: readonly { source: number; page: number }[]
  viralSources: readonly number[]
  /** Pages that may go viral or trend for a week. */
  posts: readonly number[]
}

export interface Tables {
  sources: readonly Source[]
  /** The number of small referring sites, beyond those in the table. */
  tailHosts: number
  countries: typeof countries
  customEvents: readonly CustomEvent[]
  pages: number
  pushes: Pushes
}

/** More pages would repeat the names of customers (pages.ts). */
const maxPages = 20_000

export function tablesOf(shape: Shape): Tables {
  const pages = Math.min(maxPages, Math.max(mainPages.length + 20, shape.paths))
  const utmSources = distinct(sources.map(([, , , utmSource]) => utmSource)).slice(0, shape.utmSources)
  const usedSources = sources.filter(([, , , utmSource]) => utmSource === '' || utmSources.includes(utmSource))
  const namedHosts = distinct(usedSources.map(([, , referrer]) => referrer)).length
  const sourceOf = (matches: (source: Source) => boolean) => usedSources.findIndex(matches) + 1
  return {
    sources: usedSources,
    tailHosts: Math.max(10, shape.referrers - namedHosts + 1),
    countries: countries.slice(0, Math.max(1, shape.countries)),
    customEvents: customEvents.slice(0, Math.max(5, shape.customEvents)),
    pages,
    pushes: {
      campaigns: campaigns
        .map(([utmSource, path]) => ({ source: sourceOf(([, , , name]) => name === utmSource), page: pageOf(path) }))
        .filter(({ source }) => source > 0),
      viralSources: viralReferrers.map((host) =>
        sourceOf(([, , referrer, utmSource]) => referrer === host && !utmSource),
      ),
      posts: topPosts(pages),
    },
  }
}

/** The position of a main page, counted from 1; 0 if there is none. */
export const pageOf = (path: string): number => mainPages.findIndex(([mainPath]) => mainPath === path) + 1

const distinct = (values: readonly string[]): string[] => [...new Set(values)].filter(Boolean)
