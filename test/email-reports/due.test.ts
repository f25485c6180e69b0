import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  dueAt,
  firstPeriodDueAfter,
  type Interval,
  intervals,
  lastDayOf,
  lastWholePeriod,
  periodAfter,
  periodOf,
} from '../../src/email-reports/due.ts'
import { seeded } from '../support/random.ts'
import { Clock, quarterMs } from './clocks.ts'

const zones = [
  'Australia/Lord_Howe', // changes by half an hour
  'Pacific/Apia',
  'Africa/Casablanca', // changes for Ramadan
  'Asia/Kathmandu', // 5 h 45 min
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns', // 3 h 30 min
  'Pacific/Kiritimati', // the first to reach a day
  'Pacific/Pago_Pago', // the last to reach it
  'Asia/Tehran',
  'America/Santiago', // skips midnight
  'UTC',
  // Clocks skip an hour on Sundays. Only here a report may be due then: where Monday has begun in Kiritimati or Apia before they skip it.
  'America/Los_Angeles',
  'America/Anchorage',
  'America/Adak',
]
/** The clocks above skip 0:00 or 2:00, and have 1:00 or 2:00 twice. */
const hours = process.env.FOOTFALL_FULL ? [0, 1, 2, 3, 8, 23] : [1, 2, 8]

const clocks = new Map(zones.map((zone) => [zone, new Clock(zone)]))
const clockOf = (zone: string): Clock => clocks.get(zone) as Clock

const dayMs = 24 * 60 * 60_000
const isoDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** All periods of 2026 and 2027, by first days. */
const periods: Record<Interval, string[]> = {
  // 2025-12-29 is a Monday; its week ends in 2026.
  week: Array.from({ length: 105 }, (_, index) => isoDay(Date.UTC(2025, 11, 29) + index * 7 * dayMs)),
  month: Array.from({ length: 24 }, (_, index) => isoDay(Date.UTC(2026, index))),
}
const following: Record<Interval, string[]> = {
  week: [...periods.week.slice(1), '2028-01-03'],
  month: [...periods.month.slice(1), '2028-01-01'],
}

test('weeks begin on Monday, months on the first, and each period follows the one before it', () => {
  for (const interval of intervals) {
    periods[interval].forEach((period, index) => {
      const next = following[interval][index] as string
      assert.equal(periodAfter(interval, period), next)
      const last = isoDay(Date.parse(next) - dayMs)
      assert.equal(lastDayOf(interval, period), last)
      assert.equal(periodOf(interval, period), period)
      assert.equal(periodOf(interval, last), period)
      assert.equal(periodOf(interval, next), next)
    })
  }
})

test('every report of 2026 and 2027 is due once, at its hour, or at the next moment on a day that skips it', () => {
  const skipped = new Set<string>()
  const twice = new Set<string>()
  let checked = 0
  for (const interval of intervals) {
    for (const siteZone of zones) {
      periods[interval].forEach((period, index) => {
        const over = clockOf(siteZone).beginningOf(following[interval][index] as string)
        for (const zone of zones) {
          const clock = clockOf(zone)
          for (const hour of hours) {
            const schedule = { interval, hour, zone, siteZones: [siteZone] }
            const expected = clock.nextReaching(hour, over)
            const due = dueAt(period, schedule)
            if (due !== expected)
              assert.fail(
                `${interval} ${period} of ${siteZone} at ${hour} in ${zone}: ${new Date(due).toISOString()} is not ${new Date(expected).toISOString()}`,
              )
            const shown = clock.textAt(due)
            if (!shown.endsWith(`${String(hour).padStart(2, '0')}:00`)) skipped.add(`${zone} ${shown}`)
            if (clock.textAt(due + 4 * quarterMs) === shown) twice.add(`${zone} ${shown}`)
            checked++
          }
        }
      })
    }
  }
  assert.equal(checked, (105 + 24) * zones.length * zones.length * hours.length)
  assert.deepEqual([...skipped].sort(), [
    'America/Adak 2026-03-08 03:00',
    'America/Adak 2027-03-14 03:00',
    'America/Anchorage 2026-03-08 03:00',
    'America/Anchorage 2027-03-14 03:00',
    'America/Los_Angeles 2026-03-08 03:00',
    'America/Los_Angeles 2027-03-14 03:00',
  ])
  assert.ok(twice.has('America/New_York 2026-11-01 01:00'))
})

