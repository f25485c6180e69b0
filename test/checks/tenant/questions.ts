// Questions of /api/v2 about watermarked sites: which are asked, how they are sent, and the right answer.
import type { CountryCode } from '../../../src/traffic/country.ts'
import type { Random } from '../../support/random.ts'
import type { Query } from './expected.ts'
import { channelOf, countries, devices, goalOf, type WatermarkedSite } from './watermarked-sites.ts'

export const questionEndpoints = ['v2/stats/totals', 'v2/stats/timeseries', 'v2/stats/breakdown', 'v2/goals'] as const

export type QuestionEndpoint = (typeof questionEndpoints)[number]

export const isQuestion = (report: string): report is QuestionEndpoint =>
  (questionEndpoints as readonly string[]).includes(report)

/** The part of a query that only questions have. */
export interface Asked {
  by?: (typeof dimensions)[number]
  /** Whether conversions of its goal are asked for. */
  goal?: boolean
  /** A filter on a word of the site with this mark; `own` is the site that is asked about. */
  word?: { dimension: keyof typeof words; mark: string }
  compare?: 'previous'
}

const words = {
  page: (mark: string) => `page:is:/${mark}/a,/${mark}/c`,
  hostname: (mark: string) => `hostname:contains:${mark}`,
  event: (mark: string) => `event:is:buy-${mark}`,
  referrer: (mark: string) => `referrer:starts_with:ref-${mark}`,
  utm_source: (mark: string) => `utm_source:is:utm-${mark}`,
}

const dimensions = [
  ...(['page', 'hostname', 'event', 'goal', 'referrer', 'channel', 'utm_source', 'country', 'device'] as const),
]

/** What a question asks besides its range. Words and goals are those of the site that is asked about. */
export function pickAsked(random: Random, report: QuestionEndpoint): Asked {
  if (report === 'v2/goals') return {}
  return {
    ...(report === 'v2/stats/breakdown' && { by: random.pick(dimensions) }),
    ...(random.oneIn(3) && { goal: true }),
    ...(random.oneIn(2) && {
      word: { dimension: random.pick(Object.keys(words) as (keyof typeof words)[]), mark: 'own' },
    }),
    ...(report === 'v2/stats/totals' && random.oneIn(3) && { compare: 'previous' as const }),
  }
}

/** The same question with a word of another site, which must find nothing. */
export const withMark = (query: Query, mark: string): Query => ({
  ...query,
  ...(query.word && { word: { ...query.word, mark } }),
})

const markOf = (mark: string, site: WatermarkedSite): string => (mark === 'own' ? site.mark : mark)

const metricsOf = ({ goal }: Asked): string[] => [
  ...['visitors', 'pageviews', 'sessions'],
  ...(goal ? ['conversions'] : []),
]

export function questionParameters(query: Query, site: WatermarkedSite): [string, string][] {
  const { report, by, goal, word, compare, country, device, limit } = query
  if (report === 'v2/goals') return []
  return [
    ['metrics', metricsOf(query).join()],
    ...(by ? [['by', by] as [string, string]] : []),
    ...(by && limit !== undefined ? [['limit', `${limit}`] as [string, string]] : []),
    ...(goal ? [['goal', goalOf(site.mark)] as [string, string]] : []),
    ...(compare ? [['compare', compare] as [string, string]] : []),
    ...[
      ...(word ? [words[word.dimension](markOf(word.mark, site))] : []),
      ...(country ? [`country:is:${country}`] : []),
      ...(device ? [`device:is:${device.toLowerCase()}`] : []),
    ].map((filter): [string, string] => ['filter', filter]),
  ]
}

/** `days` are the dates with traffic in the window, `before` the number of those in the window before. */
export function expectedAnswer(
  site: WatermarkedSite,
  query: Query,
  excluded: readonly CountryCode[],
  days: readonly string[],
  before: number,
): unknown {
  const { mark, number } = site
  const { report, by, word, compare, limit = 100 } = query
  if (report === 'v2/goals') return [{ name: goalOf(mark), kind: 'event', event: `buy-${mark}` }]
  const isForeign = word !== undefined && markOf(word.mark, site) !== mark
  const inCountries = countries.filter(
    (code) => !isForeign && !excluded.includes(code) && (!query.country || query.country === code),
  )
  const onDevices = devices.filter(
    (label) => (!query.device || query.device === label) && (word?.dimension !== 'utm_source' || label === 'Desktop'),
  )
  /** Every visitor has one session a day, with two pages, or one if only that counts. */
  const pages = word?.dimension === 'page' ? ['a'] : ['a', 'b']
  const record = (visitors: number, views: number) =>
    Object.fromEntries(metricsOf(query).map((name) => [name, name === 'pageviews' ? visitors * views : visitors]))
  const perDay = site.visitors * inCountries.length * onDevices.length
  const all = perDay * days.length
  if (report === 'v2/stats/timeseries')
    return perDay === 0 ? [] : days.map((date) => ({ date, ...record(perDay, pages.length) }))
  if (report === 'v2/stats/totals') {
    if (!compare) return record(all, pages.length)
    const change = before === 0 || perDay === 0 ? null : days.length === 0 ? -100 : 0
    const changes = Object.fromEntries(metricsOf(query).map((name) => [name, change]))
    return { ...record(all, pages.length), previous: record(perDay * before, pages.length), change: changes }
  }
  /** The share of the visitors in a row, and how many pages of them count. */
  const hasEvent = word?.dimension !== 'page'
  const rows: Record<(typeof dimensions)[number], [value: string | null, of: number, views: number][]> = {
    page: pages.map((page) => [`/${mark}/${page}`, 1, 1]),
    hostname: [[`${mark}.example`, 1, pages.length]],
    event: hasEvent ? [[`buy-${mark}`, 1, 0]] : [],
    goal: hasEvent ? [[goalOf(mark), 1, 0]] : [],
    referrer: [[`ref-${mark}.example`, 1, pages.length]],
    channel: [[channelOf(number), 1, pages.length]],
    country: inCountries.map((code) => [code, inCountries.length, pages.length]),
    device: onDevices.map((label) => [label.toLowerCase(), onDevices.length, pages.length]),
    utm_source: onDevices.map((label) => [label === 'Desktop' ? `utm-${mark}` : null, onDevices.length, pages.length]),
  }
  const dimension = by as (typeof dimensions)[number]
  return rows[dimension]
    .filter(() => all > 0)
    .toSorted(([one], [other]) => ((one ?? '') < (other ?? '') ? -1 : 1))
    .slice(0, limit)
    .map(([value, of, views]) => ({ [dimension]: value, ...record(all / of, views) }))
}
