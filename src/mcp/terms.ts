// Explains the numbers and names in answers, with the sentences of the tables from which the API is made.
import { meanings } from '../stats/meanings.ts'
import { dimensionOf, dimensions } from '../stats/questions/dimensions.ts'
import { type Metric, metricOf, metrics } from '../stats/questions/metrics.ts'
import { unitOf } from './answers.ts'

export interface Term {
  name: string
  meaning: string
  unit: string
}

/** The five of an overview have sentences of their own in docs/metrics.md. */
const metric = ({ name, meaning }: Metric): Term => ({
  name,
  meaning: Object.hasOwn(meanings, name) ? meanings[name as keyof typeof meanings] : meaning,
  unit: unitOf(name),
})

const revenue = metricOf('revenue:EUR')
const property = dimensionOf('prop:key')

export const terms: readonly Term[] = [
  ...metrics.map(metric),
  { name: 'revenue', meaning: revenue?.meaning ?? '', unit: 'minor units' },
  {
    name: 'change',
    meaning:
      'Change in percent, computed from the two printed numbers, with one decimal; null when the other number is 0.',
    unit: 'percent',
  },
  ...dimensions.map(({ name, meaning }) => ({ name, meaning: meaning.replaceAll('`', ''), unit: 'text' })),
  { name: 'prop', meaning: property?.meaning ?? '', unit: 'text' },
]
