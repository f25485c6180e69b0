// Where statistics are read from: this installation, or a server by its address and an API key.
import type { QuestionKind } from './questions/question.ts'
import type { QuestionResult } from './questions/questions.ts'

export interface StatsSource {
  /** The sites that may be read, by domain. */
  sites(signal?: AbortSignal): Promise<SourceSite[]>
  ask(kind: QuestionKind, siteId: string, fields: Fields, signal?: AbortSignal): Promise<QuestionAnswer>
}

/** The parameters of a question as the API takes them. A name may occur several times. */
export type Fields = readonly (readonly [name: string, value: string])[]

export interface SourceSite {
  id: string
  domain: string
  /** IANA name. */
  timeZone: string
}

export interface SourceAnswer {
  data: unknown
  /** ISO 8601 intervals (decision D-29). */
  period: string
  previousPeriod: string | undefined
  /** The number of rows without the limit; only when the limit cut some off. */
  totalRows: number | undefined
  warnings: readonly string[]
}

export interface QuestionAnswer extends SourceAnswer {
  /** As they were understood. */
  filters: readonly SourceFilter[]
}

export interface SourceFilter {
  dimension: string
  operator: string
  values: readonly string[]
}

export const questionAnswer = (result: QuestionResult, warnings: readonly string[]): QuestionAnswer => ({
  ...answered(result.json),
  period: result.period,
  previousPeriod: result.previousPeriod,
  totalRows: result.totalRows,
  warnings: [...warnings, ...result.warnings],
})

/** The parts of the body of an answer. */
function answered(json: string): Pick<QuestionAnswer, 'data' | 'filters'> {
  const { data, meta } = JSON.parse(json) as { data: unknown; meta: Pick<QuestionAnswer, 'filters'> }
  return { data, filters: meta.filters }
}
