// Decides how many sessions each day has: growth, weekdays, holidays, campaigns, a viral day and chance. All of this is decided here,
// once per day and from the seed. ClickHouse decides what happens in a session (statement.ts).
import { hourMs } from '../durations.ts'
import { type Random, seeded } from './random.ts'
import { type DayKind, shareBefore } from './rhythm.ts'
import type { Pushes } from './shape.ts'

export interface PlannedDay {
  /** The calendar day in the site's zone. */
  date: string
  /** The day's first instant in UTC milliseconds. A day has 23, 24 or 25 hours. */
  start: number
  lengthMs: number
  /** Where traffic ends, in milliseconds after the start: at the end of the day, or now. */
  limitMs: number
  kind: DayKind
  /** The share of the day's rhythm that lies before the limit. */
  reach: number
  sessions: number
  /** Each session beyond this number is the second visit of one visitor. */
  visitors: number
  /** The number of sessions on all days before. */
  firstSession: number
  /** A source that brings this share of the day's sessions to one page. */
  push: Push
  /** A page that many visitors read in these days, counted from 1. */
  trendingPage: number
}

interface Push {
  share: number
  source: number
  page: number
}

export interface PlanOptions {
  /** UTC milliseconds. Nothing happens at or after this instant. */
  until: number
  zone: string
  sessions: number
  seed: number
  /** The possible sources and targets of pushes. */
  pushes: Pushes
}

const months = 13
const sessionsPerVisitor = 1.15

/** A second visit is three hours away from the first, which may last two, so a shorter day has no second visits. */
export const apartMs = 3 * hourMs
export const maxSessionMs = 2 * hourMs
const shortestForTwoMs = 2 * apartMs + maxSessionMs

const weekdays = [1, 1.07, 1.06, 1.02, 0.9, 0.6, 0.64]
const nothing: Push = { share: 0, source: 1, page: 1 }

export function planDays({ until, zone, sessions, seed, pushes }: PlanOptions): PlannedDay[] {
  const random = seeded(seed)
  const calendar = calendarOf(until, zone)
  const pushOf = pushPlan(random, pushes, calendar)
  const trending = trendingPages(random, pushes.posts, calendar.length)
  const noise = drift(random, calendar.length)
  const expected = calendar.map((day, index) => {
    const progress = index / calendar.length
    const growth = Math.exp(0.8 * progress + 0.06 * Math.sin(progress * 11))
    const date = Temporal.PlainDate.from(day.date)
    // A push adds to the usual sessions.
    const pushed = 1 / (1 - (pushOf.get(index)?.share ?? 0))
    return growth * weekdays[date.dayOfWeek - 1]! * season(date) * noise[index]! * pushed * day.reach
  })
  const counts = counted(scattered(random, scaled(expected, sessions)), sessions)
  let firstSession = 0
  return calendar.map((day, index) => {
    const count = counts[index]!
    const visitors = day.limitMs < shortestForTwoMs ? count : Math.ceil(count / sessionsPerVisitor)
    const first = firstSession
    firstSession += count
    return {
      ...day,
      sessions: count,
      visitors,
      firstSession: first,
      push: pushOf.get(index) ?? nothing,
      trendingPage: trending[index]!,
    }
  })
}

type CalendarDay = Pick<PlannedDay, 'date' | 'start' | 'lengthMs' | 'limitMs' | 'kind' | 'reach'>

/** The days of the thirteen months that end now. */
function calendarOf(until: number, zone: string): CalendarDay[] {
  const today = Temporal.Instant.fromEpochMilliseconds(until).toZonedDateTimeISO(zone).toPlainDate()
  const days: CalendarDay[] = []
  for (
    let date = today.subtract({ months }).add({ days: 1 });
    Temporal.PlainDate.compare(date, today) <= 0;
    date = date.add({ days: 1 })
  ) {
    const start = date.toZonedDateTime(zone).epochMilliseconds
    const lengthMs = date.add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds - start
    const limitMs = Math.min(lengthMs, until - start)
    // A zone may skip a date, and today may have just begun.
    if (limitMs <= 0) continue
    const kind = date.dayOfWeek > 5 ? 'weekend' : 'work'
    days.push({ date: date.toString(), start, lengthMs, limitMs, kind, reach: shareBefore(kind, limitMs / lengthMs) })
  }
  return days
}

/** Late December is quiet, and August is a little quieter than usual. */
function season({ month, day }: Temporal.PlainDate): number {
  if (month === 8) return 0.93
  if (month === 12 && day >= 20) return day === 25 ? 0.42 : day >= 23 ? 0.55 : 0.8
  if (month === 1 && day <= 6) return day === 1 ? 0.5 : 0.78
  return 1
}

/** Noise that depends on the day before: good and bad weeks, not only good and bad days. */
function drift(random: Random, length: number): number[] {
  let slow = 0
  return Array.from({ length }, () => {
    slow = 0.85 * slow + 0.035 * random.normal()
    return Math.exp(slow + 0.04 * random.normal())
  })
}

/** Campaigns of some weeks, about every two months, and one page that goes viral for a few days. */
function pushPlan(
  random: Random,
  { campaigns, viralSources, posts }: Pushes,
  calendar: CalendarDay[],
): Map<number, Push> {
  const plan = new Map<number, Push>()
  const length = calendar.length
  for (let day = random.below(30); day < length && campaigns.length > 0; day += 35 + random.below(40)) {
    const campaign = random.pick(campaigns)
    const share = random.between(0.06, 0.16)
    const end = Math.min(length, day + 12 + random.below(16))
    for (; day < end; day++) plan.set(day, { share: share * random.between(0.8, 1.2), ...campaign })
  }
  const viral = { source: random.pick(viralSources), page: random.pick(posts) }
  // Within the last year but not recently, and on a workday, where it stands out.
  let day = Math.floor(length * random.between(0.55, 0.85))
  while (calendar[day]?.kind === 'weekend') day++
  for (const share of [0.74, 0.52, 0.26, 0.12, 0.05]) plan.set(day++, { share, ...viral })
  return plan
}

/** About once a week another post becomes the one that everybody reads. */
function trendingPages(random: Random, posts: readonly number[], length: number): number[] {
  const pages: number[] = []
  while (pages.length < length) {
    const page = random.pick(posts)
    for (let days = 5 + random.below(8); days > 0; days--) pages.push(page)
  }
  return pages
}

function scaled(values: readonly number[], total: number): number[] {
  const sum = values.reduce((all, value) => all + value, 0)
  return values.map((value) => (value * total) / sum)
}

/** A day with ten expected sessions gets seven or thirteen; a day with ten thousand hardly differs. */
const scattered = (random: Random, values: readonly number[]): number[] =>
  values.map((value) => Math.max(0, value + 0.9 * Math.sqrt(value) * random.normal()))

/** Whole numbers that sum up to the total: each day passes its rounding error on to the next. */
function counted(values: readonly number[], total: number): number[] {
  let exact = 0
  let assigned = 0
  return scaled(values, total).map((value) => {
    exact += value
    const count = Math.round(exact) - assigned
    assigned += count
    return count
  })
}
