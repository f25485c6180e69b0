// Which visits and hits count for a question, and what they count for: docs/questions.md, implemented literally and without code of src/stats.

import { pageview, type TrafficEvent } from '../../../src/traffic/event.ts'
import { type Goal, matchesPattern } from '../../../src/traffic/goals.ts'
import { storedId } from '../../../src/traffic/recording.ts'
import type { ImportedRow, Sums } from './imported.ts'
import type { Site } from './model.ts'
import type { Asked } from './params.ts'
import { contains, type Window } from './windows.ts'

export interface QuestionFilter {
  dimension: string
  operator: 'is' | 'is_not' | 'contains' | 'starts_with'
  values: readonly string[]
}

export type Interval = 'hour' | 'day' | 'week' | 'month'

export interface Question {
  kind: 'totals' | 'timeseries' | 'breakdown'
  dates: Pick<Asked, 'range' | 'start' | 'end'>
  metrics: readonly string[]
  filters: readonly QuestionFilter[]
  goal?: string | undefined
  compare?: 'previous' | 'year' | undefined
  matchWeekday?: boolean
  interval?: Interval
  by?: string
  order?: { metric: string; ascending: boolean }
}

export interface AskedSite extends Site {
  goals: readonly Goal[]
}

export type Numbers = Record<string, number>

interface Session {
  hits: readonly TrafficEvent[]
  first: TrafficEvent
  last: TrafficEvent
  entry: string
  exit: string
}

/** What counts for a question: each kept session with its hits that the filters leave. */
export interface Kept {
  session: Session
  /** Of the window, whatever the filters on pages and hosts say. */
  inWindow: readonly TrafficEvent[]
  hits: readonly TrafficEvent[]
}

// Which sessions and hits count

function sessionsOf(events: readonly TrafficEvent[]): Session[] {
  const byId = Map.groupBy(events, ({ day, sessionId }) => `${day} ${sessionId}`)
  return [...byId.values()].map((unsorted) => {
    const hits = unsorted.toSorted((a, b) => a.time - b.time)
    const views = hits
      .filter(({ name }) => name === pageview)
      .toSorted((a, b) => a.time - b.time || (BigInt(storedId(a.eventId)) < BigInt(storedId(b.eventId)) ? -1 : 1))
    return {
      hits,
      first: hits[0]!,
      last: hits.at(-1)!,
      entry: views[0]?.pathname ?? '',
      exit: views.at(-1)?.pathname ?? '',
    }
  })
}

export function keptIn(site: AskedSite, { filters }: Question, window: Window): Kept[] {
  const isOf = (...names: string[]) => filters.filter(({ dimension }) => names.includes(dimension))
  const places = isOf('page', 'hostname')
  const goals = isOf('goal')
  const actions = filters.filter(({ dimension }) => dimension === 'event' || dimension.startsWith('prop:'))
  const others = filters.filter((filter) => ![...places, ...goals, ...actions].includes(filter))
  const wanted = actions.filter((filter) => filter.operator !== 'is_not' && !isEmpty(filter))
  const kept: Kept[] = []
  for (const session of sessionsOf(site.events)) {
    if (site.excludedCountries.includes(session.first.country)) continue
    if (!others.every((filter) => fits(filter, valueOfSession(session, filter.dimension)))) continue
    const inWindow = session.hits.filter((hit) => contains(window, hit))
    const hits = inWindow.filter((hit) =>
      places.every((filter) => fits(filter, filter.dimension === 'page' ? hit.pathname : hit.hostname)),
    )
    if (hits.length === 0) continue
    if (wanted.length > 0 && !inWindow.some((hit) => wanted.every((filter) => hasAction(site, filter, hit)))) continue
    const single = [...goals, ...actions.filter((filter) => !wanted.includes(filter))]
    const isRight = (filter: QuestionFilter) =>
      inWindow.some((hit) => hasAction(site, filter, hit)) === (isEmpty(filter) === (filter.operator === 'is_not'))
    if (single.every(isRight)) kept.push({ session, inWindow, hits })
  }
  return kept
}

const isEmpty = ({ values }: QuestionFilter): boolean => values.length === 1 && values[0] === ''

function fits({ operator, values }: QuestionFilter, value: string): boolean {
  switch (operator) {
    case 'is':
      return values.includes(value)
    case 'is_not':
      return !values.includes(value)
    case 'contains':
      return values.some((part) => value.includes(part))
    case 'starts_with':
      return values.some((part) => value.startsWith(part))
  }
}

/** Whether the hit has what the filter names, be it wanted or not. */
function hasAction(site: AskedSite, filter: QuestionFilter, hit: TrafficEvent): boolean {
  const named: QuestionFilter = filter.operator === 'is_not' ? { ...filter, operator: 'is' } : filter
  if (filter.dimension === 'event') return hit.name !== pageview && (isEmpty(filter) || fits(named, hit.name))
  if (filter.dimension === 'goal')
    return site.goals.some((goal) => (isEmpty(filter) || filter.values.includes(goal.name)) && reaches(goal, hit))
  const value = propertyOf(hit, filter.dimension)
  return value !== undefined && (isEmpty(filter) || fits(named, value))
}

