// Random questions for the reports themselves, without HTTP: any site, any period, any filter, hostile words included.
import { type Periods, partialEnd, periodsOf, type Range, rangeNames } from '../../../src/stats/period.ts'
import type { Filters, StatsQuery } from '../../../src/stats/query.ts'
import { type CountryCode, countryNames } from '../../../src/traffic/country.ts'
import { devices } from '../../../src/traffic/device.ts'
import type { DayRange, Fold, OpenFold } from '../../../src/traffic/folds.ts'
import type { Random } from '../../oracle/random.ts'

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

/** An endless supply; the periods come from a pool, because calendar arithmetic would cost most of the time. */
export function* makeQuestions(random: Random, siteIds: readonly string[]): Generator<StatsQuery, never> {
  const foldPool = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? [] : makeFolds(random)))
  const pool = Array.from({ length: 400 }, () => makePeriods(random))
  for (;;) {
    pool[random.below(pool.length)] = random.oneIn(20) ? makePeriods(random) : random.pick(pool)
    const siteId = random.pick(siteIds)
    const periods = random.pick(pool)
    const folds = random.pick(foldPool)
    yield {
      siteId,
      ...periods,
      filters: makeFilters(random, siteId, siteIds),
      excludedCountries: random.oneIn(2)
        ? []
        : random.sample(codes, random.oneIn(500) ? codes.length : random.below(7)),
      folds,
      ...(folds.length > 0 && random.oneIn(2) && { open: openFold(random, periods) }),
      limit: 1 + random.below(100),
    }
  }
}

/** A count as of the end of the current period, of one day or two. */
function openFold(random: Random, { current, previous }: Periods): OpenFold {
  const first = current.lastDay.subtract({ days: random.below(2) })
  return {
    version: 1e12 + random.below(1e12),
    days: [first.toString(), current.lastDay.toString()],
    asOf: partialEnd(current) ?? 0,
    // Some of another instant, or counted while the day was folded under another version.
    parts: [
      {
        day: previous.lastDay.toString(),
        until: (partialEnd(previous) ?? 0) + random.below(2),
        version: 1 + random.below(3),
      },
    ],
  }
}

/** Some stretches of days and months under some versions. */
function makeFolds(random: Random): Fold[] {
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
