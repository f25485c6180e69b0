// Queries that keep the known coverage of their site, so that a test can check what was read against it.
import type { RollupVersion, TodayRollup } from '../../src/rollups/coverage.ts'
import { planQuery, type StatsQuery } from '../../src/stats/daily-metrics.ts'
import type { Report } from '../../src/stats/report.ts'

export interface PlannedQuery extends StatsQuery {
  versions: readonly RollupVersion[]
  today?: TodayRollup | undefined
}

export type UnplannedQuery = Omit<PlannedQuery, 'plans'>

export const planned = (query: UnplannedQuery, report: Pick<Report, 'byDay'>): PlannedQuery => ({
  ...query,
  ...planQuery(query, { versions: query.versions, today: query.today, byDay: report.byDay ?? false }),
})
