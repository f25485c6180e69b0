import assert from 'node:assert/strict'
import test from 'node:test'
import { periodsOf } from '../../src/calendar/periods.ts'
import type { RollupVersion } from '../../src/rollups/coverage.ts'
import { planOf } from '../../src/rollups/reading.ts'

const noon = Temporal.ZonedDateTime.from('2026-03-15T12:00:00[Europe/Berlin]')
const versionWith = (
  version: number,
  days: RollupVersion['days'],
  months: RollupVersion['months'] = [],
): RollupVersion => ({
  version,
  layout: 2,
  days,
  months,
})
const custom = (first: string, last: string) =>
  periodsOf({ name: 'custom', firstDay: Temporal.PlainDate.from(first), lastDay: Temporal.PlainDate.from(last) }, noon)
    .current

/** Plans without today; today.test.ts covers that. */
function closedDays(...given: Parameters<typeof planOf>) {
  const { today, ...plan } = planOf(...given)
  assert.deepEqual(today, [])
  return plan
}

test('without rollups everything is read from the events', () => {
  assert.deepEqual(closedDays(custom('2026-03-01', '2026-03-10'), { versions: [], byDay: false }), {
    raw: [['2026-03-01', '2026-03-10']],
    rolledUp: [],
  })
})

test('today is read from the events and earlier days from rollups', () => {
  const { current } = periodsOf({ name: '7d' }, noon)
  assert.deepEqual(closedDays(current, { versions: [versionWith(3, [['2025-01-01', '2026-03-14']])], byDay: false }), {
    raw: [['2026-03-15', '2026-03-15']],
    rolledUp: [{ span: 'day', version: 3, days: [['2026-03-09', '2026-03-14']] }],
  })
})

test('a day that a window covers in part is read from the events, even when it is rolled up', () => {
  const all = [versionWith(1, [['2025-01-01', '2026-03-20']])]
  const { current, previous } = periodsOf({ name: '7d' }, noon)
  assert.deepEqual(closedDays(current, { versions: all, byDay: false }).raw, [['2026-03-15', '2026-03-15']])
  assert.deepEqual(closedDays(previous, { versions: all, byDay: false }).raw, [['2026-03-08', '2026-03-08']])
  const rolling = periodsOf({ name: '24h' }, noon).current
  assert.deepEqual(closedDays(rolling, { versions: all, byDay: false }), {
    raw: [['2026-03-14', '2026-03-15']],
    rolledUp: [],
  })
})

test('with gaps and several versions, every day is read once with its own version', () => {
  const versions = [
    versionWith(1, [
      ['2026-03-01', '2026-03-03'],
      ['2026-03-05', '2026-03-06'],
    ]),
    versionWith(2, [['2026-03-08', '2026-03-09']]),
  ]
  assert.deepEqual(closedDays(custom('2026-03-02', '2026-03-10'), { versions, byDay: false }), {
    raw: [
      ['2026-03-04', '2026-03-04'],
      ['2026-03-07', '2026-03-07'],
      ['2026-03-10', '2026-03-10'],
    ],
    rolledUp: [
      {
        span: 'day',
        version: 1,
        days: [
          ['2026-03-02', '2026-03-03'],
          ['2026-03-05', '2026-03-06'],
        ],
      },
      { span: 'day', version: 2, days: [['2026-03-08', '2026-03-09']] },
    ],
  })
})

test('whole months are read as months, unless every day is needed', () => {
  const versions = [versionWith(1, [['2025-11-01', '2026-03-14']], [['2025-11-01', '2026-02-28']])]
  const period = custom('2025-12-20', '2026-03-05')
  assert.deepEqual(closedDays(period, { versions, byDay: false }), {
    raw: [],
    rolledUp: [
      { span: 'month', version: 1, days: [['2026-01-01', '2026-02-28']] },
      {
        span: 'day',
        version: 1,
        days: [
          ['2025-12-20', '2025-12-31'],
          ['2026-03-01', '2026-03-05'],
        ],
      },
    ],
  })
  assert.deepEqual(closedDays(period, { versions, byDay: true }).rolledUp, [
    { span: 'day', version: 1, days: [['2025-12-20', '2026-03-05']] },
  ])
  assert.deepEqual(closedDays(custom('2026-01-02', '2026-02-27'), { versions, byDay: false }).rolledUp, [
    { span: 'day', version: 1, days: [['2026-01-02', '2026-02-27']] },
  ])
})

test('a window of a hundred years begins before the first rollup; an empty window stays empty', () => {
  const versions = [versionWith(1, [['2026-01-01', '2026-03-14']])]
  assert.deepEqual(closedDays(custom('1930-01-01', '2026-03-14'), { versions, byDay: true }).raw, [
    ['1970-01-01', '2025-12-31'],
  ])
  const { raw, rolledUp } = closedDays(custom('2026-05-01', '2026-05-02'), { versions, byDay: false })
  assert.deepEqual([raw, rolledUp], [[['2026-05-01', '2026-04-30']], []])
})

test('the partial day at the end of a window is read from its count only if the count has that end and the version of that day', () => {
  const { previous } = periodsOf({ name: '7d' }, noon)
  const asOf = noon.epochMilliseconds
  const until = previous.end.epochMilliseconds
  const versions = [versionWith(1, [['2025-01-01', '2026-03-14']])]
  const read = (part: { day: string; until: number; version: number }) => {
    const today = { version: asOf, days: ['2026-03-15', '2026-03-15'] as const, asOf, parts: [part] }
    const { raw, today: counted } = planOf(previous, { versions, today, byDay: false })
    return counted.length > 0 ? counted : raw
  }
  const day = '2026-03-08'
  assert.deepEqual(read({ day, until, version: 1 }), [{ span: 'part', version: asOf, days: [[day, day]] }])
  assert.deepEqual(read({ day, until: until + 1, version: 1 }), [[day, day]])
  assert.deepEqual(read({ day: '2026-03-07', until, version: 1 }), [[day, day]])
  assert.deepEqual(read({ day, until, version: 2 }), [[day, day]])
})
