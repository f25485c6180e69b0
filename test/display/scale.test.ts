import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countTicks, dayTicks, hourTicks, monthTicks, type TimeTick, weekTicks } from '../../src/display/scale.ts'

test('the axis begins with 0, has equal steps of whole numbers, and ends at or just above the largest number', () => {
  fc.assert(
    fc.property(fc.nat({ max: 2_000_000_000 }), (largest) => {
      const ticks = countTicks(largest)
      const step = ticks[1] as number
      assert.equal(ticks[0], 0)
      for (const [index, tick] of ticks.entries()) assert.equal(tick, index * step)
      assert.ok(Number.isInteger(step))
      assert.ok((ticks.at(-1) as number) >= largest)
      assert.ok((ticks.at(-1) as number) - step < Math.max(1, largest))
      assert.ok(ticks.length <= 6)
    }),
  )
})

/** Wider than any digit or letter of the labels at 11.5 px. */
const characterPx = 7

/** The plot of a page that is 360 px wide has 274 px; that of the narrowest wide page, 721 px, has 595 px. */
function assertApart(ticks: readonly TimeTick[], points: number) {
  for (const [width, shown] of [
    [274, ticks.filter(({ onlyWide }) => !onlyWide)],
    [595, ticks],
  ] as const) {
    assert.ok(shown.length > 0 || points < 2)
    for (const [nth, tick] of shown.entries()) {
      const next = shown[nth + 1]
      if (!next) continue
      const apart = ((next.index - tick.index) * width) / (points - 1)
      // The last label may end at its point instead of having it in its middle.
      const needed = (tick.text.length / 2 + next.text.length) * characterPx
      const isLast = next.index / (points - 1) > 0.97
      assert.ok(
        apart >= (isLast ? needed : ((tick.text.length + next.text.length) / 2) * characterPx),
        `${tick.text} and ${next.text} on ${width} px: ${apart}`,
      )
    }
  }
}

test('labels below the chart never touch, however many days, months or hours there are', () => {
  const first = fc.integer({ min: 0, max: 40_000 }).map((days) => Temporal.PlainDate.from('1930-01-01').add({ days }))
  fc.assert(
    fc.property(first, fc.integer({ min: 1, max: 400 }), (first, length) => {
      const days = Array.from({ length }, (_, index) => first.add({ days: index }))
      assertApart(dayTicks(days), length)
    }),
  )
  fc.assert(
    fc.property(first, fc.integer({ min: 13, max: 1201 }), (first, length) => {
      const months = Array.from({ length }, (_, index) => first.with({ day: 1 }).add({ months: index }))
      assertApart(monthTicks(months), length)
    }),
  )
  const hour = Temporal.ZonedDateTime.from('2026-03-14T15:09[Europe/Berlin]')
  assertApart(hourTicks(Array.from({ length: 24 }, (_, index) => hour.add({ hours: index }))), 24)
})

test('months name their year where one begins, but not beside a label that has one', () => {
  const texts = (ticks: readonly TimeTick[]) => ticks.map(({ text }) => text)
  const first = Temporal.PlainDate.from('2025-11-17')
  const weeks = Array.from({ length: 53 }, (_, index) => first.add({ weeks: index }))
  assert.deepEqual(texts(weekTicks(weeks)), [
    ...['Dec 2025', 'Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov'],
  ])
  // 35 px for a month: every second one has room.
  const months = Array.from({ length: 18 }, (_, index) => Temporal.PlainDate.from('2025-06-01').add({ months: index }))
  assert.deepEqual(
    texts(monthTicks(months)).filter((text) => /\d/.test(text)),
    ['Jun 2025', 'Feb 2026'],
  )
})
