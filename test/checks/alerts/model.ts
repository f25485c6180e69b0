// What alerts must say, by the text of docs/alerts.md and nothing of src: it counts events one by one, minute by minute.
import type { Condition } from '../../../src/alerts/alert.ts'
import { hour, minute, type SiteTraffic, signup } from './traffic.ts'

export interface Expected {
  kind: Condition['kind']
  change: 'began' | 'over'
  at: number
}

interface Counted {
  time: number
  visitor: string
}

export function expectedOf(
  traffic: SiteTraffic,
  conditions: readonly Condition[],
  { from, until }: { from: number; until: number },
): Expected[] {
  const { zone } = traffic
  const counting = traffic.events.filter(({ country }) => !(traffic.excludedCountries as string[]).includes(country))
  const all = counting.map(({ time, visitorId, day }) => ({ time, visitor: `${day} ${visitorId}` }))
  const signups = counting.flatMap(({ time, name }, index) =>
    name === signup ? [{ time, visitor: String(index) }] : [],
  )

  const usuals = new Map<string, number[]>()
  /** The same hour of the last four weeks on the clock of the zone. */
  function weeksOf(events: readonly Counted[], start: number): number[] {
    const key = `${events === all} ${start}`
    const local = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(zone).toPlainDateTime()
    const weeks =
      usuals.get(key) ??
      [1, 2, 3, 4].map((week) => {
        const wanted = local.subtract({ weeks: week })
        const found = wanted.toZonedDateTime(zone, { disambiguation: 'earlier' })
        return found.hour === wanted.hour ? countOf(events, found.epochMilliseconds, found.epochMilliseconds + hour) : 0
      })
    usuals.set(key, weeks)
    return weeks
  }

  const isOn = new Map<Condition, number>()
  const expected: Expected[] = []
  for (let now = from; now <= until; now += minute) {
    const clock = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone)
    const start = now - clock.minute * minute
    const current = countOf(all, start, now)
    const last = countOf(all, start - hour, start)
    const maySettle = clock.minute >= 2 && start - hour >= from
    for (const condition of conditions) {
      const began = isOn.get(condition)
      const change = began === undefined ? begins(condition) : ends(condition, began)
      if (!change) continue
      expected.push({ kind: condition.kind, change: began === undefined ? 'began' : 'over', at: now })
      if (began === undefined) isOn.set(condition, now)
      else isOn.delete(condition)
    }

    function begins(condition: Condition): boolean {
      const { kind, threshold } = condition
      if (kind === 'many') return current > threshold
      if (kind === 'rise') {
        const usual = medianOf(weeksOf(all, start))
        return usual >= condition.minUsual && current > threshold * usual
      }
      if (kind === 'drop') {
        const usual = medianOf(weeksOf(all, start - hour))
        return maySettle && usual >= condition.minUsual && last < (threshold * usual) / 100
      }
      const events = kind === 'silence' ? all : signups
      const latest = lastBefore(events, now) ?? Number.NEGATIVE_INFINITY
      const silent = now - Math.max(latest, from) >= threshold * hour
      return silent && medianOf(weeksOfHours(events, threshold)) >= condition.minUsual
    }

    function ends(condition: Condition, began: number): boolean {
      const { kind, threshold } = condition
      if (kind === 'silence' || kind === 'missing') {
        const latest = lastBefore(kind === 'silence' ? all : signups, now)
        return latest !== undefined && now - latest < threshold * hour
      }
      if (!maySettle) return false
      const usual = medianOf(weeksOf(all, start - hour))
      if (kind === 'drop') {
        const isLater = start - hour >= began - hour
        return isLater && usual >= condition.minUsual && last >= Math.min((threshold * usual * 1.25) / 100, usual)
      }
      if (start - hour < began || begins(condition)) return false
      const high = kind === 'many' ? threshold : threshold * Math.max(usual || 0, condition.minUsual)
      return last <= 0.8 * high
    }

    /** In the hours before now, one to four weeks ago. Parts of hours count as far as they reach. */
    function weeksOfHours(events: readonly Counted[], hours: number): number[] {
      const begun = (now - start) / hour
      const sums = [0, 0, 0, 0]
      for (let before = 0; before <= hours; before++) {
        const share = before === 0 ? begun : before === hours ? 1 - begun : 1
        for (const [week, count] of weeksOf(events, start - before * hour).entries())
          sums[week] = (sums[week] as number) + share * count
      }
      return sums
    }
  }
  return expected
}

/** NaN, with which every comparison is false: fewer than three weeks had any. */
function medianOf(weeks: readonly number[]): number {
  const some = weeks.filter((count) => count > 0).sort((one, other) => one - other)
  if (some.length === 4) return ((some[1] as number) + (some[2] as number)) / 2
  return some.length === 3 ? (some[1] as number) : Number.NaN
}

/** Different visitors from an instant until before another one. */
function countOf(events: readonly Counted[], from: number, until: number): number {
  const visitors = new Set<string>()
  for (let index = firstFrom(events, from); index < events.length; index++) {
    const { time, visitor } = events[index] as Counted
    if (time >= until) break
    visitors.add(visitor)
  }
  return visitors.size
}

const lastBefore = (events: readonly Counted[], now: number): number | undefined =>
  events[firstFrom(events, now) - 1]?.time

function firstFrom(events: readonly Counted[], from: number): number {
  let [low, high] = [0, events.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((events[middle] as Counted).time < from) low = middle + 1
    else high = middle
  }
  return low
}
