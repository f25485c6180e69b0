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

test('names that a server sends are drawn without anything that a terminal obeys', () => {
  const evil = 'a\x1b]0;title\x07\x1b[2J\u202eb\nc'
  const filters = [{ dimension: evil, operator: evil, values: [evil] }]
  const site = { ...about.site, domain: evil, timeZone: evil }
  const compared = { previous: { [evil]: 1 }, change: { [evil]: 100 } }
  const row = { [evil]: 2, ...compared }
  const wrapped = {
    ...about,
    site,
    filters,
    goal: evil,
    metrics: [evil],
    previousPeriod: about.period,
    warnings: [evil],
  }
  const drawn = [
    drawQuestion(
      { ...wrapped, answer: { totals: row, interval: 'day', series: [{ date: '2026-03-01', ...row }] } },
      terminal,
    ),
    drawQuestion({ ...wrapped, answer: { by: evil, rows: [{ ...row, other: 1 }], totalRows: 2 } }, terminal),
  ]
  for (const line of drawn.join('\n').split('\n')) assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  const shown = 'a\ufffd]0;title\ufffd\ufffd[2Jb\ufffdc'
  const capital = shown.replace('a', 'A')
  assert.ok(drawn[0]?.includes(`Only ${shown} ${shown} ${shown}\n`))
  assert.ok(drawn[0]?.includes(`\n${capital}\n2\n`))
  assert.ok(drawn[0]?.includes(`\n${capital} by day`))
  assert.ok(drawn[1]?.includes(`  ${capital}  Change`))
})
