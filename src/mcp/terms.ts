// Explains the numbers and names in answers, with the sentences of docs/metrics.md and of the reports' own schemas.
import { meanings } from '../stats/meanings.ts'
import { type ReportName, reports } from '../stats/reports.ts'
import { metricUnits } from './answers.ts'

export interface Term {
  name: string
  meaning: string
  unit: string
}

/** The keywords of JSON Schema that reports use. */
interface Schema {
  description?: string
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
}

/** The description of a field of a report, or of the records of a list. */
function field(report: ReportName, ...path: readonly string[]): string {
  const { data } = reports[report] as { data: Schema }
  const property = path.reduce<Schema | undefined>((schema, name) => schema?.properties?.[name], data.items ?? data)
  return property?.description ?? ''
}

const metric = (name: keyof typeof meanings): Term => ({ name, meaning: meanings[name], unit: metricUnits[name] })

export const terms: readonly Term[] = [
  ...(Object.keys(meanings) as (keyof typeof meanings)[]).map(metric),
  { name: 'change', meaning: field('overview', 'change', 'visitors'), unit: 'percent' },
  { name: 'percentage', meaning: field('channels', 'percentage'), unit: 'percent' },
  { name: 'views', meaning: field('pages', 'views'), unit: 'count' },
  { name: 'count', meaning: field('events', 'count'), unit: 'count' },
  { name: 'pathname', meaning: field('pages', 'pathname'), unit: 'text' },
  { name: 'title', meaning: field('pages', 'title'), unit: 'text' },
  { name: 'referrer', meaning: field('referrers', 'referrer'), unit: 'text' },
  { name: 'channel', meaning: field('channels', 'channel'), unit: 'text' },
  { name: 'device', meaning: field('devices', 'name'), unit: 'text' },
  { name: 'country', meaning: field('geo', 'name'), unit: 'text' },
  { name: 'event', meaning: field('events', 'name'), unit: 'text' },
  { name: 'utm_source', meaning: field('utm', 'name'), unit: 'text' },
]
