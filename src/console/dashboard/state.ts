// What the address of a dashboard says: range and filters in the words of the API, and how the page shows them.
import type { Site } from '../../accounts/sites.ts'
import { fieldName, typedValue } from '../../display/labels.ts'
import { ApiError } from '../../errors.ts'
import { type QueryString, readQueryString } from '../../stats/query-string.ts'
import { readPage } from '../../stats/questions/cursor.ts'
import { type Dimension, dimensionOf } from '../../stats/questions/dimensions.ts'
import { type Filter, filterText, readFilters } from '../../stats/questions/filters.ts'
import { type Comparison, type Interval, intervals } from '../../stats/questions/question.ts'
import { instantOf } from '../../stats/reports.ts'
import { sitePath } from '../layout/layout.ts'
import type { Theme } from '../route.ts'
import { addressOfComparison, previousPeriod, readComparison } from './comparison.ts'
import type { ShownSegment } from './filter-texts.ts'
import { columnsOf, formerNames, isListName, type ListName, type PanelName, panelNames, panels } from './lists.ts'
import { filtersOfQuestion, isLocked, isLockedToPlaces, pathOutside, roomFor, showsEnds } from './locks.ts'
import { asApiRange, type RangeChoice, rangeFields, readRangeChoice, type ShownRange } from './range-choice.ts'

/** In the order of the page. */
const chartMetrics = ['visitors', 'conversions', 'pageviews', 'sessions', 'bounce_rate', 'avg_duration'] as const
const views = ['list', 'map'] as const

/** Without goals there are no conversions. */
const metricsOfVisits = chartMetrics.filter((name) => name !== 'conversions')

export type ChartMetric = (typeof chartMetrics)[number]

/** Where a dashboard is: in the console, or behind a shared link. */
export interface DashboardContext {
  site: Site
  /** Its address, without a query. */
  path: string
  /** Filters that are always applied. No address can lift them. */
  locked: readonly Filter[]
  /** Undefined behind a shared link. */
  segments?: readonly ShownSegment[]
  /** Whether the reader may save segments and make links. */
  isOwner?: boolean
  /** Behind a shared link there is no account: nothing leads to settings or to the API. */
  isShared: boolean
  /** Chosen in the address, so every link repeats it. */
  theme?: Theme | undefined
}

export const contextOfSite = (
  site: Site,
  more: Pick<DashboardContext, 'segments' | 'isOwner'> = {},
): DashboardContext => ({
  ...more,
  site,
  path: sitePath(site),
  locked: [],
  isShared: false,
})

export interface DashboardState extends DashboardContext {
  range: ShownRange
  /** Those that anybody can lift. */
  filters: readonly Filter[]
  metric: ChartMetric
  /** The goal that somebody chose to see the conversions of. */
  goal: string | undefined
  /** What somebody chose for the chart; not every range can be drawn by it. */
  interval: Interval | undefined
  /** Undefined: with nothing. */
  compare: Comparison | undefined
  /** The lists that somebody chose for panels. */
  tabs: Readonly<Partial<Record<PanelName, ListName>>>
  countries: (typeof views)[number]
  /** The list that is shown alone, and how. */
  more: ListName | undefined
  /** `visitors:asc` */
  order: string | undefined
  /** What is searched for in the list. */
  search: string | undefined
  /** Whether the list does without the numbers of visits. */
  isShort: boolean
  cursor: string | undefined
}

export const defaultState = (context: DashboardContext): DashboardState => ({
  ...context,
  range: { name: '30d' },
  filters: [],
  metric: 'visitors',
  goal: undefined,
  interval: undefined,
  compare: previousPeriod,
  tabs: {},
  countries: 'list',
  more: undefined,
  order: undefined,
  search: undefined,
  isShort: false,
  cursor: undefined,
})

/** The list that a panel shows. One that a filter leaves with a single row gives way to the next. */
export function listOf(state: DashboardState, panel: PanelName): ListName {
  const all = listsOf(state, panel)
  const first = Math.max(0, all.indexOf(panels[panel].first))
  const isSingle = (list: ListName) =>
    [...state.locked, ...state.filters].some(
      ({ dimension, operator, values }) => dimension.name === list && operator === 'is' && values.length === 1,
    )
  const usual = all.slice(first)
  return state.tabs[panel] ?? usual.find((list) => !isSingle(list)) ?? (usual[0] as ListName)
}