export function propertyOf(hit: TrafficEvent, dimension: string): string | undefined {
  const key = dimension.slice('prop:'.length)
  return hit.props && Object.hasOwn(hit.props, key) ? hit.props[key] : undefined
}

export function reaches({ condition }: Goal, hit: TrafficEvent): boolean {
  if (condition.kind === 'path') return hit.name === pageview && matchesPattern(condition.pattern, hit.pathname)
  if (hit.name !== condition.event) return false
  return !condition.property || propertyOf(hit, `prop:${condition.property.key}`) === condition.property.value
}

export function valueOfSession({ first, entry, exit }: Session, dimension: string): string {
  const { referrer, channel, utmSource, campaign, country, device, browser, os } = first
  const values: Record<string, string | undefined> = {
    entry_page: entry,
    exit_page: exit,
    referrer,
    channel,
    utm_source: utmSource,
    utm_medium: campaign?.medium,
    utm_campaign: campaign?.campaign,
    utm_content: campaign?.content,
    utm_term: campaign?.term,
    country,
    device: device.toLowerCase(),
    browser,
    os,
  }
  return values[dimension] ?? ''
}

// What they count for

/** `part` are the hits of these sessions that count here: all of them, those of a row, or those of an hour. */
export interface Part {
  kept: Kept
  part: readonly TrafficEvent[]
  /** Hits that make their visitor one of the row. */
  members: readonly TrafficEvent[]
  /** Whether the session counts here. */
  hasSession: boolean
  /** The hits whose revenue counts here. */
  paid: readonly TrafficEvent[]
}

const isGoalOf =
  (site: AskedSite, { goal, by }: Question) =>
  (hit: TrafficEvent): boolean => {
    const chosen = site.goals.find(({ name }) => name === goal)
    return chosen ? reaches(chosen, hit) : by === 'goal'
  }

/** `imported` are daily sums to add. */
export function numbersOf(
  site: AskedSite,
  question: Question,
  window: Window,
  parts: readonly Part[],
  imported: readonly ImportedRow[] = [],
): Numbers {
  const added = (name: keyof Sums) => imported.reduce((sum, { sums }) => sum + sums[name], 0)
  const visitorsOf = (some: readonly Part[]) =>
    new Set(
      some.flatMap(({ kept, members }) =>
        members.length > 0 ? [`${kept.session.first.day} ${kept.session.first.visitorId}`] : [],
      ),
    ).size
  const hits = parts.flatMap(({ part }) => part)
  const sessions = parts.filter(({ kept, hasSession }) => hasSession && contains(window, kept.session.first))
  const ownBounces = sessions.filter(
    ({ kept: { session } }) => session.hits.length === 1 && session.first.name === pageview,
  ).length
  const bounces = ownBounces + added('bounces')
  const ownMs = sessions.reduce((sum, { kept: { session } }) => sum + session.last.time - session.first.time, 0)
  const durationMs = ownMs + 1000 * added('duration')
  const begun = sessions.length + added('sessions')
  const named = question.filters.filter(
    (filter) =>
      (filter.dimension === 'event' || filter.dimension === 'goal' || filter.dimension.startsWith('prop:')) &&
      filter.operator !== 'is_not' &&
      !isEmpty(filter),
  )
  const visitors = visitorsOf(parts) + added('visitors')
  const pageviews = hits.filter(({ name }) => name === pageview).length + added('pageviews')
  const isGoal = isGoalOf(site, question)
  const conversions = visitorsOf(parts.filter(({ kept }) => kept.inWindow.some(isGoal)))
  const revenue: Numbers = {}
  for (const name of question.metrics) {
    const currency = name.slice('revenue:'.length)
    if (!name.startsWith('revenue:')) continue
    revenue[name] = parts
      .flatMap(({ paid }) => paid)
      .filter((hit) => hit.revenue?.currency === currency && (!question.goal || isGoal(hit)))
      .reduce((sum, hit) => sum + (hit.revenue?.amount ?? 0), 0)
  }
  return {
    visitors,
    pageviews,
    sessions: begun,
    bounce_rate: quotient(100 * bounces, begun),
    avg_duration: quotient(durationMs, 1000 * begun),
    views_per_session: quotient(100 * pageviews, begun) / 100,
    events:
      hits.filter((hit) => hit.name !== pageview && named.every((filter) => hasAction(site, filter, hit))).length +
      added('events'),
    conversions,
    conversion_rate: quotient(1000 * conversions, visitors) / 10,
    ...revenue,
  }
}

/** Rounded half up, with whole numbers. */
export const quotient = (above: number, below: number): number =>
  below === 0 ? 0 : Math.floor((2 * above + below) / (2 * below))
