// The hours of a time zone around now. The same hour of another week is the one with the same name on the clock of the site, also if summer time
// began in between. Sites of a zone share one of these clocks, because conversions to local time are slow.
import { dayMs, hourMs } from '../durations.ts'

/** An hour as the clock of the zone shows it. */
interface LocalHour {
  /** `YYYY-MM-DD` */
  day: string
  /** 0 to 23. */
  hour: number
  /** The same days one to four weeks before. */
  weeks: readonly string[]
}

export interface ZoneClock {
  zone: string
  now: number
  /** The start of the hour that is not over, in UTC milliseconds. */
  hourStart: number
  /** The local hour that began so many hours before `hourStart`; negative: that begins later. */
  hourBefore(hours: number): LocalHour
}

export function zoneClock(zone: string, now: number): ZoneClock {
  const hourStart = Temporal.Instant.fromEpochMilliseconds(now)
    .toZonedDateTimeISO(zone)
    .round({ smallestUnit: 'hour', roundingMode: 'floor' }).epochMilliseconds
  const known = new Map<number, LocalHour>()
  return {
    zone,
    now,
    hourStart,
    hourBefore(hours) {
      const hour = known.get(hours) ?? localHour(zone, hourStart - hours * hourMs)
      known.set(hours, hour)
      return hour
    },
  }
}

function localHour(zone: string, instant: number): LocalHour {
  const local = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone)
  const day = local.toPlainDate().toString()
  return { day, hour: local.hour, weeks: weeksBefore(day) }
}

/** The same days one to four weeks before. */
export const weeksBefore = (day: string): string[] =>
  [7, 14, 21, 28].map((days) => new Date(Date.parse(`${day}T00:00:00Z`) - days * dayMs).toISOString().slice(0, 10))
