// The right response to any query about a watermarked site, from the four numbers that determine it.
import type { ReportName } from '../../../src/stats/reports.ts'
import { type CountryCode, countryNames } from '../../../src/traffic/country.ts'
import { type Asked, expectedAnswer, isQuestion, type QuestionEndpoint, questionParameters } from './questions.ts'
import { channelOf, countries, devices, type TrafficDays, type WatermarkedSite } from './watermarked-sites.ts'

/** Reports whose responses are computed here. Every other report is still requested with foreign keys, and its statements are checked. */
export const modelledReports = [
  'overview',
  'timeseries',
  'pages',
  'referrers',
  'channels',
  'devices',
  'geo',
  'events',
  'utm',
] as const satisfies ReportName[]

export type ModelledReport = (typeof modelledReports)[number]

/** Endpoints about all sites of a key. */
export const sitesEndpoints = ['sites', 'sites/overview'] as const

type SitesEndpoint = (typeof sitesEndpoints)[number]

export const isAboutSites = (report: string): report is SitesEndpoint =>
  (sitesEndpoints as readonly string[]).includes(report)

export const pathOf = ({ report }: Query): string =>
  isQuestion(report) ? `/api/${report}` : `/api/v1/${isAboutSites(report) ? report : `stats/${report}`}`

export interface Query extends Asked {
  report: ModelledReport | SitesEndpoint | QuestionEndpoint
  range: '24h' | '7d' | '30d' | '90d' | '12m' | 'recent day' | 'day after the older'
  limit?: number
  country?: CountryCode
  device?: (typeof devices)[number]
  hostname?: string
  utmSource?: string
}

/** Which days of traffic the range covers, and which the previous period. */
const covered: Record<Query['range'], [current: (keyof TrafficDays)[], previous: (keyof TrafficDays)[]]> = {
  '24h': [[], []],
  '7d': [['recent'], []],
  '30d': [['recent'], ['older']],
  '90d': [['recent', 'older'], []],
  '12m': [['recent', 'older'], []],
  'recent day': [['recent'], []],
  'day after the older': [[], ['older']],
}

export const ranges = Object.keys(covered) as Query['range'][]

export function parametersOf(query: Query, days: TrafficDays, site: WatermarkedSite): URLSearchParams {
  const parameters = new URLSearchParams(isQuestion(query.report) ? questionParameters(query, site) : [])
  if (query.report === 'v2/goals') return parameters
  const { range, limit, country, device, hostname, utmSource } = query
  const day =
    range === 'recent day' ? days.recent : range === 'day after the older' ? days.older.add({ days: 1 }) : null
  parameters.set('range', day ? 'custom' : range)
  if (day) parameters.set('start', day.toString())
  if (day) parameters.set('end', day.toString())
  if (isQuestion(query.report)) return parameters
  if (limit !== undefined) parameters.set('limit', `${limit}`)
  if (country) parameters.set('country', country)
  if (device) parameters.set('device', device.toLowerCase())
  if (hostname) parameters.set('hostname', hostname)
  if (utmSource) parameters.set('utm_source', utmSource)
  return parameters
}

/** One row of an endpoint about all sites, without the period, whose end is the time of the request. */
export function expectedRow(
  site: WatermarkedSite,
  query: Query,
  excluded: readonly CountryCode[],
  days: TrafficDays,
): string {
  const row = { site_id: site.id, domain: `${site.mark}.example` }
  if (query.report === 'sites') return JSON.stringify({ ...row, time_zone: 'UTC' })
  const data = JSON.parse(expectedData(site, { ...query, report: 'overview' }, excluded, days))
  return JSON.stringify({ ...row, ...data })
}

/** The JSON of `data`. Days without traffic are left out of timeseries, because midnight may pass while the check runs. */
export function expectedData(
  site: WatermarkedSite,
  query: Query & { report: ModelledReport | QuestionEndpoint },
  excluded: readonly CountryCode[],
  days: TrafficDays,
): string {
  if (isQuestion(query.report)) {
    const [current, previous] = covered[query.range]
    const dates = current.map((name) => days[name].toString()).sort()
    return JSON.stringify(expectedAnswer(site, query, excluded, dates, previous.length))
  }
  const { mark, visitors, number } = site
  const { report, hostname, utmSource, limit = 10 } = query
  const [now, before] = covered[query.range]
  const foreign = (hostname && hostname !== `${mark}.example`) || (utmSource && utmSource !== `utm-${mark}`)
  const inCountries = countries.filter(
    (code) => !foreign && !excluded.includes(code) && (!query.country || query.country === code),
  )
  const onDevices = devices.filter(
    (label) => (!query.device || query.device === label) && (!utmSource || label === 'Desktop'),
  )
  const cell = visitors * now.length
  const all = cell * inCountries.length * onDevices.length
  const rows = <Row>(list: Row[], some: number) => (some > 0 ? list.slice(0, limit) : [])
  const data: Record<ModelledReport, () => unknown> = {
    overview: () => overview(all, visitors * before.length * inCountries.length * onDevices.length, number + 1),
    timeseries: () =>
      all > 0
        ? now
            .map((name) => ({
              date: days[name].toString(),
              visitors: all / now.length,
              pageviews: (2 * all) / now.length,
            }))
            .sort((one, other) => (one.date < other.date ? -1 : 1))
        : [],
    pages: () =>
      rows(
        ['a', 'b'].map((page) => ({
          pathname: `/${mark}/${page}`,
          title: `Title ${mark} ${page}`,
          views: all,
          visitors: all,
        })),
        all,
      ),
    referrers: () => rows([{ referrer: `ref-${mark}.example`, views: 2 * all, visitors: all }], all),
    channels: () => (all > 0 ? [{ channel: channelOf(number), visitors: all, percentage: 100 }] : []),
    devices: () =>
      rows(
        onDevices.map((name) => ({ name, visitors: cell * inCountries.length })),
        all,
      ),
    geo: () =>
      rows(
        inCountries.map((code) => ({ name: countryNames[code], visitors: cell * onDevices.length })).sort(byName),
        all,
      ),
    events: () => rows([{ name: `buy-${mark}`, count: all, visitors: all }], all),
    utm: () => {
      const desktop = onDevices.includes('Desktop') ? cell * inCountries.length : 0
      return rows([{ name: `utm-${mark}`, visitors: desktop }], desktop)
    },
  }
  return JSON.stringify(data[report as ModelledReport]())
}

function overview(current: number, previous: number, seconds: number) {
  const metrics = (visitors: number) => ({
    visitors,
    pageviews: 2 * visitors,
    sessions: visitors,
    bounce_rate: 0,
    avg_duration: visitors > 0 ? seconds : 0,
  })
  const change = previous === 0 ? null : current === previous ? 0 : -100
  return {
    current: metrics(current),
    previous: metrics(previous),
    change: { visitors: change, pageviews: change, sessions: change, bounce_rate: null, avg_duration: change },
  }
}

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)
