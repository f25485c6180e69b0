import Type from 'typebox'
import { input, oneOf } from '../inputs.ts'
import { terms } from '../terms.ts'
import { tool } from '../tool.ts'

export const explainMetric = tool({
  name: 'explain_metric',
  title: 'What a metric means',
  description: 'What a number or a name in the answers means, and its unit. Without a metric: all of them.',
  input: input({
    metric: Type.Optional(
      oneOf(
        terms.map(({ name }) => name),
        'A metric, or a column of a breakdown.',
      ),
    ),
  }),
  output: Type.Object({
    metrics: Type.Array(Type.Object({ name: Type.String(), meaning: Type.String(), unit: Type.String() })),
  }),
  async run({ metric }) {
    const metrics = terms.filter(({ name }) => metric === undefined || name === metric)
    return {
      data: { metrics },
      text: metrics.map(({ name, meaning, unit }) => `${name} (${unit}): ${meaning}`).join('\n'),
    }
  },
})