test('a new subscription begins with the first report that is due later', () => {
  const random = seeded('first-period')
  for (let turn = 0; turn < 2_000; turn++) {
    const interval = random.pick(intervals)
    const schedule = {
      interval,
      hour: random.pick(hours),
      zone: random.pick(zones),
      siteZones: [random.pick(zones), random.pick(zones)],
    }
    const index = random.below(periods[interval].length - 1)
    const over = Math.max(
      ...schedule.siteZones.map((zone) => clockOf(zone).beginningOf(following[interval][index] as string)),
    )
    const due = clockOf(schedule.zone).nextReaching(schedule.hour, over)
    assert.equal(firstPeriodDueAfter(due - 1, schedule), periods[interval][index])
    assert.equal(firstPeriodDueAfter(due, schedule), following[interval][index])
    assert.equal(firstPeriodDueAfter(due + quarterMs * random.below(300), schedule), following[interval][index])
  }
})

test('a site that changes its zone between two reports gets each period once', () => {
  const random = seeded('zone-changes')
  for (let turn = 0; turn < 20; turn++) {
    const interval = random.pick(intervals)
    const until = Date.UTC(2027, 11, 20)
    let schedule = { interval, hour: random.pick(hours), zone: random.pick(zones), siteZones: [random.pick(zones)] }
    let now = Date.UTC(2026, 0, 15) + random.below(96 * 30) * quarterMs
    let next = firstPeriodDueAfter(now, schedule)
    const from = periods[interval].indexOf(next)
    assert.notEqual(from, -1)
    const sent: string[] = []
    // As a process does that looks every few hours what is due, while people change zones and hours.
    while (now < until) {
      while (now >= dueAt(next, schedule)) {
        // The period has ended in the zone of every site, whatever zones they had before.
        for (const zone of schedule.siteZones)
          assert.ok(clockOf(zone).textAt(now).slice(0, 10) > lastDayOf(interval, next))
        sent.push(next)
        next = periodAfter(interval, next)
      }
      if (random.oneIn(20)) schedule = { ...schedule, siteZones: [random.pick(zones), random.pick(zones)] }
      if (random.oneIn(40)) schedule = { ...schedule, hour: random.pick(hours), zone: random.pick(zones) }
      now += quarterMs * (1 + random.below(60))
    }
    assert.deepEqual(sent, periods[interval].slice(from, from + sent.length))
    assert.ok(sent.length >= (interval === 'week' ? 90 : 20), `${sent.length} reports`)
  }
})

test('a report about no site has the days of UTC', () => {
  const schedule = { interval: 'week', hour: 8, zone: 'Europe/Berlin', siteZones: [] } as const
  assert.equal(dueAt('2026-11-09', schedule), Date.UTC(2026, 10, 16, 7))
})

test('known instants', () => {
  const berlin = { interval: 'week', hour: 8, zone: 'Europe/Berlin', siteZones: ['Europe/Berlin'] } as const
  assert.equal(dueAt('2026-11-09', berlin), Date.UTC(2026, 10, 16, 7))
  assert.equal(dueAt('2026-06-01', berlin), Date.UTC(2026, 5, 8, 6))
  // Monday begins in Pago Pago when it is Monday 12:00 in Berlin, so eight o'clock is on Tuesday.
  assert.equal(
    dueAt('2026-11-09', { ...berlin, siteZones: ['Europe/Berlin', 'Pacific/Pago_Pago'] }),
    Date.UTC(2026, 10, 17, 7),
  )
  assert.equal(lastWholePeriod('week', 'Europe/Berlin', Date.UTC(2026, 10, 15, 22, 59)), '2026-11-02')
  assert.equal(lastWholePeriod('week', 'Europe/Berlin', Date.UTC(2026, 10, 15, 23, 0)), '2026-11-09')
  assert.equal(lastWholePeriod('month', 'Pacific/Kiritimati', Date.UTC(2026, 2, 31, 10)), '2026-03-01')
  assert.equal(lastWholePeriod('month', 'Pacific/Kiritimati', Date.UTC(2026, 2, 31, 9, 59)), '2026-02-01')
})
