import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  dayCount,
  daysOf,
  type Period,
  partialEnd,
  partialStart,
  periodsOf,
  rollingDays,
} from '../../src/calendar/periods.ts'
import { runs } from '../support/property-runs.ts'

type Zoned = Temporal.ZonedDateTime

const zones = Intl.supportedValuesOf('timeZone')
/** Zones that skip whole days, skip or repeat midnight, shift by half an hour or have extreme offsets. */
const strangeZones = [
  'Pacific/Apia', // has no 2011-12-30
  'Pacific/Kwajalein', // has no 1993-08-21
  'America/Sao_Paulo', // until 2018, days that begin at 01:00
  'America/Santiago',
  'Africa/Cairo',
  'Asia/Beirut',
  'America/Havana',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Asia/Kathmandu',
  'Europe/Berlin',
  'UTC',
]
const from = Date.UTC(1990, 0)
const until = Date.UTC(2100, 0)
const minute = 60_000

const compare = Temporal.ZonedDateTime.compare
const sameDay = (one: Temporal.PlainDate, other: Temporal.PlainDate) => assert.equal(String(one), String(other))
const sameTime = (one: Zoned, other: Zoned) => assert.equal(String(one), String(other))
const next = (day: Temporal.PlainDate) => day.add({ days: 1 })

const zone = fc.oneof(fc.constantFrom(...zones), fc.constantFrom(...strangeZones))

/** Any instant, or one within two days of a clock change, or a midnight. */
const now: fc.Arbitrary<Zoned> = fc
  .record({
    zone,
    at: fc.integer({ min: from, max: until }),
    kind: fc.constantFrom('any', 'change', 'midnight'),
    aside: fc.oneof(fc.integer({ min: -2880 * minute, max: 2880 * minute }), fc.constantFrom(0, -1, 1, -60 * minute)),
  })
  .map(({ zone, at, kind, aside }) => {
    const time = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)
    if (kind === 'midnight') return time.startOfDay()
    const change =
      kind === 'change' ? (time.getTimeZoneTransition('next') ?? time.getTimeZoneTransition('previous')) : null
    return change ? change.add({ milliseconds: aside }) : time
  })

const skippedDay = fc.constantFrom(
  Temporal.ZonedDateTime.from('2011-12-31T00:00[Pacific/Apia]'),
  Temporal.ZonedDateTime.from('2011-12-31T13:45[Pacific/Apia]'),
  Temporal.ZonedDateTime.from('2012-01-06T13:45[Pacific/Apia]'),
  Temporal.ZonedDateTime.from('2012-12-30T13:45[Pacific/Apia]'),
  Temporal.ZonedDateTime.from('1993-08-27T00:30[Pacific/Kwajalein]'),
)

/** Until 2011 St. John's went back from 00:01 to 23:01 of the day before, when tomorrow had already begun. No zone does that now. */
const comesTwice = (now: Zoned) => compare(next(now.toPlainDate()).toZonedDateTime(now.timeZoneId), now) <= 0

const moment = fc
  .oneof({ weight: 20, arbitrary: now }, { weight: 1, arbitrary: skippedDay })
  .filter((now) => !comesTwice(now))

const many = runs(1_000)
const fewer = runs(300) // where all days are listed

function assertContiguous(period: Period): void {
  const days = [...daysOf(period)]
  assert.equal(days.length, Math.max(0, dayCount(period)))
  assert.deepEqual(
    days.map((day) => Date.parse(day) - Date.parse(String(period.firstDay))),
    days.map((_, index) => index * 24 * 60 * minute),
  )
}

function assertApart({ current, previous }: { current: Period; previous: Period }): void {
  assert.ok(compare(previous.start, previous.end) <= 0, 'the previous window runs backwards')
  assert.ok(compare(previous.end, current.start) <= 0, 'the windows overlap')
}

/** Decision D-9: whether a hit at this time, recorded with its day, is in the window. */
function holds(period: Period, time: Zoned): boolean {
  const day = time.toPlainDate()
  const order = Temporal.PlainDate.compare
  const [first, last] = [order(day, period.firstDay), order(day, period.lastDay)]
  if (first < 0 || last > 0) return false
  const [start, end] = [partialStart(period), partialEnd(period)]
  if (first === 0 && start !== null && time.epochMilliseconds < start) return false
  return !(last === 0 && end !== null && time.epochMilliseconds >= end)
}

