// Random queries for the reports themselves, without HTTP: any site, any period, any filter, including hostile words.

import type { DayRange } from '../../../src/calendar/days.ts'
import { type Periods, partialEnd, periodsOf, type Range, rangeNames } from '../../../src/calendar/periods.ts'
import type { RollupVersion, TodayRollup } from '../../../src/rollups/coverage.ts'
import type { Filters } from '../../../src/traffic/conditions.ts'
import { type CountryCode, countryNames } from '../../../src/traffic/country.ts'
import { devices } from '../../../src/traffic/device.ts'
import type { UnplannedQuery } from '../../support/planned-query.ts'
import type { Random } from '../../support/random.ts'

const zones = ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Apia', 'America/Sao_Paulo']
const codes = Object.keys(countryNames) as CountryCode[]
const base32 = 'abcdefghijklmnopqrstuvwxyz234567'

const hostile = [
  "' OR 1=1 --",
  'site_id = {p0:String}',
  '{p0:String}',
  ') UNION ALL SELECT * FROM events --',
  '\\',
  '%',
  'ẞ‮x',
  'null',
  '',
  '1970-01-01',
  'x'.repeat(255),
]

export const makeSiteIds = (random: Random, count: number): string[] =>
  Array.from(
    { length: count },
    () => `site_${Array.from({ length: 16 }, () => base32[random.below(32)] as string).join('')}`,
  )

/** An endless supply. The periods come from a pool, because calendar arithmetic would take most of the time. */
export function* makeQueries(random: Random, siteIds: readonly string[]): Generator<UnplannedQuery, never> {
  const rollupPool = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? [] : makeRollups(random)))
  const pool = Array.from({ length: 400 }, () => makePeriods(random))
  for (;;) {
    pool[random.below(pool.length)] = random.oneIn(20) ? makePeriods(random) : random.pick(pool)
    const siteId = random.pick(siteIds)
    const periods = random.pick(pool)
    const versions = random.pick(rollupPool)
    yield {
      siteId,
      ...periods,
      filters: makeFilters(random, siteId, siteIds),
      excludedCountries: random.oneIn(2)
        ? []
        : random.sample(codes, random.oneIn(500) ? codes.length : random.below(7)),
      versions,
      ...(versions.length > 0 && random.oneIn(2) && { today: todayRollup(random, periods) }),
      limit: 1 + random.below(100),
    }
  }
}

/** A count at the end of the current period, of one or two days. */
function todayRollup(random: Random, { current, previous }: Periods): TodayRollup {
  const first = current.lastDay.subtract({ days: random.below(2) })
  return {
    version: 1e12 + random.below(1e12),
    days: [first.toString(), current.lastDay.toString()],
    asOf: partialEnd(current) ?? 0,
    // Some are of another instant, or from a time when the day had another rollup version.
    parts: [
      {
        day: previous.lastDay.toString(),
        until: (partialEnd(previous) ?? 0) + random.below(2),
        version: 1 + random.below(3),
      },
    ],
  }
}

/** Some ranges of days and months with some versions. */
function makeRollups(random: Random): RollupVersion[] {
  const stretch = (): DayRange => {
    const first = Temporal.PlainDate.from('1990-01-01').add({ months: random.below(1300) })
    return [
      first.toString(),
      first
        .add({ months: 1 + random.below(400) })
        .subtract({ days: 1 })
        .toString(),
    ]
  }
  return Array.from({ length: 1 + random.below(3) }, (_, index) => ({
    version: index + 1,
    layout: 1 + random.below(2),
    days: [stretch()],
    months: random.oneIn(2) ? [stretch()] : [],
  }))
}

function makePeriods(random: Random) {
  const now = Temporal.Instant.fromEpochMilliseconds(random.below(4_102_444_800) * 1000 + random.below(1000))
  const local = now.toZonedDateTimeISO(random.pick(zones))
  return periodsOf(makeRange(random, local.toPlainDate()), local)
}

function makeRange(random: Random, today: Temporal.PlainDate): Range {
  const name = random.pick(rangeNames)
  if (name !== 'custom') return { name }
  const firstDay = today.subtract({ days: random.below(2000) })
  return { name, firstDay, lastDay: firstDay.add({ days: random.below(random.oneIn(20) ? 800 : 40) }) }
}

function makeFilters(random: Random, own: string, siteIds: readonly string[]): Filters {
  const word = () => (random.oneIn(3) ? random.pick(siteIds) : random.oneIn(4) ? own : random.pick(hostile))
  return {
    ...(random.oneIn(3) && { country: random.pick(codes) }),
    ...(random.oneIn(3) && { device: random.pick(devices) }),
    ...(random.oneIn(3) && { hostname: word() }),
    ...(random.oneIn(3) && { utmSource: word() }),
  }
}
