import assert from 'node:assert/strict'
import test from 'node:test'
import { periodsOf } from '../../src/stats/period.ts'
import { planOf } from '../../src/stats/plan.ts'
import type { Fold } from '../../src/traffic/folds.ts'

const noon = Temporal.ZonedDateTime.from('2026-03-15T12:00:00[Europe/Berlin]')
const fold = (version: number, days: Fold['days'], months: Fold['months'] = []): Fold => ({ version, days, months })
const custom = (first: string, last: string) =>
  periodsOf({ name: 'custom', firstDay: Temporal.PlainDate.from(first), lastDay: Temporal.PlainDate.from(last) }, noon)
    .current

/** Without open days: those are in open-days.test.ts. */
function closedDays(...given: Parameters<typeof planOf>) {
  const { open, ...plan } = planOf(...given)
  assert.deepEqual(open, [])
  return plan
}

test('without folds everything is read from the events', () => {
  assert.deepEqual(closedDays(custom('2026-03-01', '2026-03-10'), { folds: [] }, { byMonth: true }), {
    raw: [['2026-03-01', '2026-03-10']],
    folded: [],
  })
})

test('today is read from the events, the days before it folded', () => {
  const { current } = periodsOf({ name: '7d' }, noon)
  assert.deepEqual(closedDays(current, { folds: [fold(3, [['2025-01-01', '2026-03-14']])] }, { byMonth: true }), {
    raw: [['2026-03-15', '2026-03-15']],
    folded: [{ span: 'day', version: 3, days: [['2026-03-09', '2026-03-14']] }],
  })
})

test('a day that a window covers in part is read from the events, also when it is folded', () => {
  const all = [fold(1, [['2025-01-01', '2026-03-20']])]
  const { current, previous } = periodsOf({ name: '7d' }, noon)
  assert.deepEqual(closedDays(current, { folds: all }, { byMonth: true }).raw, [['2026-03-15', '2026-03-15']])
  assert.deepEqual(closedDays(previous, { folds: all }, { byMonth: true }).raw, [['2026-03-08', '2026-03-08']])
  const rolling = periodsOf({ name: '24h' }, noon).current
  assert.deepEqual(closedDays(rolling, { folds: all }, { byMonth: true }), {
    raw: [['2026-03-14', '2026-03-15']],
    folded: [],
  })
})

test('holes and versions: every day is read once, under its own version', () => {
  const folds = [
    fold(1, [
      ['2026-03-01', '2026-03-03'],
      ['2026-03-05', '2026-03-06'],
    ]),
    fold(2, [['2026-03-08', '2026-03-09']]),
  ]
  assert.deepEqual(closedDays(custom('2026-03-02', '2026-03-10'), { folds }, { byMonth: true }), {
    raw: [
      ['2026-03-04', '2026-03-04'],
      ['2026-03-07', '2026-03-07'],
      ['2026-03-10', '2026-03-10'],
    ],
    folded: [
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

test('whole months are read as months, unless every day is wanted', () => {
  const folds = [fold(1, [['2025-11-01', '2026-03-14']], [['2025-11-01', '2026-02-28']])]
  const period = custom('2025-12-20', '2026-03-05')
  assert.deepEqual(closedDays(period, { folds }, { byMonth: true }), {
    raw: [],
    folded: [
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
  assert.deepEqual(closedDays(period, { folds }, { byMonth: false }).folded, [
    { span: 'day', version: 1, days: [['2025-12-20', '2026-03-05']] },
  ])
  assert.deepEqual(closedDays(custom('2026-01-02', '2026-02-27'), { folds }, { byMonth: true }).folded, [
    { span: 'day', version: 1, days: [['2026-01-02', '2026-02-27']] },
  ])
})

test('a hundred years begin before the first fold; an empty window stays one', () => {
  const folds = [fold(1, [['2026-01-01', '2026-03-14']])]
  assert.deepEqual(closedDays(custom('1930-01-01', '2026-03-14'), { folds }, { byMonth: false }).raw, [
    ['1970-01-01', '2025-12-31'],
  ])
  const { raw, folded } = closedDays(custom('2026-05-01', '2026-05-02'), { folds }, { byMonth: true })
  assert.deepEqual([raw, folded], [[['2026-05-01', '2026-04-30']], []])
})

test('the part of a day that a window ends with is read as it was counted, if it is that part and the day is as it was', () => {
  const { previous } = periodsOf({ name: '7d' }, noon)
  const asOf = noon.epochMilliseconds
  const until = previous.end.epochMilliseconds
  const folds = [fold(1, [['2025-01-01', '2026-03-14']])]
  const read = (part: { day: string; until: number; version: number }) => {
    const open = { version: asOf, days: ['2026-03-15', '2026-03-15'] as const, asOf, parts: [part] }
    const { raw, open: counted } = planOf(previous, { folds, open }, { byMonth: false })
    return counted.length > 0 ? counted : raw
  }
  const day = '2026-03-08'
  assert.deepEqual(read({ day, until, version: 1 }), [{ span: 'part', version: asOf, days: [[day, day]] }])
  assert.deepEqual(read({ day, until: until + 1, version: 1 }), [[day, day]])
  assert.deepEqual(read({ day: '2026-03-07', until, version: 1 }), [[day, day]])
  assert.deepEqual(read({ day, until, version: 2 }), [[day, day]])
})