/** Instants around both edges of a window and inside it. */
const around = ({ start, end }: Period): Zoned[] =>
  [start, end].flatMap((edge) =>
    [-90 * minute, -1, 0, 1, 90 * minute].map((milliseconds) => edge.add({ milliseconds })),
  )

for (const name of ['7d', '30d', '90d'] as const) {
  describe(`range ${name}`, () => {
    const length = rollingDays[name]

    test(`is always ${length} dates, contiguous, and the last is today's (D-33)`, () => {
      fc.assert(
        fc.property(moment, (now) => {
          const { current } = periodsOf({ name }, now)
          assert.equal([...daysOf(current)].length, Number.parseInt(name, 10))
          assertContiguous(current)
          sameDay(current.lastDay, now.toPlainDate())
          sameTime(current.start, current.firstDay.toZonedDateTime(now.timeZoneId))
          sameTime(current.end, now)
        }),
        length > 30 ? fewer : many,
      )
    })

    test('is compared with the same number of dates directly before it, up to the same wall-clock time (D-37)', () => {
      fc.assert(
        fc.property(moment, (now) => {
          const { current, previous } = periodsOf({ name }, now)
          assert.equal(dayCount(previous), length)
          sameDay(next(previous.lastDay), current.firstDay)
          assertApart({ current, previous })
          const clock = now.toPlainDateTime().subtract({ days: length })
          const [earlier, later] = (['earlier', 'later'] as const).map((disambiguation) =>
            clock.toZonedDateTime(now.timeZoneId, { disambiguation }),
          ) as [Zoned, Zoned]
          if (compare(earlier, later) === 0) sameTime(previous.end, earlier)
        }),
        many,
      )
    })
  })
}

describe('range 12m', () => {
  test('contains every calendar date once and ends today (D-34)', () => {
    fc.assert(
      fc.property(moment, (now) => {
        const { current } = periodsOf({ name: '12m' }, now)
        const dates = [...daysOf(current)].map((day) => day.slice(5))
        assert.equal(new Set(dates).size, dates.length)
        assert.ok(dates.length === 365 || dates.length === 366)
        assertContiguous(current)
        sameDay(current.lastDay, now.toPlainDate())
      }),
      fewer,
    )
  })

  test('is compared with the twelve months directly before it (D-37)', () => {
    fc.assert(
      fc.property(moment, (now) => {
        const { current, previous } = periodsOf({ name: '12m' }, now)
        sameDay(next(previous.lastDay), current.firstDay)
        assert.ok([364, 365, 366, 367].includes(dayCount(previous)))
        assertApart({ current, previous })
      }),
      many,
    )
  })

  test('clamps the day of the month before it adds a day', () => {
    const firstDayOn = (day: string) =>
      String(periodsOf({ name: '12m' }, Temporal.ZonedDateTime.from(`${day}T12:00[UTC]`)).current.firstDay)
    assert.equal(firstDayOn('2024-02-29'), '2023-03-01')
    assert.equal(firstDayOn('2025-02-28'), '2024-02-29')
    assert.equal(firstDayOn('2026-03-14'), '2025-03-15')
  })
})

describe('range 24h', () => {
  test('is exactly the last 24 hours, compared with the 24 hours before (D-32, D-37)', () => {
    fc.assert(
      fc.property(moment, (now) => {
        const { current, previous } = periodsOf({ name: '24h' }, now)
        const day = 24 * 60 * minute
        assert.equal(current.end.epochMilliseconds - current.start.epochMilliseconds, day)
        assert.equal(previous.end.epochMilliseconds - previous.start.epochMilliseconds, day)
        sameTime(current.end, now)
        sameTime(previous.end, current.start)
        for (const period of [current, previous]) {
          assertContiguous(period)
          assert.ok([1, 2, 3].includes(dayCount(period)), String(dayCount(period)))
        }
      }),
      many,
    )
  })
})

