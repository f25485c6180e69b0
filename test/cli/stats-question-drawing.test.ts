// What the terminal draws of an answer to a question, whatever server it comes from.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QuestionAnswers } from '../../src/cli/stats/question.ts'
import { drawQuestion } from '../../src/cli/stats/question-drawing.ts'
import { createTerminal } from '../../src/cli/terminal.ts'

const terminal = createTerminal({ isTTY: true, columns: 80 } as NodeJS.WriteStream, { NO_COLOR: '1' })

const about = {
  site: { id: 'site_aaaaaaaaaaaaaaaa', domain: 'example.com', timeZone: 'UTC' },
  range: 'custom',
  period: { start: '2026-03-01T00:00:00+00:00', end: '2026-03-03T00:00:00+00:00' },
  previousPeriod: undefined,
  filters: [],
  goal: undefined,
  warnings: [],
} as const

const seriesOf = (metric: string, ...values: readonly number[]): QuestionAnswers => ({
  ...about,
  metrics: [metric],
  answer: {
    totals: { [metric]: values.reduce((sum, one) => sum + one, 0) },
    interval: 'day',
    series: values.map((value, index) => ({ date: `2026-03-0${index + 1}`, [metric]: value })),
  },
})

test('the axis of revenue is in the currency, as the total is, whatever decimals it has', () => {
  // Five steps of 250: up to 1,250 for 1,234.50.
  const euros = drawQuestion(seriesOf('revenue:EUR', 123_450, 0), terminal)
  assert.match(euros, /^1,234\.50$/m)
  assert.match(euros, /^1,250 ┤/m)
  const dinars = drawQuestion(seriesOf('revenue:KWD', 5_000, 2_500), terminal)
  assert.match(dinars, /^7\.500$/m)
  assert.match(dinars, /^5 ┤/m)
  assert.match(drawQuestion(seriesOf('revenue:JPY', 500, 0), terminal), /^500 ┤/m)
  const before = { previous: { 'revenue:EUR': 400_000 }, change: { 'revenue:EUR': -75 } }
  const series = [{ date: '2026-03-01', 'revenue:EUR': 100_000, ...before }]
  const totals = { 'revenue:EUR': 100_000, ...before }
  const answer = { totals, interval: 'day', series } as const
  const compared = { ...about, metrics: ['revenue:EUR'], previousPeriod: about.period, answer }
  assert.match(drawQuestion(compared, terminal), /^4,000 ┤╌/m)
})
