// A source of statistics for commands: it can also read reports, and the numbers of all sites at once.

import type { StatsParameters } from '../stats/report.ts'
import type { Overview } from '../stats/reports/overview.ts'
import type { ReportName } from '../stats/reports.ts'
import type { SourceAnswer, StatsSource } from '../stats/source.ts'

/** As in the answer of /api/v1/sites/overview. */
export interface SiteOverview extends Overview {
  site_id: string
  domain: string
  period: { start: string; end: string }
}

export interface SitesAnswer {
  /** By domain. */
  sites: readonly SiteOverview[]
  warnings: readonly string[]
}

export type SitesParameters = Pick<StatsParameters, 'range' | 'filters'>

export interface SitesSource extends StatsSource {
  read(report: ReportName, siteId: string, parameters: StatsParameters, signal?: AbortSignal): Promise<SourceAnswer>
  overviews(parameters: SitesParameters, signal?: AbortSignal): Promise<SitesAnswer>
}

export const sourceOptions = { url: { type: 'string' }, 'key-file': { type: 'string' } } as const

export const sourceHelp = {
  url: 'read from a server, such as https://stats.example.com, instead of this installation; its API key comes from FOOTFALL_KEY',
  'key-file':
    'read the API key from this file instead; no option takes the key itself, because other users of the machine can see it there',
}
