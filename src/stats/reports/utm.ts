import Type from 'typebox'
import { sql, uint } from '../../stores/clickhouse-sql.ts'
import { dailyMetrics, readList, totalRows } from '../daily-metrics.ts'
import type { Report } from '../report.ts'
import { visitors } from '../shapes.ts'

export const utm: Report = {
  summary: 'Visitors by UTM source',
  details:
    'The source in the link that a visit began with: `utm_source`, or else `ref` or `source`. Visits without one are not in this list.',
  limited: true,
  lists: [{ list: 'utm_source', metrics: ['visitors'] }],
  data: Type.Array(Type.Object({ name: Type.String({ description: 'UTM source as written in the link.' }), visitors })),
  read: (clickhouse, query, signal) =>
    readList(
      clickhouse,
      sql`
        SELECT value AS name, sum(visitors) AS visitors, ${totalRows}
        FROM ${dailyMetrics(query, 'utm')}
        GROUP BY value
        HAVING visitors > 0
        ORDER BY visitors DESC, name
        LIMIT ${uint(query.limit)}`,
      signal,
    ),
}
