// The current times of the oracle's worlds: instants at which calendars, clocks and windows are most likely to go wrong.
import type { Random } from '../../support/random.ts'
import { currentWindow, previousWindow, ranges, startOfDay, zoned } from './windows.ts'

export const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kathmandu', // +05:45
  'Australia/Lord_Howe', // half an hour of daylight saving
  'Pacific/Apia', // skipped 2011-12-30
  'Pacific/Kiritimati', // +14:00, a day ahead of nearly everyone
  'America/Havana', // summer time begins at midnight, and that day at 01:00; in autumn 00:00 to 01:00 comes twice
  'Africa/Cairo', // the same in spring; in autumn 23:00 to 24:00 comes twice
  'America/Nuuk', // spring skips 23:00 to 24:00
] as const

const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

const calendarEdges = [
  ['2023-02-28', '2024-02-28', '2024-02-29', '2024-03-01', '2025-02-28', '2025-03-01', '2028-02-29'],
  ['2025-12-31', '2026-01-01', '2026-01-31', '2026-03-31', '2026-04-30', '2026-05-31', '2026-07-01'],
].flat()

/** A time of day: the first instant, the last, an unusual one before noon, or any. */
function timeOn(random: Random, date: Temporal.PlainDate, zone: string): number {
  const start = startOfDay(date, zone).epochMilliseconds
  const end = startOfDay(date.add({ days: 1 }), zone).epochMilliseconds
  switch (random.below(8)) {
    case 0:
      return start
    case 1:
      return start + 1
    case 2:
      return end - 1
    case 3:
      return start + 30 * minute
    case 4:
      return end - 30 * minute
    case 5:
      return start + random.below(24) * hour
    default:
      return start + random.below(Math.max(1, end - start))
  }
}

/** The next clock change after a random instant; in a zone without one, that instant. */
function clockChange(random: Random, zone: string): Temporal.ZonedDateTime {
  const from = zoned(Date.UTC(2012, 0) + random.below(15 * 365) * day, zone)
  return from.getTimeZoneTransition('next') ?? from
}

export function pickNow(random: Random, zone: string): number {
  if (zone === 'Pacific/Apia' && random.oneIn(2)) {
    return timeOn(random, Temporal.PlainDate.from('2011-12-29').add({ days: random.below(12) }), zone)
  }
  switch (random.below(6)) {
    case 0:
      return clockChange(random, zone).epochMilliseconds + random.pick([-hour, -1, 0, 1, 10 * minute, hour, 2 * hour])
    case 1:
    case 2: {
      // This many days later an edge of some window is on the day of the clock change.
      const later = random.pick([0, 0, 1, 2, 6, 7, 8, 13, 14, 29, 30, 59, 60, 89, 90, 364, 365])
      return timeOn(random, clockChange(random, zone).toPlainDate().add({ days: later }), zone)
    }
    case 3: {
      // This many days later the previous window ends in an hour that did not exist or came twice.
      const changed = clockChange(random, zone)
        .toPlainDateTime()
        .add({ minutes: random.pick([-30, -15, 15]) })
      return changed.add({ days: random.pick([1, 2, 7, 7, 30, 90, 365]) }).toZonedDateTime(zone).epochMilliseconds
    }
    case 4:
      return timeOn(random, Temporal.PlainDate.from(random.pick(calendarEdges)), zone)
    default:
      return Date.UTC(2024, 0) + random.below(4 * 365 * day)
  }
}

/** Useful times for events: the edges of every window, midnights, and ordinary recent ones. */
export function pickEventTime(random: Random, zone: string, now: number): number {
  const nearby = random.pick([
    0,
    0,
    -1,
    1,
    -1000,
    -5 * minute,
    -15 * minute,
    30 * minute,
    -30 * minute,
    random.below(hour),
  ])
  switch (random.below(9)) {
    case 0:
    case 1:
    case 2:
      return random.pick(windowEdges(random, zone, now)) + nearby
    case 8: // so that a longer visit continues beyond the edge
      return random.pick(windowEdges(random, zone, now)) - random.below(20 * minute)
    case 3:
      return startOfDay(zoned(now - random.below(16) * day, zone).toPlainDate(), zone).epochMilliseconds + nearby
    case 4:
    case 5:
      return now - random.below(2 * day)
    case 6:
      return now - random.below(15 * day)
    default:
      return now - random.below(random.pick([60, 200, 400, 800]) * day)
  }
}

function windowEdges(random: Random, zone: string, now: number): number[] {
  const today = zoned(now, zone).toPlainDate()
  const range = random.pick(ranges)
  const days = random.below(5)
  const window = currentWindow(range, { start: today.subtract({ days }), end: today }, zone, now)
  if (window === 'invalid_date') return [now]
  const previous = previousWindow(range, window)
  return [window.start, window.end, previous.start, previous.end].map((edge) => edge.epochMilliseconds)
}
