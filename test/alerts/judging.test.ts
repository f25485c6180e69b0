// The rules of docs/alerts.md, with numbers worked out by hand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isQuiet } from '../../src/alerts/alert.ts'
import { weeksBefore, zoneClock } from '../../src/alerts/clock.ts'
import { judge, type Seen, usualOf } from '../../src/alerts/judging.ts'

const hour = 3_600_000
/** An hour that begins at a round number. */
const ten = 1_000 * hour
const usual100 = [100, 100, 100, 100]

/** At ten past ten; the hour before ended with as many visitors as usual. */
const seen = (more: Partial<Seen> = {}): Seen => ({
  now: ten + hour / 6,
  current: { start: ten, visitors: 10, weeks: usual100 },
  whole: { start: ten - hour, visitors: 100, weeks: usual100 },
  watchedSince: 0,
  lastAt: undefined,
  weeksOfHours: undefined,
  ...more,
})
type Weeks = readonly number[] | 'not read'
const read = (weeks: Weeks) => (weeks === 'not read' ? undefined : weeks)
const current = (visitors: number, weeks: Weeks = usual100) => ({
  current: { start: ten, visitors, weeks: read(weeks) },
})
const whole = (visitors: number, weeks: Weeks = usual100) => ({
  whole: { start: ten - hour, visitors, weeks: read(weeks) },
})
const changeOf = (...given: Parameters<typeof judge>) => judge(...given)?.change

test('usual is the median of the weeks that had any, if at least three had', () => {
  for (const [weeks, usual] of [
    [[10, 20, 30, 40], 25],
    [[40, 10, 30, 20], 25],
    [[10, 0, 30, 1_000], 30],
    [[10, 0, 0, 40], undefined],
    [[0, 0, 0, 0], undefined],
    [[7, 7, 7, 0], 7],
    [undefined, undefined],
  ] as const)
    assert.equal(usualOf(weeks), usual, String(weeks))
})

test('many: begins above the number, in the hour that is not over', () => {
  const many = { kind: 'many', threshold: 50 } as const
  assert.equal(judge(many, undefined, seen(current(50))), undefined)
  assert.deepEqual(judge(many, undefined, seen(current(51, 'not read'))), {
    change: 'began',
    at: ten + hour / 6,
    numbers: { hour: ten, visitors: 51 },
  })
})

test('many and rise: over after a whole hour at four fifths of the number, and not while the next hour is above it', () => {
  const many = { kind: 'many', threshold: 50 } as const
  const rise = { kind: 'rise', threshold: 3, minUsual: 20 } as const
  const began = ten - 1.5 * hour
  assert.equal(judge(many, began, seen(whole(41))), undefined)
  assert.deepEqual(judge(many, began, seen(whole(40, 'not read'))), {
    change: 'over',
    at: ten,
    numbers: { hour: ten - hour, visitors: 40 },
  })
  assert.equal(judge(many, began, seen({ ...whole(40), ...current(51) })), undefined)
  // The hour in which it began is no whole hour after it.
  assert.equal(judge(many, ten - hour / 2, seen(whole(40))), undefined)
  assert.equal(judge(many, began, seen({ whole: undefined })), undefined)
  assert.equal(changeOf(rise, began, seen(whole(240))), 'over')
  assert.equal(changeOf(rise, began, seen(whole(241))), undefined)
})

test('rise: begins above the multiple of the usual visitors, of which there must be enough', () => {
  const rise = { kind: 'rise', threshold: 3, minUsual: 20 } as const
  assert.equal(judge(rise, undefined, seen(current(300))), undefined)
  assert.deepEqual(judge(rise, undefined, seen(current(301)))?.numbers, { hour: ten, visitors: 301, usual: 100 })
  assert.equal(judge(rise, undefined, seen(current(5_000, [19, 19, 19, 19]))), undefined, 'a small site')
  assert.equal(changeOf(rise, undefined, seen(current(61, [20, 20, 20, 20]))), 'began')
  assert.equal(judge(rise, undefined, seen(current(5_000, [100, 100, 0, 0]))), undefined, 'a young site')
  assert.equal(judge(rise, undefined, seen(current(5_000, 'not read'))), undefined, 'not read yet')
})

test('rise: in the night it ends as if the usual visitors were the fewest that count', () => {
  const rise = { kind: 'rise', threshold: 3, minUsual: 20 } as const
  const night = [2, 2, 2, 2]
  // 0.8 * 3 * 20
  assert.equal(changeOf(rise, ten - 9 * hour, seen(whole(48, night))), 'over')
  assert.equal(changeOf(rise, ten - 9 * hour, seen(whole(49, night))), undefined)
  assert.equal(changeOf(rise, ten - 9 * hour, seen(whole(0, 'not read'))), undefined, 'not read yet')
})

