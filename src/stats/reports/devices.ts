import Type from 'typebox'
import { sql, uint } from '../../stores/clickhouse-sql.ts'
import { devices as labels } from '../../traffic/device.ts'
import { dailyMetrics, readList, totalRows } from '../daily-metrics.ts'
import type { Report } from '../report.ts'
import { visitors } from '../shapes.ts'

export const devices: Report = {
  summary: 'Visitors by device type',
  details: 'Desktop, mobile and tablet, by the browser’s user agent; the most visitors first.',
  limited: true,
  lists: [{ list: 'device', metrics: ['visitors'] }],
  data: Type.Array(Type.Object({ name: Type.String({ enum: [...labels], description: 'Type of device.' }), visitors })),
  read: (clickhouse, query, signal) =>
    readList(
      clickhouse,
      sql`
        SELECT value AS name, sum(visitors) AS visitors, ${totalRows}
        FROM ${dailyMetrics(query, 'device')}
        GROUP BY value
        HAVING visitors > 0
        ORDER BY visitors DESC, name
        LIMIT ${uint(query.limit)}`,
      signal,
    ),
}
