import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PlannedDay, planDays } from '../../src/demo/plan.ts'
import { shapeOf, tablesOf } from '../../src/demo/shape.ts'

const pushes = tablesOf(shapeOf(1_000_000)).pushes

const plan = (options: { until?: string; zone?: string; sessions?: number; seed?: number }): PlannedDay[] =>
  planDays({
    until: Date.parse(options.until ?? '2026-07-22T14:23:45Z'),
    zone: options.zone ?? 'Europe/Berlin',
    sessions: options.sessions ?? 400_000,
    seed: options.seed ?? 1,
    pushes,
  })

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
const sessionsOn = (days: PlannedDay[], matches: (day: PlannedDay) => boolean) => {
  const matching = days.filter(matches).map(({ sessions }) => sessions)
  return sumOf(matching) / matching.length
}

test('thirteen months that end with today, without a gap', () => {
  const days = plan({})
  assert.equal(days[0]?.date, '2025-06-23')
  assert.equal(days.at(-1)?.date, '2026-07-22')
  assert.equal(days.length, 395)
  for (const [index, day] of days.slice(1).entries()) {
    const before = days[index]!
    assert.equal(day.start, before.start + before.lengthMs)
    assert.equal(day.firstSession, before.firstSession + before.sessions)
  }
})

test('the days have all sessions together, and no visitor has more than two per day', () => {
  for (const sessions of [1, 50, 3_870, 400_000, 40_000_000]) {
    const days = plan({ sessions })
    assert.equal(sumOf(days.map((day) => day.sessions)), sessions)
    for (const day of days) {
      assert.ok(day.sessions >= 0)
      assert.ok(day.visitors <= day.sessions && day.sessions <= 2 * day.visitors, JSON.stringify(day))
    }
  }
})

test('a day is as long as its zone says', () => {
  const hours = (zone: string, date: string) => plan({ zone }).find((day) => day.date === date)!.lengthMs / 3_600_000
  assert.equal(hours('Europe/Berlin', '2025-10-26'), 25)
  assert.equal(hours('Europe/Berlin', '2026-03-29'), 23)
  assert.equal(hours('Australia/Lord_Howe', '2026-04-05'), 24.5)
  assert.equal(hours('UTC', '2026-03-29'), 24)
})

test('today ends now, and has no second visits while there is no time for them', () => {
  const noon = plan({ until: '2026-07-22T10:00:00Z' }).at(-1)!
  assert.equal(noon.limitMs, 12 * 3_600_000)
  assert.ok(noon.reach > 0.3 && noon.reach < 0.6)
  assert.ok(noon.visitors < noon.sessions)
  const early = plan({ until: '2026-07-22T03:00:00Z' }).at(-1)!
  assert.equal(early.limitMs, 5 * 3_600_000)
  assert.equal(early.visitors, early.sessions)
  assert.equal(plan({ until: '2026-07-21T22:00:00Z' }).at(-1)?.date, '2026-07-21')
})

test('traffic grows, falls at weekends and at the end of December, and one day stands out', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const days = plan({ seed })
    const usual = (day: PlannedDay) => day.push.share === 0 && day.limitMs === day.lengthMs
    const growth =
      sessionsOn(days, (day) => usual(day) && day.date >= '2026-05-01') /
      sessionsOn(days, (day) => usual(day) && day.date < '2025-09-01')
    assert.ok(growth > 1.4 && growth < 3, `seed ${seed}: growth ${growth}`)
    const weekend =
      sessionsOn(days, (day) => usual(day) && day.kind === 'weekend') /
      sessionsOn(days, (day) => usual(day) && day.kind === 'work')
    assert.ok(weekend > 0.5 && weekend < 0.75, `seed ${seed}: weekend ${weekend}`)
    const holidays =
      sessionsOn(days, ({ date }) => date >= '2025-12-23' && date <= '2025-12-28') /
      sessionsOn(days, ({ date }) => date >= '2025-12-01' && date <= '2025-12-14')
    assert.ok(holidays < 0.75, `seed ${seed}: holidays ${holidays}`)
    const counts = days.map(({ sessions }) => sessions).sort((one, other) => other - one)
    assert.ok(counts[0]! > 2.5 * counts[Math.floor(counts.length / 2)]!, `seed ${seed}: viral ${counts[0]}`)
  }
})
