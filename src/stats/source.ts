// Where statistics are read from: this installation, or a server by its address and an API key.
import type { StatsParameters } from './report.ts'
import type { ReportName } from './reports.ts'

export interface StatsSource {
  /** The sites that may be read, by domain. */
  sites(signal?: AbortSignal): Promise<SourceSite[]>
  read(report: ReportName, siteId: string, parameters: StatsParameters, signal?: AbortSignal): Promise<SourceAnswer>
}

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