/** The goals whose conversions this reader may see. A goal is reached anywhere in a visit, also on pages that a link does not show. */
export const goalNames = (context: DashboardContext): readonly string[] =>
  context.isShared && isLockedToPlaces(context) ? [] : context.site.goals.map(({ name }) => name)

/** The goal whose conversions the page shows. */
export function shownGoal(state: DashboardState): string | undefined {
  const names = goalNames(state)
  return names.find((name) => name === state.goal) ?? names[0]
}

/** The lists of a panel that this reader may see. Without goals there is no list of them. */
export const listsOf = (context: DashboardContext, panel: PanelName): ListName[] =>
  panels[panel].lists.filter((name) => isShown(context, name))

export const panelOf = (name: ListName): PanelName =>
  panelNames.find((panel) => (panels[panel].lists as readonly ListName[]).includes(name)) as PanelName

export const isShown = (context: DashboardContext, name: ListName): boolean =>
  name === 'goal' ? context.site.goals.length > 0 : !/^(entry|exit)_page$/.test(name) || showsEnds(context)

/**
 * What this reader may filter by. Events and goals are looked for anywhere in a visit, also on pages that a link does not show; and values of
 * properties are in no list.
 */
export const mayFilterBy = (context: DashboardContext, { name, property }: Dimension): boolean =>
  !context.isShared ||
  (property === undefined &&
    (!isListName(name) || isShown(context, name)) &&
    !(isLockedToPlaces(context) && (name === 'event' || name === 'goal')))

export const isMap = (name: ListName, { countries }: DashboardState): boolean =>
  name === 'country' && countries === 'map'

interface Clock {
  clock: number
  /** Of all time. */
  firstDay?: Temporal.PlainDate | undefined
}

/** One instant for the whole page; a further page of a list has that of the first. */
export function nowOf(
  { site, more, isShort, cursor }: Pick<DashboardState, 'site' | 'more' | 'isShort' | 'cursor'>,
  clock: number,
): Temporal.ZonedDateTime {
  const page = more && cursor && readPage(cursor, columnsOf(more, !isShort).length)
  const now = page ? page.now : instantOf(site, clock)
  return Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(site.timeZone)
}

/** Throws the API's refusal if a parameter is wrong. Only for the look of the page, an unknown value means the default. */
export function readState(context: DashboardContext, url: string, { clock, firstDay }: Clock): DashboardState {
  const query = withoutEmpty(readQueryString(url))
  const text = (name: string) => query.get(name)?.[0] ?? undefined
  const look = <Name extends string>(name: string, values: readonly Name[]): Name | undefined =>
    values.find((value) => value === text(name))
  const listNamed = (name: string | undefined) => {
    const list = name === undefined ? undefined : (formerNames[name] ?? name)
    return list !== undefined && isListName(list) && isShown(context, list) ? list : undefined
  }
  const usual = defaultState(context)
  const chosen = (panel: PanelName) => listsOf(context, panel).find((list) => list === listNamed(text(panel)))
  const page = {
    more: listNamed(text('more')),
    isShort: look('columns', ['few']) !== undefined,
    cursor: text('cursor'),
  }
  return {
    ...context,
    ...page,
    range: readRangeChoice(query, nowOf({ ...context, ...page }, clock).toPlainDate(), firstDay),
    filters: filtersIn(context, query),
    metric: look('metric', goalNames(context).length > 0 ? chartMetrics : metricsOfVisits) ?? usual.metric,
    goal: look('goal', goalNames(context)),
    interval: look('interval', intervals),
    compare: readComparison(query),
    tabs: Object.fromEntries(
      panelNames.flatMap((panel) => {
        const list = chosen(panel)
        return list ? [[panel, list]] : []
      }),
    ),
    countries: look('countries', views) ?? usual.countries,
    order: text('order'),
    search: text('search'),
  }
}

/** An empty field of a form sets no parameter. */
const withoutEmpty = (query: QueryString): QueryString =>
  new Map([...query].filter(([, values]) => !(values.length === 1 && values[0] === '')))

