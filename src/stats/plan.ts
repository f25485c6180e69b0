// Where each day of a period is read from: whole months and days from the tallies as far as the site's folds reach,
// everything else (today, partial edges, days with late events, sites that are not folded) from the events. Nothing else decides this.
import type { DayRange, Fold, OpenFold } from '../traffic/folds.ts'
import { type Period, type Periods, partialEnd, partialStart, storedDay } from './period.ts'
import type { Span } from './places.ts'

export interface Plan {
  /** Days to read from the events; the period's instants cut the partial ones. */
  raw: readonly DayRange[]
  folded: readonly Segment[]
  /** Days that are not over, and parts of days, counted a moment ago. */
  open: readonly Segment[]
}

/** What is known of a site's days. */
export interface Known {
  folds: readonly Fold[]
  open?: OpenFold | undefined
}

/** Tallies: their span, the version they were written under, and their days (of a month, its first). */
export interface Segment {
  span: Span
  version: number
  days: readonly DayRange[]
}

/** `byMonth`: whole months are read as such, of what they are stored of. */
export function planOf(period: Period, { folds, open }: Known, { byMonth }: { byMonth: boolean }): Plan {
  const all: DayRange = [storedDay(period.firstDay), storedDay(period.lastDay)]
  if (folds.length === 0 || all[0] > all[1]) return { raw: [all], folded: [], open: [] }
  const whole: DayRange = [
    partialStart(period) === null ? all[0] : dayAfter(all[0]),
    partialEnd(period) === null ? all[1] : dayBefore(all[1]),
  ]
  const months = byMonth
    ? folds.map(({ version, months }) => segment('month', version, months.flatMap(inMonths(whole))))
    : []
  const rest = without([whole], months)
  const folded = [...months.filter((part) => part.days.length > 0), ...foldedDays(rest, folds)]
  const counted = open
    ? [...openDays(without([all], folded), whole, period, open), ...partOfDay(period, folds, open)]
    : []
  return { raw: without([all], [...folded, ...counted]), folded, open: counted }
}

/** Whole days, and today when the period ends at the instant of the count. */
function openDays(
  rest: readonly DayRange[],
  whole: DayRange,
  period: Period,
  { version, days, asOf }: OpenFold,
): Segment[] {
  const last = partialEnd(period) === asOf ? days[1] : earlier(dayBefore(days[1]), whole[1])
  const counted = rest.flatMap(shared([later(days[0], whole[0]), last]))
  return counted.length > 0 ? [segment('day', version, counted)] : []
}

/** The part of a closed day that the period ends with, unless events for that day have come since it was counted. */
function partOfDay(period: Period, folds: readonly Fold[], { version, parts }: OpenFold): Segment[] {
  const day = storedDay(period.lastDay)
  const part = parts.find((one) => one.day === day && one.until === partialEnd(period))
  if (!part || (partialStart(period) !== null && storedDay(period.firstDay) === day)) return []
  const isAsItWas = foldedDays([[day, day]], folds).some((fold) => fold.version === part.version)
  return isAsItWas ? [segment('part', version, [[day, day]])] : []
}

/** Whether events may still be written, unnoticed, for a day that these periods read from the events. */
export const readsOpenDays = (
  query: Periods & Known,
  periods: readonly (keyof Periods)[],
  settledThrough: string | null,
): boolean =>
  periods.some((name) => {
    const { raw, open } = planOf(query[name], query, { byMonth: false })
    return open.length > 0 || raw.some(([, last]) => last > (settledThrough ?? ''))
  })

/** How old a count of open days may be; with the five seconds that an answer is given again, a minute (decision D-81). */
const oldestMs = 54_000

/** The now of a question: of a busy site, the instant of its last count, if that is recent. */
export const recentCount = (open: OpenFold | null, now: number): OpenFold | undefined =>
  open && open.asOf <= now && now - open.asOf <= oldestMs ? open : undefined

/**
 * Whether a part of the period's last day is asked of which only whole days are kept: its events were dropped (decision D-79). A day
 * before `eventsFrom` that is not folded never had any.
 */
export function endsInDroppedDay(period: Period, folds: readonly Fold[], eventsFrom: string): boolean {
  const day = storedDay(period.lastDay)
  return day < eventsFrom && partialEnd(period) !== null && foldedDays([[day, day]], folds).length > 0
}

/** Which of these days are folded, and under which versions. */
export const foldedDays = (ranges: readonly DayRange[], folds: readonly Fold[]): Segment[] =>
  folds
    .map(({ version, days }) =>
      segment(
        'day',
        version,
        ranges.flatMap((one) => days.flatMap(shared(one))),
      ),
    )
    .filter((part) => part.days.length > 0)

const segment = (span: Segment['span'], version: number, days: readonly DayRange[]): Segment => ({
  span,
  version,
  days,
})

const shared =
  (one: DayRange) =>
  (other: DayRange): DayRange[] => {
    const both: DayRange = [later(one[0], other[0]), earlier(one[1], other[1])]
    return both[0] <= both[1] ? [both] : []
  }

/** The months that lie wholly in both. */
const inMonths = (one: DayRange) => (other: DayRange) =>
  shared(one)(other).flatMap(([first, last]): DayRange[] => {
    const from = first.endsWith('-01') ? first : nextMonth(first)
    const until = dayBefore(dayAfter(last).endsWith('-01') ? dayAfter(last) : `${last.slice(0, 8)}01`)
    return from <= until ? [[from, until]] : []
  })

function without(ranges: readonly DayRange[], taken: readonly Segment[]): DayRange[] {
  const cut = (left: readonly DayRange[], [from, until]: DayRange) =>
    left.flatMap(([first, last]): DayRange[] => [
      ...(first < from ? [[first, last < from ? last : dayBefore(from)] as const] : []),
      ...(last > until ? [[first > until ? first : dayAfter(until), last] as const] : []),
    ])
  return taken
    .flatMap(({ days }) => days)
    .reduce<DayRange[]>(
      cut,
      ranges.filter(([first, last]) => first <= last),
    )
}

/** Dates as texts are in the order of the calendar. */
const later = (one: string, other: string): string => [one, other].sort()[1] as string
const earlier = (one: string, other: string): string => [one, other].sort()[0] as string

const dayMs = 86_400_000
const shifted = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)
const dayAfter = (day: string): string => shifted(day, 1)
const dayBefore = (day: string): string => shifted(day, -1)
const nextMonth = (day: string): string => `${shifted(`${day.slice(0, 8)}01`, 31).slice(0, 8)}01`
