import assert from 'node:assert/strict'
import test from 'node:test'
import { countDays, type DayRange, subtract } from '../../src/calendar/days.ts'
import { chooseDay } from '../../src/recounting/rounds.ts'

test('the days of twenty years have their turn in any order, and what is noted of them stays short', () => {
  const all: DayRange[] = [['2006-01-01', '2025-12-31']]
  let rest = all
  const order: string[] = []
  let most = 0
  while (rest.length > 0) {
    const visited = subtract(all, rest)
    most = Math.max(most, visited.length)
    const day = chooseDay(rest, visited.length)
    order.push(day)
    rest = subtract(rest, [[day, day]])
  }
  assert.equal(order.length, 7_305)
  assert.equal(new Set(order).size, countDays(all))
  assert.ok(most <= 33, `${most} ranges`)
  assert.notDeepEqual(order.slice(0, 20), order.slice(0, 20).toSorted())
})
