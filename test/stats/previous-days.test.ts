import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareDays } from '../../src/stats/previous-days.ts'

/** As many visitors as given on each day from a date on, with twice the pageviews. */
const daysFrom = (first: string, visitors: readonly number[]) =>
  visitors.map((count, index) => ({
    date: Temporal.PlainDate.from(first).add({ days: index }).toString(),
    visitors: count,
    pageviews: 2 * count,
  }))

const previousOf = (visitors: number, end: string) => ({
  numbers: { visitors, pageviews: 2 * visitors, sessions: 0, bounce_rate: 0, avg_duration: 0 },
  period: `2000-01-01T00:00:00Z/${end}`,
})

test('the last previous day is what the others leave of the previous number, and says until when', () => {
  const days = compareDays(
    daysFrom('2026-11-16', [5, 6, 7]),
    daysFrom('2026-11-13', [1, 2, 30]), // 30 all day, of which 4 came by now
    previousOf(7, '2026-11-15T09:36:12.345+01:00'),
    'custom',
  )
  assert.deepEqual(
    days.map(({ previous }) => previous),
    [
      [{ date: '2026-11-13', visitors: 1, pageviews: 2 }],
      [{ date: '2026-11-14', visitors: 2, pageviews: 4 }],
      [{ date: '2026-11-15', visitors: 4, pageviews: 8, until: '2026-11-15T09:36:12.345+01:00' }],
    ],
  )
  assert.deepEqual([days[2]?.date, days[2]?.visitors], ['2026-11-18', 7])
})

test('a previous period of whole days has its last day whole', () => {
  const days = compareDays(
    daysFrom('2026-03-03', [5, 6]),
    daysFrom('2026-03-01', [1, 2]),
    previousOf(3, '2026-03-03T00:00:00+01:00'),
    'custom',
  )
  assert.deepEqual(days[1]?.previous, [{ date: '2026-03-02', visitors: 2, pageviews: 4 }])
})

test('an event that arrives between two reads makes no negative number', () => {
  const days = compareDays(
    daysFrom('2026-03-03', [5, 6]),
    daysFrom('2026-03-01', [9, 2]),
    previousOf(8, '2026-03-02T12:00:00+01:00'),
    'custom',
  )
  assert.equal(days[1]?.previous[0]?.visitors, 0)
})

test('29 February counts with the day before it, and without one a day has nothing to compare with', () => {
  const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0)
  for (const [first, previousFirst, length, previousLength] of [
    ['2024-11-19', '2023-11-19', 365, 366],
    ['2023-11-19', '2022-11-19', 366, 365],
    ['2024-02-29', '2023-02-28', 366, 366], // until 28 February 2025
    ['2023-03-01', '2022-03-01', 366, 365], // until 29 February 2024
  ] as const) {
    const before = daysFrom(previousFirst, Array(previousLength).fill(1))
    const end = Temporal.PlainDate.from(previousFirst).add({ days: previousLength })
    const days = compareDays(
      daysFrom(first, Array(length).fill(1)),
      before,
      previousOf(previousLength, `${end}T00:00Z`),
      '12m',
    )
    assert.equal(days.length, length)
    assert.equal(sum(days.flatMap(({ previous }) => previous.map(({ visitors }) => visitors))), previousLength, first)
    assert.deepEqual(days.at(-1)?.previous[0]?.date, before.at(-1)?.date, first)
  }
  const leap = compareDays(
    daysFrom('2025-02-28', [1, 1]),
    daysFrom('2024-02-28', [1, 2, 3]),
    previousOf(6, '2024-03-02T00:00Z'),
    '12m',
  )
  assert.deepEqual(
    leap.map(({ previous }) => previous.map(({ date }) => date)),
    [['2024-02-28', '2024-02-29'], ['2024-03-01']],
  )
})
