import Type from 'typebox'
import { sql, uint } from '../../stores/clickhouse-sql.ts'
import { dailyMetrics, forLongLists, readList, totalRows } from '../daily-metrics.ts'
import type { Report } from '../report.ts'
import { views, visitors } from '../shapes.ts'

export const referrers: Report = {
  summary: 'The hosts visitors came from, by views',
  details: 'The referrer of a visit is the one of its first event. Visits without a referrer are not in this list.',
  limited: true,
  lists: [{ list: 'referrer', metrics: ['visitors', 'pageviews'] }],
  data: Type.Array(
    Type.Object({
      referrer: Type.String({ description: 'Host in lower case, without www. and port.' }),
      views,
      visitors,
    }),
  ),
  read: (clickhouse, query, signal) =>
    readList(
      clickhouse,
      sql`
        SELECT value AS referrer, sum(views) AS views, sum(visitors) AS visitors, ${totalRows}
        FROM ${dailyMetrics(query, 'referrer')}
        GROUP BY value
        HAVING visitors > 0
        ORDER BY views DESC, visitors DESC, referrer
        LIMIT ${uint(query.limit)}
        ${forLongLists}`,
      signal,
    ),
}
