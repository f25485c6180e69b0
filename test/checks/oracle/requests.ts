// Random requests to a world: most match some data, with dates on, around and far from it.

import type { Random } from '../../support/random.ts'
import { type Report, reports } from './model.ts'
import type { Params } from './params.ts'
import { zoned } from './windows.ts'
import type { Moment } from './worlds.ts'

export interface Request {
  report: Report
  params: Params
}

export const pickRequest = (random: Random, world: Moment): Request => ({
  // The overview has the most rules.
  report: random.pick([...reports, 'overview', 'overview']),
  params: [
    ...pickRange(random, world),
    ...pickFilters(random, world),
    ...(random.oneIn(2) ? [['limit', random.pick(['1', '2', '3', '5', '10', '99', '100'])] as const] : []),
  ],
})

export function pickRange(random: Random, world: Moment): Params {
  const range = random.pick(['24h', '24h', '7d', '7d', '30d', '90d', '12m', 'custom', 'custom', 'custom', 'default'])
  if (range === 'custom') return [['range', 'custom'], ...pickCustomDates(random, world)]
  const named: Params = range === 'default' ? [] : [['range', range]]
  // Has no effect, but is still refused when it is no date.
  const dates = random.oneIn(20) ? random.sample(['start', 'end'], 1 + random.below(2)) : []
  return [...named, ...dates.map((name) => [name, pickDateText(random, world)] as const)]
}

function pickCustomDates(random: Random, world: Moment): Params {
  const [one, other] = [pickDate(random, world), pickDate(random, world)].toSorted(Temporal.PlainDate.compare)
  const dates: [string, string][] = [
    ['start', one!.toString()],
    ['end', other!.toString()],
  ]
  switch (random.below(14)) {
    case 0: // one of them missing
      return [dates[random.below(2)]!]
    case 1: // in the wrong order, unless they are equal
      return [
        ['start', other!.toString()],
        ['end', one!.toString()],
      ]
    case 2: {
      // Around the longest allowed range, in which days after now do not count.
      const last = [other!, zoned(world.now, world.zone).toPlainDate()].toSorted(Temporal.PlainDate.compare)[0]!
      const first = last.subtract({ years: 100 }).add({ days: random.below(4) - 1 })
      return [['start', first.toString()], dates[1]!]
    }
    case 3:
    case 4:
      return [dates[0]!, ['end', pickDateText(random, world)]]
    case 5:
      return [['start', pickDateText(random, world)], dates[1]!]
    case 6: // one day
      return [dates[0]!, ['end', one!.toString()]]
    default:
      return dates
  }
}

function pickDate(random: Random, world: Moment): Temporal.PlainDate {
  const today = zoned(world.now, world.zone).toPlainDate()
  switch (random.below(8)) {
    case 0:
      return today.add({ days: random.below(3) })
    case 1:
      return random.oneIn(4) ? today.add({ years: random.below(150) }) : today.subtract({ months: random.below(40) })
    case 2:
    case 3:
      return world.events.length > 0 ? Temporal.PlainDate.from(random.pick(world.events).day) : today
    case 4: {
      // The day of the last clock change, or the day before it.
      const changed = zoned(world.now, world.zone).getTimeZoneTransition('previous')?.toPlainDate() ?? today
      return random.oneIn(3) ? today : changed.subtract({ days: random.below(2) })
    }
    default:
      return today.subtract({ days: random.below(random.pick([4, 10, 40])) })
  }
}

/** A date in any form: without hyphens, as a date-time near the site's midnights, with an offset, or invalid. */
function pickDateText(random: Random, world: Moment): string {
  const date = pickDate(random, world)
  const at = date.toZonedDateTime({ timeZone: world.zone }).add({
    milliseconds: random.pick([0, -1, 1, 3_600_000, -3_600_000, random.below(86_400_000)]),
  })
  switch (random.below(10)) {
    case 0:
      return random.pick(['2026-02-29', '2026-13-01', '2026-1-1', '20260230', 'today', '', '2026-01-01T25:00:00Z'])
    case 1:
      return random.pick(['2026-04-31', '+002026-01-01', '2026-W01-1', '1767225600', 'null', '2026-01-01T'])
    case 6:
      return date.toString().replaceAll('-', '')
    case 7:
      return `${date}T${random.pick(['00', '23:59', '12:30:00', '12:30:00,5', '23:59:60Z', '01:00+1400', '1230'])}`
    case 2:
      return at.toInstant().toString()
    case 3:
      return at.toString({ timeZoneName: 'never', smallestUnit: 'second' })
    case 4:
      return at.withTimeZone('Asia/Kathmandu').toString({ timeZoneName: 'never', smallestUnit: 'millisecond' })
    case 5:
      return at.withTimeZone('America/Nuuk').toString({ timeZoneName: 'never', fractionalSecondDigits: 1 })
    default:
      return date.toString()
  }
}

/** Half of the time none; otherwise mostly values of one event, so that several filters together still match. */
export function pickFilters(random: Random, world: Moment): Params {
  if (random.oneIn(2)) return []
  const event = world.events.length > 0 ? random.pick(world.events) : undefined
  const values: Record<string, string> = {
    country: event?.country ?? 'DE',
    device: (event?.device ?? 'Mobile').toLowerCase(),
    hostname: event?.hostname ?? 'example.com',
    utm_source: event?.utmSource ?? 'newsletter',
  }
  const strange: Record<string, string> = {
    country: random.pick(['de', 'zz', 'JP', 'UK', 'EU', 'DEU']),
    device: random.pick(['MOBILE', 'Tablet', 'unknown', 'phone']),
    hostname: random.pick([
      ...['EXAMPLE.com', 'nowhere.example', 'example.com.', 'bücher.example', 'BÜCHER.example.', '～.example'],
      ...['https://example.com', 'example.com:443', 'example.com/', 'a..b', 'a b'],
    ]),
    utm_source: random.pick(['newsletter', 'NEWSLETTER', '%', '🦊', 'none']),
  }
  return random.sample(Object.keys(values), random.pick([1, 1, 1, 2, 2, 3, 4])).map((name) => {
    const value = values[name]!
    // An event without a source or with an unknown device has no value that a filter may name.
    const nameable = value !== '' && value !== 'unknown' && !random.oneIn(8)
    return [name, nameable ? value : strange[name]!] as const
  })
}
