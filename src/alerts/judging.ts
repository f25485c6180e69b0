// When an alert begins and when it is over (decision D-243). Each rule for the end is stricter than the one for the beginning, so that numbers
// around a threshold make one message and not many. What cannot be judged changes nothing.
import { dayMs, hourMs } from '../durations.ts'
import type { Condition } from './alert.ts'

export interface HourSeen {
  /** UTC milliseconds. */
  start: number
  visitors: number
  /** Of the same hour one, two, three and four weeks before. Undefined: not read yet. */
  weeks: readonly number[] | undefined
}

/** What is known of a site when its alerts are judged. */
export interface Seen {
  now: number
  /** The hour of the site's clock that is not over. */
  current: HourSeen
  /** The last hour that is over. Undefined while events of it may be on their way, or if nobody watched it from its beginning on. */
  whole: HourSeen | undefined
  /** Since when Footfall watches without a long pause. */
  watchedSince: number
  /** The last event, or the last one with the name of the alert. Undefined: not read yet. */
  lastAt: number | undefined
  /** Visitors, or events of the name, in the hours of the alert, one to four weeks before. Undefined: not read yet. */
  weeksOfHours: readonly number[] | undefined
}

/** The numbers of a change, as messages have them. Instants are UTC milliseconds. */
export interface Numbers {
  /** The start of the hour that decided. */
  hour?: number
  visitors?: number
  usual?: number
  /** The last event before a silence, or the first one after it. */
  since?: number
}

export interface Change {
  change: 'began' | 'over'
  /** When the numbers that decided were complete enough to decide. */
  at: number
  numbers: Numbers
}

/** A rise is over after a whole hour below this share of its threshold, a drop after one above the inverse. */
const margin = 0.8
/** A drop that lasts longer is what is usual now. */
const maxDropMs = 28 * dayMs
/** Three weeks are enough: a holiday or an outage may have left one empty. */
const minWeeks = 3

/** The median of the weeks that had any. Undefined: too few had. */
export function usualOf(weeks: readonly number[] | undefined): number | undefined {
  const some = (weeks ?? []).filter((count) => count > 0).sort((one, other) => one - other)
  if (some.length < minWeeks) return undefined
  const middle = some.length / 2
  return ((some[Math.ceil(middle) - 1] as number) + (some[Math.floor(middle)] as number)) / 2
}

/** `beganAt`: when the alert began, if it is on. Undefined: nothing changes. */
export function judge(condition: Condition, beganAt: number | undefined, seen: Seen): Change | undefined {
  switch (condition.kind) {
    case 'many':
      return judgeHigh(() => condition.threshold, beganAt, seen)
    case 'rise': {
      const { threshold, minUsual } = condition
      return judgeHigh(
        ({ weeks }) => {
          const usual = usualOf(weeks)
          if (beganAt === undefined && !(usual !== undefined && usual >= minUsual)) return undefined
          return weeks && threshold * Math.max(usual ?? 0, minUsual)
        },
        beganAt,
        seen,
      )
    }
    case 'drop':
      return judgeDrop(condition, beganAt, seen)
    case 'silence':
    case 'missing':
      return judgeSilence(condition, beganAt, seen)
  }
}

/** It begins at once, in the hour that is not over: its visitors can only become more. */
function judgeHigh(
  limitOf: (hour: HourSeen) => number | undefined,
  beganAt: number | undefined,
  { now, current, whole }: Seen,
): Change | undefined {
  const isAbove = current.visitors > (limitOf(current) ?? Number.POSITIVE_INFINITY)
  if (beganAt === undefined) return isAbove ? { change: 'began', at: now, numbers: numbersOf(current) } : undefined
  if (isAbove || !whole || whole.start < beganAt) return undefined
  const end = limitOf(whole)
  if (end === undefined || whole.visitors > margin * end) return undefined
  return { change: 'over', at: whole.start + hourMs, numbers: numbersOf(whole) }
}

/** Only an hour that is over can have too few visitors. */
function judgeDrop(
  { threshold, minUsual }: Extract<Condition, { kind: 'drop' }>,
  beganAt: number | undefined,
  { now, whole }: Seen,
): Change | undefined {
  if (beganAt !== undefined && now - beganAt > maxDropMs) return { change: 'over', at: now, numbers: {} }
  const usual = usualOf(whole?.weeks)
  if (!whole || usual === undefined || usual < minUsual) return undefined
  const limit = (threshold / 100) * usual
  const at = whole.start + hourMs
  const numbers = numbersOf(whole)
  if (beganAt === undefined) return whole.visitors < limit ? { change: 'began', at, numbers } : undefined
  const isBack = whole.start >= beganAt - hourMs && whole.visitors >= Math.min(limit / margin, usual)
  return isBack ? { change: 'over', at, numbers } : undefined
}

/** It is over with the first event. */
function judgeSilence(
  { threshold, minUsual }: Extract<Condition, { kind: 'silence' | 'missing' }>,
  beganAt: number | undefined,
  { now, watchedSince, lastAt, weeksOfHours }: Seen,
): Change | undefined {
  if (lastAt === undefined) return undefined
  const longestMs = threshold * hourMs
  if (beganAt !== undefined)
    return now - lastAt < longestMs ? { change: 'over', at: lastAt, numbers: { since: lastAt } } : undefined
  const begins = Math.max(lastAt, watchedSince) + longestMs
  const usual = usualOf(weeksOfHours)
  if (now < begins || usual === undefined || usual < minUsual) return undefined
  return { change: 'began', at: begins, numbers: { since: lastAt, usual: Math.round(usual) } }
}

function numbersOf({ start, visitors, weeks }: HourSeen): Numbers {
  const usual = usualOf(weeks)
  return { hour: start, visitors, ...(usual !== undefined && { usual: Math.round(usual) }) }
}
