// The right code for a question of /api/v2, from docs/api-v2.md and docs/questions.md alone: nothing of src is used here.
import { dateOf, isCountry, todayIn } from './calendar.ts'
import { areDatesValid, hasControls, hasVariants, isHostName, nameMeant, type Query, ranges } from './query.ts'

export const goalsPath = '/api/v2/goals'
const questionPath = /^\/api\/v2\/stats\/(totals|timeseries|breakdown)$/
const eventsPath = '/api/v2/events/'
export const version2Paths = [
  ...['totals', 'timeseries', 'breakdown'].map((kind) => `/api/v2/stats/${kind}`),
  goalsPath,
  `${eventsPath}3f0a1d6e-4c1b-4d0e-9f43-0b7c3d6f1a52`,
]

/** Anything may stand for the id of an event. */
export const isEventPath = ([api, version, events, ...rest]: readonly string[]): boolean =>
  api === 'api' && version === 'v2' && events === 'events' && rest.length === 1

export interface AnsweredQuestion {
  kind: string
  /** The fields of each record, in order. */
  fields: readonly string[]
  /** `meta` without the site and the instant; undefined for the list of goals. */
  meta?: Record<string, unknown>
}

interface Filter {
  dimension: string
  operator: string
  values: readonly string[]
}

interface Site {
  zone: string
  goals: readonly string[]
}

const ofSession = [
  ...['entry_page', 'exit_page', 'referrer', 'channel', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content'],
  ...['utm_term', 'country', 'device', 'browser', 'os'],
]
export const dimensions = ['page', 'hostname', 'event', 'goal', ...ofSession]
const isDimension = (name: string): boolean => dimensions.includes(name) || /^prop:[A-Za-z0-9_.-]{1,60}$/.test(name)
const isAction = (name: string): boolean => name === 'event' || name === 'goal' || name.startsWith('prop:')

export const metrics = [
  ...['visitors', 'pageviews', 'sessions', 'bounce_rate', 'avg_duration', 'views_per_session', 'events'],
  ...['conversions', 'conversion_rate'],
]
const isMetric = (name: string): boolean => metrics.includes(name) || /^revenue:[A-Z]{3}$/.test(name)

export const operators = ['is', 'is_not', 'contains', 'starts_with']
const intervals = ['hour', 'day', 'week', 'month']

const parameters = [
  ...['range', 'start', 'end', 'site_id', 'metrics', 'filter', 'goal', 'compare', 'match', 'interval', 'by', 'order'],
  ...['limit', 'cursor'],
]
const maxNames = 32
/** With the question mark. */
const maxLength = 6144

export const judgeGoals = (query: Query): AnsweredQuestion | string =>
  hasVariants(query, ['site_id']) || query.size > maxNames
    ? 'invalid_parameter'
    : { kind: 'goals', fields: ['name', 'kind'] }

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function judgeEvent(id: string, query: Query): AnsweredQuestion | string {
  if (hasVariants(query, ['site_id', 'day']) || query.size > maxNames || !uuid.test(id)) return 'invalid_parameter'
  const days = query.get('day')
  if (days && !(days.length === 1 && dateOf(days[0] ?? ''))) return 'invalid_date'
  return { kind: 'event', fields: ofEvent }
}

const ofEvent = [
  ...['id', 'state', 'message', 'day', 'time', 'event', 'page', 'hostname', 'reason', 'session', 'looked_at'],
]

/** The code of the refusal, or what is answered. Faults of parameters come before those of filters, and these before those of dates. */
export function judgeQuestion(
  path: string,
  query: Query,
  text: string,
  { zone, goals }: Site,
): AnsweredQuestion | string {
  const kind = questionPath.exec(path)?.[1] as string
  const isShort = (name: string) => name !== 'goal' && isDimension(name)
  const names = [...query.keys()]
  if (names.some((name) => isShort(name) || isShort(nameMeant(name)))) return 'invalid_parameter'
  if (hasVariants(query, parameters) || names.length > maxNames || text.length + 1 > maxLength)
    return 'invalid_parameter'
  const isList = kind === 'breakdown'
  const checked = ['range', 'by', 'goal', 'metrics', 'interval', 'limit', 'match', 'compare']
  const values = new Map<string, string>()
  for (const name of [...checked, ...(isList ? ['cursor', 'order'] : [])]) {
    const [value, ...more] = query.get(name) ?? [null]
    if (value === null) continue
    if (!value || more.length > 0) return 'invalid_parameter'
    values.set(name, value)
  }
  const {
    range = '30d',
    by = '',
    goal,
    limit = '100',
    interval = 'day',
    match,
    compare,
    cursor,
    order,
  } = Object.fromEntries(values)
  const asked = values.get('metrics')?.split(',') ?? usualMetrics(kind, by)
  const isRight = [
    ranges.includes(range),
    values.has('by') ? isDimension(by) : !isList,
    goal === undefined || goals.includes(goal),
    asked.every(isMetric) && new Set(asked).size === asked.length,
    goal !== undefined || (isList && by === 'goal') || !asked.some((name) => name.startsWith('conversion')),
    intervals.includes(interval),
    /^[1-9][0-9]{0,3}$/.test(limit) && Number(limit) <= 1000,
    match === undefined || match === 'weekday',
    order === undefined || asked.includes(order.replace(/:asc$/, '')),
    compare === undefined || isComparison(compare, match),
  ]
  const now = cursor === undefined ? Date.now() : instantOf(cursor, asked.length)
  if (now === undefined || !isRight.every(Boolean)) return 'invalid_parameter'
  const filters = readFilters(query.get('filter') ?? [], goals)
  if (!filters) return 'invalid_filter'
  const today = todayIn(zone, now)
  if (!areDatesValid(query, range, today) || isCentury(compare, today)) return 'invalid_date'
  const isHourly = kind === 'timeseries' && interval === 'hour'
  if (isHourly && [daysOf(query, range, today), daysCompared(compare, today)].some((days) => days > 31))
    return 'invalid_parameter'
  const numbers = [...asked, ...(compare === undefined ? [] : ['previous', 'change'])]
  const label = isList ? [by] : kind === 'totals' ? [] : [isHourly ? 'time' : 'date']
  return {
    kind,
    fields: [...label, ...numbers],
    meta: { range, filters, ...(isList && { limit: Number(limit), next_cursor: null }) },
  }
}

const usualMetrics = (kind: string, by: string): string[] =>
  kind === 'totals'
    ? ['visitors', 'pageviews', 'sessions', 'bounce_rate', 'avg_duration']
    : ['visitors', kind === 'breakdown' && isAction(by) ? 'events' : 'pageviews']

const chosen = /^(\d{4}-\d\d-\d\d)\/(\d{4}-\d\d-\d\d)$/

function isComparison(text: string, match: string | undefined): boolean {
  if (text === 'previous' || text === 'year') return true
  const [, first = '', last = ''] = chosen.exec(text) ?? []
  return match === undefined && isDay(first) && isDay(last) && first <= last
}

const isDay = (text: string): boolean =>
  !text.startsWith('0000') && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text)

