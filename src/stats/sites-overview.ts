// The overviews of many sites with one statement. Each has the same numbers, periods and current time as if it were read alone.
import fastJson from 'fast-json-stringify'
import Type from 'typebox'
import { boundsOf } from '../calendar/periods.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import { sql } from '../stores/clickhouse-sql.ts'
import { readOfSites } from './daily-totals-of-sites.ts'
import { type Overview, overviewOf, overviewShape, type Totals, totals } from './reports/overview.ts'
import { domain, siteId } from './shapes.ts'
import type { SiteQuery, SiteRow, SitesReport } from './sites-query.ts'

const instant = (description: string) => Type.String({ format: 'date-time', description })

export const sitesOverviewShape = Type.Array(
  Type.Object({
    site_id: siteId,
    domain,
    period: Type.Object(
      {
        start: instant('When the current period begins, in the time zone of the site.'),
        end: instant('When it ends; the end itself is not included. Until then the events of this site are counted.'),
      },
      { description: 'The current period of this site.' },
    ),
    ...overviewShape.properties,
  }),
)

/** One row of `data`. */
interface SiteOverview extends Overview, SiteRow {
  domain: string
  period: ReturnType<typeof boundsOf>
}

export const sitesOverview: SitesReport<SiteOverview> = {
  name: 'sites',
  comparesPeriods: true,
  /** The shape serialises the rows, so no other field gets out. */
  serialize: fastJson(sitesOverviewShape as fastJson.Schema),
  read: (clickhouse, queries, _now, signal) => readSitesOverview(clickhouse, queries, signal),
  // Without the end of the period: if it is the current time, it changes while the numbers stay the same.
  stableFields: ({ period, ...row }) => ({ ...row, start: period.start }),
}

/** The rows of `data`, in the order of the queries. */
export async function readSitesOverview(
  clickhouse: ClickHouseReader,
  queries: readonly SiteQuery[],
  signal?: AbortSignal,
  max?: Parameters<typeof readOfSites>[4],
): Promise<SiteOverview[]> {
  const rows = await readOfSites<Totals & { site_id: string }>(
    clickhouse,
    queries,
    (dailyTotals) => sql`
      SELECT site_id, period, ${totals}
      FROM ${dailyTotals}
      GROUP BY site_id, period`,
    signal,
    max,
  )
  const bySite = Map.groupBy(rows, ({ site_id }) => site_id)
  return queries.map(({ siteId, domain, current }) => ({
    site_id: siteId,
    domain,
    period: boundsOf(current),
    ...overviewOf(bySite.get(siteId) ?? []),
  }))
}
