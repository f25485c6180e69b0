// The nine responses, computed in the slow and obvious way: plain arrays, one pass per report, every rule where it is used. It is written
// from the semantics alone and shares no code with src/stats, so only an error made twice goes unnoticed.
import { countryNames, isCountryCode } from '../../../src/traffic/country.ts'
import { pageview, type TrafficEvent } from '../../../src/traffic/event.ts'
import {
  type Imported,
  type ImportedPart,
  type ImportedRow,
  importedIn,
  nothing,
  remarksOf,
  type Sums,
} from './imported.ts'
import { type Asked, type Params, readParams } from './params.ts'
import { contains, currentWindow, periodHeader, previousWindow, type Window } from './windows.ts'

export const reports = [
  'overview',
  'timeseries',
  'pages',
  'referrers',
  'channels',
  'devices',
  'geo',
  'events',
  'utm',
] as const
export type Report = (typeof reports)[number]

export interface Site {
  siteId: string
  /** The current zone of the site; the days of events may come from an earlier one. */
  zone: string
  excludedCountries: readonly string[]
  events: readonly TrafficEvent[]
  imported?: Imported | undefined
}

export interface Answered {
  status: 200
  /** The exact JSON text. */
  body: string
  /** Stats-Period. */
  period: string
  /** Stats-Previous-Period, on overview only. */
  previousPeriod?: string
  /** Stats-Total-Rows, when the limit has cut the list. */
  totalRows?: string
  /** The number of clauses in Stats-Warning. */
  warnings: number
  /** How those about imported days begin. */
  remarks: readonly string[]
}

export interface Refused {
  status: 400
  code: 'invalid_date' | 'invalid_parameter'
}

export function answer(site: Site, report: Report, params: Params, now: number): Answered | Refused {
  const asked = readParams(params)
  if (typeof asked === 'string') return { status: 400, code: asked }
  const window = currentWindow(asked.range, asked, site.zone, now)
  if (window === 'invalid_date') return { status: 400, code: 'invalid_date' }
  const previous = previousWindow(asked.range, window)

  const limited = report !== 'overview' && report !== 'timeseries' && report !== 'channels'
  const imported = importedBy(report, site, asked, window)
  const importedBefore = report === 'overview' ? importedBy(report, site, asked, previous) : nothing
  const remarks = remarksOf([imported, importedBefore])
  const rows =
    report === 'overview'
      ? overview(site, asked, [window, imported], [previous, importedBefore])
      : listed(site, asked, report, window, imported)
  const meta = {
    site_id: site.siteId,
    range: asked.range,
    ...(limited && { limit: asked.limit }),
    generated_at: new Date(now).toISOString(),
  }
  const data = limited && Array.isArray(rows) ? rows.slice(0, asked.limit) : rows
  return {
    status: 200,
    body: JSON.stringify({ data, meta }),
    period: periodHeader(window),
    ...(report === 'overview' && { previousPeriod: periodHeader(previous) }),
    ...(limited && Array.isArray(rows) && rows.length > asked.limit && { totalRows: String(rows.length) }),
    warnings: asked.withoutEffect + (!limited && params.some(([name]) => name === 'limit') ? 1 : 0) + remarks.length,
    remarks,
  }
}

export interface NamedSite extends Site {
  domain: string
}

/** The overview of several sites, by domain, without a limit of the request. */
export function answerOfSites(sites: readonly NamedSite[], params: Params, now: number): Answered | Refused {
  const asked = readParams(params)
  if (typeof asked === 'string') return { status: 400, code: asked }
  const data: object[] = []
  const parts: ImportedPart[] = []
  for (const site of sites.toSorted((a, b) => byCodePoint(a.domain, b.domain))) {
    const window = currentWindow(asked.range, asked, site.zone, now)
    if (window === 'invalid_date') return { status: 400, code: 'invalid_date' }
    const [start, end] = periodHeader(window).split('/')
    const previous = previousWindow(asked.range, window)
    const [imported, importedBefore] = [window, previous].map((one) => importedBy('overview', site, asked, one))
    parts.push(imported!, importedBefore!)
    const numbers = overview(site, asked, [window, imported!], [previous, importedBefore!])
    data.push({ site_id: site.siteId, domain: site.domain, period: { start, end }, ...numbers })
  }
  const meta = { range: asked.range, limit: 200, next_cursor: null, generated_at: new Date(now).toISOString() }
  const about = [parts.some(({ read }) => read.length > 0), parts.some(({ leftOut }) => leftOut.size > 0)]
  const warnings = asked.withoutEffect + about.filter(Boolean).length
  return { status: 200, body: JSON.stringify({ data, meta }), period: '', warnings, remarks: [] }
}

/** The lists of another product that a report reads, and what it needs of them. */
const listsOf: Record<Report, readonly (readonly [list: string, ...metrics: string[]])[]> = {
  overview: [['total', 'visitors']],
  timeseries: [['total', 'visitors']],
  pages: [['page', 'visitors', 'pageviews']],
  referrers: [['referrer', 'visitors', 'pageviews']],
  channels: [
    ['channel', 'visitors'],
    ['total', 'visitors'],
  ],
  devices: [['device', 'visitors']],
  geo: [['country', 'visitors']],
  events: [['event', 'visitors', 'events']],
  utm: [['utm_source', 'visitors']],
}