/** Earlier versions wrote `country=DE`, and the form of a new filter has three fields. `goal` is that of the conversions. */
function filtersIn(context: DashboardContext, query: QueryString): Filter[] {
  const former = [...query].flatMap(([name, values]) =>
    dimensionOf(name) && name !== 'goal'
      ? values.map((value) => (value === null ? null : filterText(name, 'is', [value])))
      : [],
  )
  const texts = new Set([...(query.get('filter') ?? []), ...former, ...typedFilter(query)])
  const filters = readFilters([...texts]).filter(({ dimension }) => !isLocked(context, dimension.name))
  const room = roomFor(context)
  if (filters.length > room) throw new ApiError('invalid_filter', `At most ${room} filters can be added here.`)
  const refused = filters.find(({ dimension }) => !mayFilterBy(context, dimension))
  if (refused) throw new ApiError('invalid_filter', `This page has no filter called ${fieldName(refused.dimension)}.`)
  const outside = filters.map((filter) => pathOutside(context, filter)).find((path) => path !== undefined)
  if (outside !== undefined) throw new ApiError('invalid_filter', `This page does not show ${outside || 'that'}.`)
  const goal = filters
    .filter(({ dimension }) => dimension.name === 'goal')
    .flatMap(({ values }) => values)
    .find((name) => name !== '' && !context.site.goals.some((one) => one.name === name))
  if (goal !== undefined) throw new ApiError('invalid_filter', `The site has no goal called ${goal}.`)
  return filters
}

/** The forms of a filter and of compared days send what an address writes in another way. */
export const isTyped = (url: string): boolean =>
  ['field', 'compare_start'].some((name) => readQueryString(url).has(name))

function typedFilter(query: QueryString): string[] {
  const [field, operator = 'is', value] = ['field', 'operator', 'value'].map(
    (name) => query.get(name)?.[0] ?? undefined,
  )
  if (field === undefined || value === undefined) return []
  return [filterText(field, operator, [typedValue(field, value.trim())])]
}

/** The filters with another one, which takes the place of those on its dimension; undefined if there are too many, or it is not offered. */
export function filtersWith(state: DashboardState, name: string, value: string): readonly Filter[] | undefined {
  const dimension = dimensionOf(name) as Dimension
  if (isLocked(state, name) || !mayFilterBy(state, dimension)) return undefined
  const others = state.filters.filter((filter) => filter.dimension.name !== name)
  if (isFull(state, others)) return undefined
  return [...others, { dimension, operator: 'is', values: [value] }]
}

export const isFull = (state: DashboardState, filters: readonly Filter[] = state.filters): boolean =>
  filters.length >= roomFor(state)

export type Changes = Partial<Omit<DashboardState, keyof DashboardContext | 'range'>> & { range?: RangeChoice }

const filterFields = (filters: readonly Filter[]): [string, string][] =>
  filters.map(({ dimension, operator, values }) => ['filter', filterText(dimension.name, operator, values)])

/** The fields of the address: always the range, and those that differ from the default. A page of a list is only where a link says so. */
export function fieldsOf(state: DashboardState, changes: Changes = {}): [string, string][] {
  // Another range is drawn as it is best read.
  const next = { ...state, cursor: undefined, ...(changes.range && { interval: undefined }), ...changes }
  const usual = defaultState(state)
  const fields = [...rangeFields(next.range), ...filterFields(next.filters)]
  if (next.metric !== usual.metric) fields.push(['metric', next.metric])
  if (next.goal !== undefined) fields.push(['goal', next.goal])
  if (next.interval) fields.push(['interval', next.interval])
  fields.push(...addressOfComparison(next.compare))
  fields.push(...Object.entries(next.tabs))
  if (next.countries !== usual.countries) fields.push(['countries', next.countries])
  if (next.more) {
    fields.push(['more', next.more])
    if (next.order) fields.push(['order', next.order])
    if (next.search) fields.push(['search', next.search])
    if (next.isShort) fields.push(['columns', 'few'])
    if (next.cursor) fields.push(['cursor', next.cursor])
  }
  if (next.theme) fields.push(['theme', next.theme])
  return fields
}

/** As people write it: `filter=page:is:/pricing`. */
export const queryOf = (fields: [string, string][]): string =>
  String(new URLSearchParams(fields)).replace(/%(?:2F|3A|2C)/g, decodeURIComponent)

export const addressOf = (state: DashboardState, changes: Changes = {}): string =>
  `${state.path}?${queryOf(fieldsOf(state, changes))}`

/** The parameters of a question to the API about what the page shows. */
export const questionFields = (
  state: DashboardState,
  more: readonly (readonly [string, string])[],
): [string, string][] => [
  ...rangeFields(asApiRange(state.range)),
  ...filterFields(filtersOfQuestion(state, state.filters, more.find(([name]) => name === 'by')?.[1])),
  ...more.map(([name, value]): [string, string] => [name, value]),
]
