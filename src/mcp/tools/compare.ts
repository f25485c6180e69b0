import Type from 'typebox'
import type { Metrics, Overview } from '../../stats/reports/overview.ts'
import { percentChange } from '../../stats/rounding.ts'
import {
  type Changes,
  changes,
  describe,
  metricLines,
  metrics,
  metricUnits,
  subject,
  subjectText,
  units,
} from '../answers.ts'
import { findSite, input, type Query, query, readQuery } from '../inputs.ts'
import { type Call, tool } from '../tool.ts'

const side = (description: string) => Type.Object(query, { additionalProperties: false, description })

const result = Type.Object({ ...subject, metrics })

export const compare = tool({
  name: 'compare',
  title: 'Compare',
  description:
    'The five metrics of overview for any two periods, sites or filters, and the change from the baseline to the current side. Overview already compares a range with as many days before it.',
  input: input({
    current: side('The traffic that you ask about.'),
    baseline: side('The traffic to compare it with.'),
  }),
  output: Type.Object({ current: result, baseline: result, change: changes, units }),
  async run({ current, baseline }, call) {
    const [one, other] = await Promise.all([read(current, call), read(baseline, call)])
    const names = Object.keys(metricUnits) as (keyof Metrics)[]
    const change = Object.fromEntries(
      names.map((name) => [name, percentChange(one.metrics[name], other.metrics[name])]),
    ) as Changes
    return {
      data: { current: one, baseline: other, change, units: { ...metricUnits, change: 'percent' } },
      text: `${subjectText(one)}\nbaseline: ${subjectText(other)}\n${metricLines(one.metrics, other.metrics, change, 'baseline')}`,
    }
  },
})

async function read(request: Query, call: Call) {
  const site = await findSite(request.site, call)
  const parameters = readQuery(request, site, call.now)
  const answer = await call.source.read('overview', site.id, parameters, call.signal)
  return { ...describe(site, parameters, answer, call.now), metrics: (answer.data as Overview).current }
}