describe('range custom', () => {
  const asked = fc.record({
    now: moment,
    back: fc.integer({ min: -40, max: 800 }),
    length: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 400 })),
  })

  test('covers its first to its last date, cut at now; in the future it is empty (D-35)', () => {
    fc.assert(
      fc.property(asked, ({ now, back, length }) => {
        const firstDay = now.toPlainDate().subtract({ days: back })
        const lastDay = firstDay.add({ days: length })
        const { current } = periodsOf({ name: 'custom', firstDay, lastDay }, now)
        const start = firstDay.toZonedDateTime(now.timeZoneId)
        const stop = next(lastDay).toZonedDateTime(now.timeZoneId)
        sameTime(current.start, start)
        sameDay(current.firstDay, firstDay)
        if (compare(start, now) >= 0) {
          assert.equal(dayCount(current), 0)
          sameTime(current.end, start)
        } else if (compare(now, stop) < 0) {
          sameTime(current.end, now)
          sameDay(current.lastDay, now.subtract({ nanoseconds: 1 }).toPlainDate())
        } else {
          sameTime(current.end, stop)
          sameDay(current.lastDay, lastDay)
        }
        assertContiguous(current)
      }),
      fewer,
    )
  })

  test('is compared with the same number of dates directly before it (D-37)', () => {
    fc.assert(
      fc.property(asked, ({ now, back, length }) => {
        const firstDay = now.toPlainDate().subtract({ days: back })
        const { current, previous } = periodsOf(
          { name: 'custom', firstDay, lastDay: firstDay.add({ days: length }) },
          now,
        )
        assert.equal(dayCount(previous), dayCount(current))
        assertApart({ current, previous })
        if (dayCount(current) > 0) sameDay(next(previous.lastDay), current.firstDay)
      }),
      many,
    )
  })

  test('is refused when its last date, after the cut, is 100 years or more after its first (D-36)', () => {
    const now = Temporal.ZonedDateTime.from('2026-03-14T12:00[UTC]')
    const ask = (first: string, last: string) =>
      periodsOf(
        { name: 'custom', firstDay: Temporal.PlainDate.from(first), lastDay: Temporal.PlainDate.from(last) },
        now,
      )
    assert.equal(dayCount(ask('1926-03-15', '2026-03-14').current), 36_525)
    assert.equal(dayCount(ask('1926-03-15', '9999-12-31').current), 36_525)
    assert.throws(() => ask('1926-03-14', '2026-03-14'), { code: 'invalid_date' })
    assert.throws(() => ask('1800-01-01', '1900-01-01'), { code: 'invalid_date' })
    assert.equal(dayCount(ask('2500-01-01', '9999-12-31').current), 0)
  })
})

test('a day that the zone skipped is a date without hours, and the windows next to it do not overlap', () => {
  // Samoa went from the end of 2011-12-29 to 2011-12-31; the wall-clock time of a week ago does not exist.
  const now = Temporal.ZonedDateTime.from('2012-01-06T13:45[Pacific/Apia]')
  const { current, previous } = periodsOf({ name: '7d' }, now)
  assert.deepEqual([...daysOf(current)].length, 7)
  assert.deepEqual([String(previous.firstDay), String(previous.lastDay)], ['2011-12-24', '2011-12-30'])
  sameTime(previous.end, current.start)
  const skipped = Temporal.PlainDate.from('2011-12-30')
  const alone = periodsOf({ name: 'custom', firstDay: skipped, lastDay: skipped }, now).current
  assert.deepEqual([...daysOf(alone)], ['2011-12-30'])
  sameTime(alone.start, alone.end)
})

test('24h around a clock change is 24 hours, not a calendar day', () => {
  const now = Temporal.ZonedDateTime.from('2026-03-29T12:00[Europe/Berlin]')
  const { current, previous } = periodsOf({ name: '24h' }, now)
  assert.equal(String(current.start), '2026-03-28T11:00:00+01:00[Europe/Berlin]')
  assert.equal(String(previous.start), '2026-03-27T11:00:00+01:00[Europe/Berlin]')
})

test('a hit is in a window exactly when it is between its instants, and never in both windows (D-9)', () => {
  const recent = moment.filter((now) => now.year >= 2013) // so that no day of the windows comes twice either
  const ranges = fc.constantFrom('24h', '7d', '30d', '12m', 'custom')
  fc.assert(
    fc.property(recent, ranges, fc.integer({ min: 0, max: 40 }), (now, name, days) => {
      const firstDay = now.toPlainDate().subtract({ days })
      const range = name === 'custom' ? { name, firstDay, lastDay: firstDay.add({ days: 3 }) } : { name }
      const { current, previous } = periodsOf(range as Parameters<typeof periodsOf>[0], now)
      for (const time of [...around(current), ...around(previous)]) {
        const inside = ({ start, end }: Period) => compare(start, time) <= 0 && compare(time, end) < 0
        assert.equal(holds(current, time), inside(current), `current at ${time}`)
        assert.equal(holds(previous, time), inside(previous), `previous at ${time}`)
        assert.ok(!(holds(current, time) && holds(previous, time)))
      }
    }),
    many,
  )
})
