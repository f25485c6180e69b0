import Type from 'typebox'
import { sql, uint } from '../../stores/clickhouse-sql.ts'
import { dailyMetrics, readList, totalRows } from '../daily-metrics.ts'
import type { Report } from '../report.ts'
import { count, visitors } from '../shapes.ts'

export const events: Report = {
  summary: 'Custom events: how often, and by how many visitors',
  details: 'Everything that your pages sent with a name of its own, such as `Sign up`, the most frequent first.',
  limited: true,
  lists: [{ list: 'event', metrics: ['visitors', 'events'] }],
  data: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Name of the custom event.' }),
      count: count('Occurrences.', 'events'),
      visitors,
    }),
  ),
  read: (clickhouse, query, signal) =>
    readList(
      clickhouse,
      sql`
        SELECT value AS name, sum(views) AS count, sum(visitors) AS visitors, ${totalRows}
        FROM ${dailyMetrics(query, 'event')}
        GROUP BY value
        HAVING visitors > 0
        ORDER BY count DESC, visitors DESC, name
        LIMIT ${uint(query.limit)}`,
      signal,
    ),
}
