import Type from 'typebox'
import { changesBetween, metricOf } from '../../stats/questions/metrics.ts'
import {
  changes,
  describe,
  metricLines,
  metrics,
  type Numbers,
  subject,
  subjectText,
  units,
  unitsOf,
} from '../answers.ts'
import { type Counted, counted, fieldsOf, findSite, input, type Query, query } from '../inputs.ts'
import { type Call, tool } from '../tool.ts'

const side = (description: string) => Type.Object(query, { additionalProperties: false, description })

const result = Type.Object({ ...subject, metrics })

export const compare = tool({
  name: 'compare',
  title: 'Compare',
  description:
    'The numbers of overview for any two periods, sites or filters, and the change from the baseline to the current side. Overview already compares a range with as many days before it.',
  input: input({
    current: side('The traffic that you ask about.'),
    baseline: side('The traffic to compare it with.'),
    ...counted,
  }),
  output: Type.Object({ current: result, baseline: result, change: changes, units }),
  async run({ current, baseline, ...numbers }, call) {
    // One after the other: a question of an account waits for the one before, and its time must not pass meanwhile (D-235).
    const one = await read({ ...current, ...numbers }, call)
    const other = await read({ ...baseline, ...numbers }, call)
    const names = Object.keys(one.metrics)
    const known = names.map((name) => metricOf(name) ?? { name })
    const change = changesBetween(known, one.metrics, other.metrics)
    return {
      data: { current: one, baseline: other, change, units: { ...unitsOf(names), change: 'percent' } },
      text: `${subjectText(one)}\nbaseline: ${subjectText(other)}\n${metricLines(one.metrics, { numbers: other.metrics, change, called: 'baseline' })}`,
    }
  },
})

async function read(request: Query & Counted, call: Call) {
  const site = await findSite(request.site, call)
  const answer = await call.source.ask('totals', site.id, fieldsOf(request, site, call.now), call.signal)
  return { ...describe(site, answer, call.now), metrics: answer.data as Numbers }
}
