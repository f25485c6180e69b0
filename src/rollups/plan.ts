// Decides where each day of a period is read from. Rollups provide whole months and days as far as they reach. The events provide
// everything else: a partial first or last day, days with late events, sites without rollups. Nothing else decides this.
import {
  type DayRange,
  dayAfter,
  dayBefore,
  earlier,
  intersect,
  later,
  subtract,
  wholeMonths,
} from '../calendar/days.ts'
import { type Period, partialEnd, partialStart, storedDay } from '../calendar/periods.ts'
import { type Coverage, type RollupVersion, rolledUpDays, type Segment, type TodayRollup } from './coverage.ts'

export interface Plan {
  /** Days to read from the events. The period's instants cut the partial days. */
  raw: readonly DayRange[]
  rolledUp: readonly Segment[]
  /** Days that are not over, and parts of days, as counted a moment ago. */
  today: readonly Segment[]
}

export interface PlanOptions {
  versions: readonly RollupVersion[]
  /** The last count of today, if it is recent. */
  today?: TodayRollup | undefined
  /** Whether each day needs its own row. Then months are not read. */
  byDay: boolean
}

export function planOf(period: Period, { versions, today, byDay }: PlanOptions): Plan {
  const all: DayRange = [storedDay(period.firstDay), storedDay(period.lastDay)]
  if (versions.length === 0 || all[0] > all[1]) return { raw: [all], rolledUp: [], today: [] }
  const whole: DayRange = [
    partialStart(period) === null ? all[0] : dayAfter(all[0]),
    partialEnd(period) === null ? all[1] : dayBefore(all[1]),
  ]
  const months = byDay ? [] : rolledUpMonths(whole, versions)
  const rolledUp = [...months, ...rolledUpDays(subtract([whole], daysOf(months)), versions)]
  const counted = today
    ? [...todayDays(subtract([all], daysOf(rolledUp)), whole, period, today), ...partOfDay(period, versions, today)]
    : []
  return { raw: subtract([all], daysOf([...rolledUp, ...counted])), rolledUp, today: counted }
}

const daysOf = (segments: readonly Segment[]): DayRange[] => segments.flatMap(({ days }) => days)

const rolledUpMonths = (whole: DayRange, versions: readonly RollupVersion[]): Segment[] =>
  versions
    .map(({ version, months }): Segment => ({ span: 'month', version, days: wholeMonths(intersect([whole], months)) }))
    .filter(({ days }) => days.length > 0)

/** Whole days, and today if the period ends at the instant of the count. */
function todayDays(
  rest: readonly DayRange[],
  whole: DayRange,
  period: Period,
  { version, days, asOf }: TodayRollup,
): Segment[] {
  const last = partialEnd(period) === asOf ? days[1] : earlier(dayBefore(days[1]), whole[1])
  const counted = intersect(rest, [[later(days[0], whole[0]), last]])
  return counted.length > 0 ? [{ span: 'day', version, days: counted }] : []
}

/** The part of a closed day at the end of the period, unless events for that day have arrived since it was counted. */
function partOfDay(period: Period, versions: readonly RollupVersion[], { version, parts }: TodayRollup): Segment[] {
  const day = storedDay(period.lastDay)
  const part = parts.find((one) => one.day === day && one.until === partialEnd(period))
  if (!part || (partialStart(period) !== null && storedDay(period.firstDay) === day)) return []
  const isUnchanged = rolledUpDays([[day, day]], versions).some((known) => known.version === part.version)
  return isUnchanged ? [{ span: 'part', version, days: [[day, day]] }] : []
}

/** Whether this plan reads a day that may still get events without an invalidation. */
export const readsUnsettledDays = ({ raw, today }: Plan, settledThrough: string | null): boolean =>
  today.length > 0 || raw.some(([, last]) => last > (settledThrough ?? ''))

/**
 * The greatest age of a count that is read. With the five seconds of the response cache, an answer is at most a minute old (decision
 * D-81).
 */
const oldestMs = 54_000

export const recentToday = ({ today }: Pick<Coverage, 'today'>, now: number): TodayRollup | undefined =>
  today && today.asOf <= now && now - today.asOf <= oldestMs ? today : undefined

/**
 * Whether the period ends within a day whose events retention has dropped, so that only the whole day is known (decision D-79). A day
 * before `eventsFrom` that is not rolled up never had any events.
 */
export function endsInDroppedDay(
  period: Period,
  { versions, eventsFrom }: Pick<Coverage, 'versions' | 'eventsFrom'>,
): boolean {
  const day = storedDay(period.lastDay)
  return day < eventsFrom && partialEnd(period) !== null && rolledUpDays([[day, day]], versions).length > 0
}