const importedBy = (report: Report, site: Site, asked: Asked, window: Window): ImportedPart =>
  importedIn(site.imported, window, {
    lists: listsOf[report].map(([list, ...metrics]) => ({ list, metrics })),
    isFiltered: [asked.country, asked.device, asked.hostname, asked.utmSource].some((filter) => filter !== undefined),
    byHour: false,
    excludedCountries: site.excludedCountries,
  })

const sumOf = (rows: readonly ImportedRow[], name: keyof Sums): number =>
  rows.reduce((sum, { sums }) => sum + sums[name], 0)

// Which hits and sessions count

const passes = (site: Site, asked: Asked, hit: TrafficEvent): boolean =>
  !site.excludedCountries.includes(hit.country) &&
  (asked.country === undefined || hit.country === asked.country) &&
  (asked.device === undefined || hit.device === asked.device) &&
  (asked.hostname === undefined || hit.hostname === asked.hostname) &&
  (asked.utmSource === undefined || hit.utmSource === asked.utmSource)

const hitsIn = (site: Site, asked: Asked, window: Window): TrafficEvent[] =>
  site.events.filter((hit) => passes(site, asked, hit) && contains(window, hit))

interface Session {
  /** All events of the session, on any host, inside or outside the window, by time. */
  events: readonly TrafficEvent[]
  first: TrafficEvent
  last: TrafficEvent
}

/** Session ids are unique only within a day. */
function sessionsOf(events: readonly TrafficEvent[]): Session[] {
  const byId = Map.groupBy(events, (event) => `${event.day} ${event.sessionId}`)
  return [...byId.values()].map((unsorted) => {
    const sorted = unsorted.toSorted((a, b) => a.time - b.time)
    return { events: sorted, first: sorted[0]!, last: sorted.at(-1)! }
  })
}

/** The session started inside the window and has a hit inside it that matches the filters. */
const sessionsIn = (site: Site, asked: Asked, window: Window): Session[] =>
  sessionsOf(site.events).filter(
    (session) =>
      contains(window, session.first) &&
      session.events.some((hit) => passes(site, asked, hit) && contains(window, hit)),
  )

const isBounce = (session: Session): boolean => session.events.length === 1 && session.first.name === pageview

/** Once per day: the same id on another day is another visitor. */
const visitorsOf = (hits: readonly TrafficEvent[]): number =>
  new Set(hits.map((hit) => `${hit.day} ${hit.visitorId}`)).size

const viewsOf = (hits: readonly TrafficEvent[]): number => hits.filter((hit) => hit.name === pageview).length

// Rounding with whole numbers, so that no half is lost to binary fractions

/** numerator / denominator rounded to the nearest integer, halves up; neither is negative. */
const roundHalfUp = (numerator: number, denominator: number): number =>
  Math.floor((2 * numerator + denominator) / (2 * denominator))

/** Percent with one decimal, halves away from zero. */
export function changeOf(current: number, previous: number): number | null {
  if (previous === 0) return null
  const tenths = roundHalfUp(1000 * Math.abs(current - previous), previous)
  return (current < previous && tenths > 0 ? -tenths : tenths) / 10
}

// The reports

interface Metrics {
  visitors: number
  pageviews: number
  sessions: number
  bounce_rate: number
  avg_duration: number
}

function metrics(site: Site, asked: Asked, [window, { rows }]: readonly [Window, ImportedPart]): Metrics {
  const hits = hitsIn(site, asked, window)
  const sessions = sessionsIn(site, asked, window)
  const bounces = sessions.filter(isBounce).length + sumOf(rows, 'bounces')
  const ownMs = sessions.reduce((sum, session) => sum + session.last.time - session.first.time, 0)
  const durationMs = ownMs + 1000 * sumOf(rows, 'duration')
  const begun = sessions.length + sumOf(rows, 'sessions')
  return {
    visitors: visitorsOf(hits) + sumOf(rows, 'visitors'),
    pageviews: viewsOf(hits) + sumOf(rows, 'pageviews'),
    sessions: begun,
    bounce_rate: begun === 0 ? 0 : roundHalfUp(100 * bounces, begun),
    avg_duration: begun === 0 ? 0 : roundHalfUp(durationMs, 1000 * begun),
  }
}

type Part = readonly [Window, ImportedPart]

function overview(site: Site, asked: Asked, ofCurrent: Part, ofPrevious: Part) {
  const current = metrics(site, asked, ofCurrent)
  const previous = metrics(site, asked, ofPrevious)
  const change = {
    visitors: changeOf(current.visitors, previous.visitors),
    pageviews: changeOf(current.pageviews, previous.pageviews),
    sessions: changeOf(current.sessions, previous.sessions),
    bounce_rate: changeOf(current.bounce_rate, previous.bounce_rate),
    avg_duration: changeOf(current.avg_duration, previous.avg_duration),
  }
  return { current, previous, change }
}