test('drop: begins with a whole hour below the share, and ends with a later one that is a quarter above it', () => {
  const drop = { kind: 'drop', threshold: 30, minUsual: 50 } as const
  assert.equal(judge(drop, undefined, seen(whole(30))), undefined)
  assert.deepEqual(judge(drop, undefined, seen(whole(29))), {
    change: 'began',
    at: ten,
    numbers: { hour: ten - hour, visitors: 29, usual: 100 },
  })
  assert.equal(judge(drop, undefined, seen({ ...whole(100), ...current(0) })), undefined, 'an hour that is not over')
  assert.equal(judge(drop, undefined, seen(whole(0, [49, 49, 49, 49]))), undefined, 'a small site')
  assert.equal(judge(drop, undefined, seen({ whole: undefined })), undefined)
  const beganBefore = ten - hour + hour / 30
  assert.equal(judge(drop, beganBefore, seen(whole(37))), undefined)
  assert.equal(changeOf(drop, beganBefore, seen(whole(38))), 'over', '37.5 is a quarter above 30')
  assert.equal(judge(drop, ten + hour / 30, seen(whole(38))), undefined, 'the hour that began it')
  assert.equal(judge(drop, beganBefore, seen(whole(2, [3, 3, 3, 3]))), undefined, 'the night says nothing')
  assert.equal(changeOf(drop, ten - 28 * 24 * hour, seen(whole(0))), 'over', 'after four weeks it is usual')
})

test('drop: a share near the whole ends with the usual visitors', () => {
  const drop = { kind: 'drop', threshold: 90, minUsual: 50 } as const
  assert.equal(judge(drop, ten - hour, seen(whole(99))), undefined)
  assert.equal(changeOf(drop, ten - hour, seen(whole(100))), 'over')
})

test('silence and missing: begin after exactly the hours, and end with the first event', () => {
  for (const condition of [
    { kind: 'silence', threshold: 3, minUsual: 20 },
    { kind: 'missing', threshold: 3, minUsual: 20, event: 'Signup' },
  ] as const) {
    const silent = (lastAt: number | undefined, weeks: Weeks = [20, 20, 20, 20]) =>
      seen({ now: ten, lastAt, weeksOfHours: read(weeks) })
    assert.equal(judge(condition, undefined, silent(ten - 3 * hour + 1)), undefined)
    assert.deepEqual(judge(condition, undefined, silent(ten - 3 * hour)), {
      change: 'began',
      at: ten,
      numbers: { since: ten - 3 * hour, usual: 20 },
    })
    assert.equal(judge(condition, undefined, silent(0, [19, 20, 19, 20])), undefined, 'a small site')
    assert.equal(judge(condition, undefined, silent(undefined)), undefined, 'not read yet')
    assert.equal(judge(condition, undefined, silent(0, 'not read')), undefined, 'not read yet')
    assert.equal(judge(condition, ten - hour, silent(ten - 4 * hour)), undefined)
    assert.deepEqual(judge(condition, ten - hour, silent(ten - 1)), {
      change: 'over',
      at: ten - 1,
      numbers: { since: ten - 1 },
    })
  }
})

test('silence: while nobody watched, nothing is missing', () => {
  const silence = { kind: 'silence', threshold: 3, minUsual: 20 } as const
  const silent = (watchedSince: number) =>
    seen({ now: ten, watchedSince, lastAt: ten - 9 * hour, weeksOfHours: [90, 90, 90, 90] })
  assert.equal(judge(silence, undefined, silent(ten - 2 * hour)), undefined)
  assert.equal(changeOf(silence, undefined, silent(ten - 3 * hour)), 'began')
  assert.equal(judge(silence, ten - 5 * hour, silent(ten - hour)), undefined, 'it goes on')
})

test('quiet hours may go over midnight', () => {
  const night = { from: 22, until: 7 }
  const noon = { from: 12, until: 13 }
  const quiet = (hours: typeof night | undefined) =>
    Array.from({ length: 24 }, (_, one) => one).filter((one) => isQuiet(hours, one))
  assert.deepEqual(quiet(night), [0, 1, 2, 3, 4, 5, 6, 22, 23])
  assert.deepEqual(quiet(noon), [12])
  assert.deepEqual(quiet(undefined), [])
})

test('the hours of a zone with half an hour, and the days of four weeks', () => {
  const india = zoneClock('Asia/Kolkata', Date.parse('2026-06-01T10:15:00Z'))
  assert.equal(india.hourStart, Date.parse('2026-06-01T09:30:00Z'))
  const dayAndHour = (before: number) => [india.hourBefore(before).day, india.hourBefore(before).hour]
  assert.deepEqual(dayAndHour(0), ['2026-06-01', 15])
  assert.deepEqual(dayAndHour(16), ['2026-05-31', 23])
  assert.deepEqual(weeksBefore('2026-03-31'), ['2026-03-24', '2026-03-17', '2026-03-10', '2026-03-03'])
})
