// The clocks of time zones as a person reads them, every quarter of an hour. Only Intl.DateTimeFormat is used, because the code under test uses
// Temporal. All zones change at a quarter of an hour, and by whole quarters.

export const quarterMs = 15 * 60_000

const first = Date.UTC(2025, 11, 20)
const last = Date.UTC(2028, 0, 12)

export class Clock {
  /** `2026-03-29 03:00` for each quarter. */
  readonly times: readonly string[]
  /** For each `2026-03-29 02`: the first quarter at which the clock shows this hour or a later one. */
  readonly reached = new Map<string, number>()

  constructor(zone: string) {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })
    const times: string[] = []
    for (let at = first; at < last; at += quarterMs) times.push(format.format(at))
    this.times = times
    const dates = [...new Set(times.map((time) => time.slice(0, 10)))]
    const hours = dates.flatMap((date) => Array.from({ length: 24 }, (_, hour) => hourOf(date, hour)))
    let index = 0
    for (const hour of hours) {
      // A clock that goes back shows earlier hours again, but this hour has been reached by then.
      while (index < times.length && (times[index] as string) < hour) index++
      this.reached.set(hour, index)
    }
  }

  /** The instant at which this clock first shows a day. */
  beginningOf(date: string): number {
    return this.instant(this.reached.get(hourOf(date, 0)) as number)
  }

  /** The first instant, not before another one, at which the clock reaches an hour of any day. */
  nextReaching(hour: number, since: number): number {
    const sinceIndex = (since - first) / quarterMs
    for (let index = sinceIndex; ; index += 24) {
      const at = this.reached.get(hourOf((this.times[index] as string).slice(0, 10), hour)) as number
      if (at >= sinceIndex) return this.instant(at)
    }
  }

  textAt(instant: number): string {
    return this.times[(instant - first) / quarterMs] as string
  }

  private instant(index: number): number {
    return first + index * quarterMs
  }
}

const hourOf = (date: string, hour: number): string => `${date} ${String(hour).padStart(2, '0')}`