function listed(
  site: Site,
  asked: Asked,
  report: Exclude<Report, 'overview'>,
  window: Window,
  imported: ImportedPart,
): object[] {
  const importedOf = (list: string) => imported.rows.filter((row) => row.list === list)
  const hits = hitsIn(site, asked, window)
  switch (report) {
    case 'timeseries':
      return window.dates.map((date) => {
        const ofTheDay = hits.filter((hit) => hit.day === date)
        const sums = imported.rows.filter(({ day }) => day === date)
        return {
          date,
          visitors: visitorsOf(ofTheDay) + sumOf(sums, 'visitors'),
          pageviews: viewsOf(ofTheDay) + sumOf(sums, 'pageviews'),
        }
      })
    case 'pages': {
      const viewed = hits.filter((hit) => hit.name === pageview)
      return rows(viewed, 'pathname', importedOf('page'), (pathname, { views, visitors }) => ({
        pathname,
        title: titleOf(site, pathname),
        views,
        visitors,
      }))
    }
    case 'referrers':
      return rows(
        withLabel(hits, 'referrer'),
        'referrer',
        withValue(importedOf('referrer')),
        (referrer, { views, visitors }) => ({ referrer, views, visitors }),
      )
    case 'channels': {
      const all = visitorsOf(hits) + sumOf(importedOf('total'), 'visitors')
      return rows(hits, 'channel', importedOf('channel'), (channel, { visitors }) => ({
        channel,
        visitors,
        percentage: roundHalfUp(100 * visitors, all),
      }))
    }
    case 'devices':
      return rows(hits, 'device', importedOf('device'), (name, { visitors }) => ({ name, visitors }))
    case 'geo':
      return rows(hits, 'country', importedOf('country'), (code, { visitors }) => ({
        name: countryName(code),
        visitors,
      }))
    case 'events': {
      const custom = hits.filter((hit) => hit.name !== pageview)
      return rows(custom, 'name', importedOf('event'), (name, { count, visitors }) => ({ name, count, visitors }))
    }
    case 'utm':
      return rows(
        withLabel(hits, 'utmSource'),
        'utmSource',
        withValue(importedOf('utm_source')),
        (name, { visitors }) => ({ name, visitors }),
      )
  }
}

const countryName = (code: string): string => (isCountryCode(code) ? countryNames[code] : countryNames.ZZ)

type Label = 'pathname' | 'referrer' | 'channel' | 'device' | 'country' | 'name' | 'utmSource'

const withLabel = (hits: readonly TrafficEvent[], label: Label): TrafficEvent[] =>
  hits.filter((hit) => hit[label] !== '')

const withValue = (imported: readonly ImportedRow[]): ImportedRow[] => imported.filter(({ value }) => value !== '')

interface Counts {
  visitors: number
  views: number
  /** Hits, of which only those of custom events are asked for. */
  count: number
}

/** One row per value of the label, in the order of the contract. */
function rows<Row extends object>(
  hits: readonly TrafficEvent[],
  label: Label,
  imported: readonly ImportedRow[],
  row: (value: string, counts: Counts) => Row,
): Row[] {
  const values = new Set([...hits.map((hit): string => hit[label]), ...imported.map(({ value }) => value)])
  return Array.from(values, (value) => {
    const group = hits.filter((hit) => hit[label] === value)
    const sums = imported.filter((one) => one.value === value)
    return row(value, {
      visitors: visitorsOf(group) + sumOf(sums, 'visitors'),
      views: viewsOf(group) + sumOf(sums, 'pageviews'),
      count: group.length + sumOf(sums, 'events'),
    })
  }).toSorted(byNumbersThenLabel)
}

/** By the numeric fields from first to last, larger first; then by the label, the first field of every record. */
function byNumbersThenLabel(a: object, b: object): number {
  const numbersOf = (row: object): number[] => Object.values(row).filter((value) => typeof value === 'number')
  const [numbersOfA, numbersOfB] = [numbersOf(a), numbersOf(b)]
  for (const [index, number] of numbersOfA.entries()) {
    const other = numbersOfB[index]!
    if (number !== other) return other - number
  }
  return byCodePoint(String(Object.values(a)[0]), String(Object.values(b)[0]))
}

/** Not `<`, which compares UTF-16 units and would put U+1F98A before U+FF5E. */
export function byCodePoint(a: string, b: string): number {
  const [pointsOfA, pointsOfB] = [[...a], [...b]]
  for (const [index, character] of pointsOfA.entries()) {
    const other = pointsOfB[index]
    if (other === undefined) return 1
    if (character !== other) return character.codePointAt(0)! - other.codePointAt(0)!
  }
  return pointsOfA.length - pointsOfB.length
}

/** The latest non-empty title of any event on any host at any time, also outside the filters, but not from an excluded country. */
function titleOf({ events, excludedCountries }: Site, pathname: string): string {
  const titled = events.filter(
    (event) => event.pathname === pathname && event.title !== '' && !excludedCountries.includes(event.country),
  )
  const latest = titled.toSorted((a, b) => a.time - b.time || (a.eventId < b.eventId ? -1 : 1)).at(-1)
  return latest?.title ?? ''
}