/** Chosen days are at most a hundred years, up to today. */
function isCentury(compare: string | undefined, today: string): boolean {
  const [, start, end] = chosen.exec(compare ?? '') ?? []
  if (!start || !end) return false
  return !areDatesValid(new Map(Object.entries({ start: [start], end: [end] })), 'custom', today)
}

const dayMs = 86_400_000

function daysBetween(start: string, end: string, today: string): number {
  const last = end < today ? end : today
  return start > today ? 0 : (Date.parse(last) - Date.parse(start)) / dayMs + 1
}

function daysCompared(compare: string | undefined, today: string): number {
  const [, start, end] = chosen.exec(compare ?? '') ?? []
  return start && end ? daysBetween(start, end, today) : 0
}

function daysOf(query: Query, range: string, today: string): number {
  if (range !== 'custom') return { '24h': 0, '7d': 7, '30d': 30, '90d': 90 }[range] ?? 365
  const [start, end] = ['start', 'end'].map((name) => dayWritten(query.get(name)?.[0] ?? ''))
  return daysBetween(start as string, end as string, today)
}

const dayWritten = (text: string): string => text.slice(0, 10).replace(/^(\d{4})(\d\d)(\d\d).*$/, '$1-$2-$3')

/** The instant in a cursor of `[now, numbers, value]`; undefined for a text that is none of ours. */
function instantOf(cursor: string, metricCount: number): number | undefined {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const [now, numbers, value] = parts
    const isExact = Buffer.from(JSON.stringify([now, numbers, value])).toString('base64url') === cursor
    const isOurs =
      isExact &&
      Number.isSafeInteger(now) &&
      now >= 0 &&
      now < Date.UTC(10_000, 0) &&
      numbers.length === metricCount &&
      numbers.every(Number.isSafeInteger) &&
      typeof value === 'string'
    return isOurs ? now : undefined
  } catch {
    return undefined
  }
}

/** As `meta` shows them; undefined if one is refused. */
function readFilters(texts: readonly (string | undefined)[], goals: readonly string[]): Filter[] | undefined {
  const filters = texts.map((text) => (text === undefined ? undefined : readFilter(text, goals)))
  return texts.length <= 8 && filters.every((filter) => filter !== undefined) ? filters : undefined
}

function readFilter(text: string, goals: readonly string[]): Filter | undefined {
  const pieces = text.split(':')
  const dimension = pieces.splice(0, text.startsWith('prop:') ? 2 : 1).join(':')
  const [operator = '', ...rest] = pieces
  const values = rest.length > 0 ? valuesIn(rest.join(':')) : undefined
  if (!values || !isDimension(dimension) || !operators.includes(operator) || values.length > 100) return undefined
  const isExact = operator === 'is' || operator === 'is_not'
  if (values.includes('') && (!isExact || (values.length > 1 && isAction(dimension)))) return undefined
  if (dimension === 'goal' && (!isExact || values.some((name) => name !== '' && !goals.includes(name))))
    return undefined
  if (values.some(hasControls)) return undefined
  const shown = values.map((value) => (isExact && value !== '' ? shownAs(dimension, value) : value))
  return shown.every((value) => value !== undefined) ? { dimension, operator, values: shown } : undefined
}

/** Character by character. */
function valuesIn(list: string): string[] | undefined {
  const values = ['']
  for (let at = 0; at < list.length; at++) {
    const character = list[at] as string
    const next = list[at + 1]
    if (character === ',') {
      values.push('')
      continue
    }
    if (character === '\\' && next !== '\\' && next !== ',') return undefined
    values.push(`${values.pop()}${character === '\\' ? next : character}`)
    if (character === '\\') at++
  }
  return values
}

function shownAs(dimension: string, value: string): string | undefined {
  if (dimension === 'country') return isCountry(value) ? value.toUpperCase() : undefined
  if (dimension === 'device')
    return /^(desktop|mobile|tablet|unknown)$/i.test(value) && /^[a-z]+$/i.test(value) ? value.toLowerCase() : undefined
  if (dimension !== 'hostname') return value
  if (!isHostName(value)) return undefined
  const host = /^[\0-\x7f]*$/.test(value) ? value : (URL.parse(`http://${value}`)?.hostname ?? '')
  return host.toLowerCase().replace(/\.$/, '')
}
