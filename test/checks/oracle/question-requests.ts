// Random questions to a world: most filters match some data, because their values come from one event.
import type { Goal } from '../../../src/traffic/goals.ts'
import type { Random } from '../../support/random.ts'
import { type Params, readParams } from './params.ts'
import { type Interval, propertyOf, type Question, type QuestionFilter, valueOfSession } from './question-hits.ts'
import { pickRange } from './requests.ts'
import type { Moment } from './worlds.ts'

export const goals: readonly Goal[] = [
  { name: 'Signup', condition: { kind: 'event', event: 'signup' } },
  { name: 'Pro', condition: { kind: 'event', event: 'Signup', property: { key: 'plan', value: 'pro' } } },
  { name: 'Docs', condition: { kind: 'path', pattern: '/docs/**' } },
  { name: 'Prices, both', condition: { kind: 'path', pattern: '/*ricing*' } },
]

const sessionDimensions = [
  ...['entry_page', 'exit_page', 'referrer', 'channel', 'utm_source', 'utm_medium', 'utm_campaign'],
  ...['utm_content', 'utm_term', 'country', 'device', 'browser', 'os'],
]
const dimensions = ['page', 'page', 'hostname', 'event', 'goal', 'prop:plan', 'prop:404', ...sessionDimensions]
const metrics = [
  ...['visitors', 'pageviews', 'sessions', 'bounce_rate', 'avg_duration', 'views_per_session', 'events'],
  ...['conversions', 'conversion_rate', 'revenue:EUR', 'revenue:KWD'],
]

export interface AskedQuestion {
  question: Question
  params: Params
}

/** Undefined if the range is refused: reports cover these. */
export function pickQuestion(random: Random, world: Moment, goals: readonly Goal[]): AskedQuestion | undefined {
  const range = pickRange(random, world)
  const dates = readParams(range)
  if (typeof dates === 'string') return undefined
  const kind = random.pick(['totals', 'timeseries', 'breakdown', 'breakdown'] as const)
  const by = kind === 'breakdown' ? random.pick(dimensions) : undefined
  const goal = goals.length > 0 && random.oneIn(2) ? random.pick(goals).name : undefined
  const known = goal || by === 'goal' ? metrics : metrics.filter((name) => !name.startsWith('conversion'))
  const chosen = random.sample(known, 1 + random.below(4)) as [string, ...string[]]
  const filters = Array.from({ length: random.pick([0, 1, 1, 1, 2, 2, 3, 8]) }, () => pickFilter(random, world, goals))
  const compare = random.oneIn(3) ? random.pick(['previous', 'year'] as const) : undefined
  const matchWeekday = compare !== undefined && random.oneIn(3)
  const interval = kind === 'timeseries' ? random.pick<Interval>(['hour', 'day', 'week', 'month']) : undefined
  const order = by && random.oneIn(2) ? { metric: random.pick(chosen), ascending: random.oneIn(2) } : undefined
  return {
    question: {
      ...{ kind, dates, metrics: chosen, filters, matchWeekday },
      ...(goal !== undefined && { goal }),
      ...(compare && { compare }),
      ...(interval && { interval }),
      ...(by && { by }),
      ...(order && { order }),
    },
    params: [
      ...range,
      ['metrics', chosen.join(',')],
      ...filters.map((filter) => ['filter', textOf(filter)] as const),
      ...(goal === undefined ? [] : [['goal', goal] as const]),
      ...(compare ? [['compare', compare] as const] : []),
      ...(matchWeekday ? [['match', 'weekday'] as const] : []),
      ...(interval ? [['interval', interval] as const] : []),
      ...(by ? [['by', by] as const] : []),
      ...(order ? [['order', `${order.metric}${order.ascending ? ':asc' : ''}`] as const] : []),
    ],
  }
}

const textOf = ({ dimension, operator, values }: QuestionFilter): string =>
  `${dimension}:${operator}:${values.map((value) => value.replace(/[\\,]/g, '\\$&')).join(',')}`

function pickFilter(random: Random, world: Moment, goals: readonly Goal[]): QuestionFilter {
  const dimension = random.pick(dimensions)
  if (dimension === 'goal') {
    const values =
      goals.length === 0 || random.oneIn(4)
        ? ['']
        : random.sample(goals, Math.min(1 + random.below(2), goals.length)).map(({ name }) => name)
    return { dimension, operator: random.pick(['is', 'is_not']), values }
  }
  const operator = random.pick(['is', 'is', 'is_not', 'contains', 'starts_with'] as const)
  const isExact = operator === 'is' || operator === 'is_not'
  const pickValue = () => pickValueOf(random, world, dimension)
  const some = Array.from({ length: random.pick([1, 1, 2, 3]) }, pickValue)
  if (isExact) {
    const isAction = dimension === 'event' || dimension.startsWith('prop:')
    const values = random.oneIn(8) ? [''] : some.filter((value) => value !== '' || !(isAction && some.length > 1))
    return { dimension, operator, values: values.length > 0 ? values : [''] }
  }
  const parts = some.map((value) => partOf(random, value, operator === 'starts_with'))
  return { dimension, operator, values: parts }
}

/** Cut between characters. */
function partOf(random: Random, value: string, fromStart: boolean): string {
  const characters = [...value]
  const from = fromStart ? 0 : random.below(characters.length + 1)
  return characters.slice(from, from + 1 + random.below(4)).join('') || 'e'
}

function pickValueOf(random: Random, world: Moment, dimension: string): string {
  if (world.events.length === 0) return dimension === 'country' ? 'DE' : dimension === 'device' ? 'mobile' : 'x'
  const event = random.pick(world.events)
  if (dimension === 'page') return event.pathname
  if (dimension === 'hostname') return event.hostname
  if (dimension === 'event') return event.name
  if (dimension.startsWith('prop:')) return propertyOf(event, dimension) ?? 'pro'
  const session = { hits: [event], first: event, last: event, entry: event.pathname, exit: event.pathname }
  return valueOfSession(session, dimension)
}
