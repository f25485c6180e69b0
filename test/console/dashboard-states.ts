// Random states of a dashboard: the fields of its address, and those of the questions that it must show the answers to.
import fc from 'fast-check'
import { type ListName, lists, panels } from '../../src/console/dashboard/lists.ts'
import { filterText, operators } from '../../src/stats/questions/filters.ts'
import type { TrafficEvent } from '../../src/traffic/event.ts'
import { zoned } from '../checks/oracle/windows.ts'
import type { DashboardWorld } from './dashboard-world.ts'

export const worldNumbers = [1, 2, 3, 4, 5, 6]

/** A value that an event has, so that something is left; undefined if it has none. */
const valuesOf: Record<string, (event: TrafficEvent) => string | undefined> = {
  page: ({ pathname }) => pathname,
  entry_page: ({ pathname }) => pathname,
  exit_page: ({ pathname }) => pathname,
  hostname: ({ hostname }) => hostname,
  event: ({ name }) => (name === 'pageview' ? undefined : name),
  goal: () => 'Reads',
  referrer: ({ referrer }) => referrer,
  channel: ({ channel }) => channel,
  utm_source: ({ utmSource }) => utmSource,
  utm_medium: ({ campaign }) => campaign?.medium,
  utm_campaign: ({ campaign }) => campaign?.campaign,
  country: ({ country }) => country,
  device: ({ device }) => device.toLowerCase(),
  browser: ({ browser }) => browser,
  os: ({ os }) => os,
}

const calendarNames = ['today', 'yesterday', 'this_week', 'this_month', 'last_month', 'this_year', 'all'] as const

const listNames = Object.keys(lists) as ListName[]

export const states = fc.record({
  world: fc.constantFrom(...worldNumbers),
  range: fc.constantFrom('24h', '7d', '30d', '90d', '12m', 'custom', ...calendarNames),
  daysAgo: fc.tuple(fc.integer({ min: -3, max: 500 }), fc.integer({ min: -3, max: 500 })),
  filters: fc.array(
    fc.record({
      name: fc.constantFrom(...Object.keys(valuesOf)),
      operator: fc.constantFrom(...operators),
      nth: fc.nat(),
    }),
    { maxLength: 3 },
  ),
  metric: fc.constantFrom('visitors', 'conversions', 'pageviews', 'sessions', 'bounce_rate', 'avg_duration'),
  goal: fc.constantFrom('Reached', 'Reads'),
  interval: fc.constantFrom('', 'hour', 'day', 'week', 'month'),
  tabs: fc.record({
    pages: fc.constantFrom(...panels.pages.lists),
    sources: fc.constantFrom(...panels.sources.lists),
    devices: fc.constantFrom(...panels.devices.lists),
    actions: fc.constantFrom(...panels.actions.lists),
  }),
  compare: fc.constantFrom('on', 'on', 'off', 'year', 'days', 'previous weekday', 'year weekday'),
  comparedAgo: fc.tuple(fc.integer({ min: -3, max: 800 }), fc.integer({ min: -3, max: 800 })),
  more: fc.constantFrom(...listNames),
  order: fc.tuple(fc.nat(), fc.boolean()),
  search: fc.constantFrom(undefined, 'a', '/p', 'e'),
})

export type State = typeof states extends fc.Arbitrary<infer Value> ? Value : never

/** What an address says: the days of the calendar have names there. */
export const addressFields = (world: DashboardWorld, state: State): [string, string][] =>
  isOfCalendar(state.range) ? [['range', state.range]] : rangeFields(world, state)

const isOfCalendar = (range: string): boolean => calendarNames.some((name) => name === range)

/** The same days worked out a second time, on numbers instead of dates. */
function calendarFields({ now, zone, events }: DashboardWorld, range: string): [string, string][] {
  const today = zoned(now, zone).toPlainDate().toString()
  const [year = 0, month = 0, day = 0] = today.split('-').map(Number)
  const utc = (...parts: [number, number, number]) => new Date(Date.UTC(...parts)).toISOString().slice(0, 10)
  const weekday = (new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7
  const first = events.map((event) => event.day).toSorted()[0] ?? today
  const [start, end] = {
    today: [today, today],
    yesterday: [utc(year, month - 1, day - 1), utc(year, month - 1, day - 1)],
    this_week: [utc(year, month - 1, day - weekday), today],
    this_month: [utc(year, month - 1, 1), today],
    last_month: [utc(year, month - 2, 1), utc(year, month - 1, 0)],
    this_year: [utc(year, 0, 1), today],
    all: [[first, today].toSorted()[0], today],
  }[range] as [string, string]
  return [
    ['range', 'custom'],
    ['start', start],
    ['end', end],
  ]
}

/** What the API is asked for. */
export function rangeFields(world: DashboardWorld, { range, daysAgo }: State): [string, string][] {
  if (isOfCalendar(range)) return calendarFields(world, range)
  if (range !== 'custom') return [['range', range]]
  const today = zoned(world.now, world.zone).toPlainDate()
  const [last, first] = daysAgo.toSorted((one, other) => one - other).map((days) => today.subtract({ days }).toString())
  return [
    ['range', range],
    ['start', first as string],
    ['end', last as string],
  ]
}

/** What the API is asked to compare with. Before all time there is nothing. */
export function comparisonFields(world: DashboardWorld, { range, compare, comparedAgo }: State): [string, string][] {
  if (compare === 'days') {
    const today = zoned(world.now, world.zone).toPlainDate()
    const [last, first] = comparedAgo.toSorted((one, other) => one - other).map((days) => today.subtract({ days }))
    return [['compare', `${first}/${last}`]]
  }
  if (compare === 'off' || range === 'all') return []
  const [to = '', match] = compare.replace('on', 'previous').split(' ')
  return [['compare', to], ...(match ? [['match', match] as [string, string]] : [])]
}

/** What an address says about it. */
export const comparisonInAddress = (world: DashboardWorld, state: State): [string, string][] =>
  state.compare === 'off' ? [['compare', 'off']] : comparisonFields(world, state)

/** By what the chart is drawn: what was chosen if it makes three to 400 points, otherwise what is read best. */
export function intervalOf({ range, interval }: State, days: readonly string[]): string {
  if (range === '24h' || days.length === 1) return 'hour'
  const mondays = new Set(days.map((day) => Math.floor((Date.parse(day) / 86_400_000 - 4) / 7)))
  const points = { day: days.length, week: mondays.size, month: new Set(days.map((day) => day.slice(0, 7))).size }
  const readable = Object.entries(points).flatMap(([name, count]) => (count >= 3 && count <= 400 ? [name] : []))
  const offered = [...(days.length > 0 && days.length <= 7 ? ['hour'] : []), ...readable]
  const usual = days.length <= 2 ? 'hour' : days.length <= 92 ? 'day' : days.length <= 731 ? 'week' : 'month'
  return [interval, usual, offered[0]].find((one) => one !== undefined && offered.includes(one)) ?? 'day'
}

export const filterFields = (world: DashboardWorld, { filters }: State): [string, string][] =>
  filters.flatMap(({ name, operator, nth }): [string, string][] => {
    const event = world.events[nth % Math.max(1, world.events.length)]
    const value = event && valuesOf[name]?.(event)
    if (value === undefined || (value === '' && name === 'hostname')) return []
    const isWhole = value === '' || name === 'goal'
    const used = isWhole && operator !== 'is_not' ? 'is' : operator
    const part = used === 'contains' || used === 'starts_with' ? [...value].slice(0, 2).join('') : value
    return [['filter', filterText(name, used, [part])]]
  })
