import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calendarDays, type RangeWord, rangeWords } from '../../src/calendar/calendar-ranges.ts'

const daysOf = (word: RangeWord, today: string): string => {
  const days = calendarDays(word, Temporal.PlainDate.from(today))
  return days ? `${days.firstDay} ${days.lastDay}` : 'none'
}

test('ranges of the calendar on a Sunday, which ends a week', () => {
  const expected: Partial<Record<RangeWord, string>> = {
    today: '2026-03-01 2026-03-01',
    yesterday: '2026-02-28 2026-02-28',
    this_week: '2026-02-23 2026-03-01',
    last_week: '2026-02-16 2026-02-22',
    this_month: '2026-03-01 2026-03-01',
    last_month: '2026-02-01 2026-02-28',
    this_quarter: '2026-01-01 2026-03-01',
    last_quarter: '2025-10-01 2025-12-31',
    this_year: '2026-01-01 2026-03-01',
    last_year: '2025-01-01 2025-12-31',
  }
  for (const word of rangeWords) assert.equal(daysOf(word, '2026-03-01'), expected[word] ?? 'none', word)
})

test('on a Monday, at the end of a month, and in a leap year', () => {
  assert.equal(daysOf('this_week', '2026-11-16'), '2026-11-16 2026-11-16')
  assert.equal(daysOf('last_week', '2026-11-16'), '2026-11-09 2026-11-15')
  assert.equal(daysOf('last_month', '2026-12-31'), '2026-11-01 2026-11-30')
  assert.equal(daysOf('last_month', '2028-03-31'), '2028-02-01 2028-02-29')
  assert.equal(daysOf('last_quarter', '2026-12-31'), '2026-07-01 2026-09-30')
  assert.equal(daysOf('this_quarter', '2026-05-31'), '2026-04-01 2026-05-31')
  assert.equal(daysOf('yesterday', '2027-01-01'), '2026-12-31 2026-12-31')
  assert.equal(daysOf('last_year', '2029-02-28'), '2028-01-01 2028-12-31')
})
