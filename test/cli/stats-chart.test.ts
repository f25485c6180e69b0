import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chart } from '../../src/cli/stats/chart.ts'
import { nearest } from '../../src/cli/stats/nearest.ts'
import { createTerminal } from '../../src/cli/terminal.ts'

const terminalOf = (columns: number) =>
  createTerminal({ isTTY: true, columns } as NodeJS.WriteStream, { NO_COLOR: '1' })

/** Days from 1 March on. */
const daysOf = (...visitors: readonly (number | readonly [number, number])[]) =>
  visitors.map((given, index) => {
    const [count, before] = typeof given === 'number' ? [given] : given
    const date = Temporal.PlainDate.from('2026-03-01').add({ days: index }).toString()
    const previous = before === undefined ? [] : [{ date, visitors: before, pageviews: 0 }]
    return { date, visitors: count, pageviews: 0, previous }
  })

const lines = (drawn: readonly string[]) => drawn.map((line) => line.trimEnd())

test('a bar has the height of its day, to an eighth of a row, and any visitor is seen', () => {
  assert.deepEqual(lines(chart(daysOf(4, 8, 0, 1), terminalOf(20), 4)), [
    'Visitors by day',
    '8 ┤    ███',
    '6 ┤    ███',
    '4 ┤███ ███',
    '2 ┤███ ███     ▄▄▄',
    '0 ┼────────────────',
    '   1 Mar   3 Mar',
  ])
  const [, ...rows] = lines(chart(daysOf(100_000, 1), terminalOf(20), 4))
  assert.equal(rows.at(-3), ' 20K ┤██████ ▁▁▁▁▁▁')
})

test('the previous period is a dashed line, and the scale has room for it', () => {
  assert.deepEqual(lines(chart(daysOf([2, 4], [4, 1], [1, 0]), terminalOf(20), 4)), [
    'Visitors by day  ╌╌ before',
    '4 ┤╌╌╌╌╌████',
    '3 ┤     ████',
    '2 ┤████ ████',
    '1 ┤████ ╌╌╌╌╌████',
    '0 ┼───────────────',
    '   1 Mar     3 Mar',
  ])
})

test('the legend says until when the last day of the previous period counts', () => {
  const previous = [{ date: '2026-02-28', visitors: 4, pageviews: 0, until: '2026-02-28T09:36:12.345+01:00' }]
  const [legend] = chart([{ date: '2026-03-01', visitors: 2, pageviews: 0, previous }], terminalOf(60), 4)
  assert.equal(legend, 'Visitors by day  ╌╌ before, its last day until 09:36')
})

test('a range that is longer than the terminal is wide has a bar for each week, the mean of its days', () => {
  const days = daysOf(...Array.from({ length: 15 }, (_, index) => (index === 0 ? 3 : index < 8 ? 1 : index)))
  // One day with 3; seven days with 1; 8 to 14, whose mean is 11.
  assert.deepEqual(lines(chart(days, terminalOf(16), 4)), [
    'Visitors per day, mean of each week',
    '15 ┤        ▂▂▂', // 1 of 5 above 10
    '10 ┤        ███',
    ' 5 ┤▅▅▅ ▂▂▂ ███', // 3 of 5, 1 of 5
    ' 0 ┼────────────',
    '    1 Mar',
  ])
})

test('a range without days, and a range without visitors', () => {
  assert.deepEqual(chart([], terminalOf(80), 8), ['This range has not begun yet.'])
  assert.deepEqual(lines(chart(daysOf(0, 0), terminalOf(12), 2)), [
    'Visitors by day',
    '1 ┤',
    '  │',
    '0 ┼────────',
    '   1 Mar',
  ])
})

test('the nearest names are those with the fewest different letters, and nothing when none is near', () => {
  const names = ['example.com', 'example.org', 'blog.example.com', 'shop.test']
  assert.deepEqual(nearest('exmaple.com', names), ['example.com'])
  assert.deepEqual(nearest('example.co', names).slice(0, 2), ['blog.example.com', 'example.com'])
  assert.deepEqual(nearest('Shop.tes', names), ['shop.test'])
  assert.deepEqual(nearest('zzzzzzzz.dev', names), [])
})
