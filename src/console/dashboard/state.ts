// What the address of a dashboard says: range and filters by the rules of the API, and how the page shows them.
import type { Site } from '../../accounts/sites.ts'
import { type Range, rangeNames } from '../../calendar/periods.ts'
import { readParameters } from '../../stats/parameters.ts'
import { type QueryString, queryFields, readQueryString } from '../../stats/query-string.ts'
import type { StatsParameters } from '../../stats/report.ts'
import { type ReportName, reports } from '../../stats/reports.ts'
import type { Filters } from '../../traffic/conditions.ts'
import { sitePath } from '../layout/layout.ts'
import type { Theme } from '../route.ts'

export const chartMetrics = ['visitors', 'pageviews'] as const
export const sourceReports = ['referrers', 'channels', 'utm'] as const
const countryViews = ['list', 'map'] as const
const listReports = ['pages', ...sourceReports, 'geo', 'devices', 'events'] as const

export type ChartMetric = (typeof chartMetrics)[number]
type SourceReport = (typeof sourceReports)[number]
export type ListReport = (typeof listReports)[number]

/** Where a dashboard is: in the console, or behind a shared link. */
export interface DashboardContext {
  site: Site
  /** Its address, without a query. */
  path: string
  /** Filters that are always applied. No address can lift them. */
  locked: Filters
  /** Behind a shared link there is no account: nothing leads to settings or to the API. */
  isShared: boolean
  /** Chosen in the address, so every link repeats it. */
  theme?: Theme | undefined
}

export const contextOfSite = (site: Site): DashboardContext => ({
  site,
  path: sitePath(site),
  locked: {},
  isShared: false,
})

export interface DashboardState extends DashboardContext {
  /** With the locked filters. */
  parameters: StatsParameters
  metric: ChartMetric
  /** Whether the period is compared with the one before it. */
  compares: boolean
  sources: SourceReport
  countries: (typeof countryViews)[number]
  /** The list that is shown alone, with its first hundred rows. */
  more: ListReport | undefined
}

const defaultLimit = 10
export const longLimit = 100

export const defaultState = (context: DashboardContext): DashboardState => ({
  ...context,
  parameters: { range: { name: '30d' }, filters: context.locked, limit: defaultLimit },
  metric: 'visitors',
  compares: true,
  sources: 'referrers',
  countries: 'list',
  more: undefined,
})

/** Throws the API's refusal if a parameter is wrong. Only for the look of the page, an unknown value means the default. */
export function readState(context: DashboardContext, url: string): DashboardState {
  const query = withoutEmpty(readQueryString(url))
  const look = <Name extends string>(name: string, values: readonly Name[]): Name | undefined =>
    values.find((one) => one === query.get(name)?.[0])
  const parameters = readParameters(query)
  return {
    ...context,
    parameters: { ...parameters, filters: { ...parameters.filters, ...context.locked } },
    metric: look('metric', chartMetrics) ?? 'visitors',
    compares: look('compare', ['off']) === undefined,
    sources: look('sources', sourceReports) ?? 'referrers',
    countries: look('countries', countryViews) ?? 'list',
    more: look('more', listReports),
  }
}

export const isListReport = (name: string): name is ListReport => (listReports as readonly string[]).includes(name)

/** An empty field of a form sets no parameter. */
const withoutEmpty = (query: QueryString): QueryString =>
  new Map([...query].filter(([, values]) => !(values.length === 1 && values[0] === '')))

export interface Changes extends Partial<Omit<DashboardState, keyof DashboardContext | 'parameters'>> {
  range?: Range
  /** A filter that is undefined is removed. */
  filters?: { readonly [Name in keyof Filters]: Filters[Name] | undefined }
}

/** The fields of the address: always the range, and those that differ from the default. */
export function fieldsOf(state: DashboardState, { range, filters, ...look }: Changes = {}): [string, string][] {
  const next = { ...state, ...look }
  const { parameters } = state
  const fields: [string, string][] = queryFields({
    range: range ?? parameters.range,
    filters: freeFilters(state, { ...parameters.filters, ...filters }),
  })
  if (parameters.limit !== defaultLimit) fields.push(['limit', String(parameters.limit)])
  if (next.metric !== 'visitors') fields.push(['metric', next.metric])
  if (!next.compares) fields.push(['compare', 'off'])
  if (next.sources !== 'referrers') fields.push(['sources', next.sources])
  if (next.countries !== 'list') fields.push(['countries', next.countries])
  if (next.more) fields.push(['more', next.more])
  if (next.theme) fields.push(['theme', next.theme])
  return fields
}

export const addressOf = (state: DashboardState, changes: Changes = {}): string =>
  `${state.path}?${new URLSearchParams(fieldsOf(state, changes))}`

export function csvAddressOf(state: DashboardState, report: ListReport): string {
  const { range, filters } = state.parameters
  const fields = queryFields({ range, filters: freeFilters(state, filters) })
  return `${state.path}/csv/${report}?${new URLSearchParams([...fields, ['limit', String(longLimit)]])}`
}

/** The request to the API that answers what a panel shows. */
export function apiAddressOf({ site, parameters }: DashboardState, report: ReportName, limit: number): string {
  const fields = queryFields(parameters)
  if (reports[report].limited && limit !== defaultLimit) fields.push(['limit', String(limit)])
  return `/api/v1/stats/${report}?${new URLSearchParams([['site_id', site.id], ...fields])}`
}

/** The filters of the address, which never contains locked ones. */
const freeFilters = ({ locked }: DashboardState, filters: object): Filters =>
  Object.fromEntries(Object.entries(filters).filter(([name, value]) => value !== undefined && !(name in locked)))

export const rollingRanges = rangeNames.filter((name) => name !== 'custom')
