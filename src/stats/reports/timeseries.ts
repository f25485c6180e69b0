import Type from 'typebox'
import { daysOf } from '../../calendar/periods.ts'
import { sql } from '../../stores/clickhouse-sql.ts'
import { dailyMetrics } from '../daily-metrics.ts'
import type { Report } from '../report.ts'
import { views, visitors } from '../shapes.ts'

interface Row {
  date: string
  visitors: number
  pageviews: number
}

export const timeseries: Report = {
  summary: 'Visitors and pageviews of every day of the period',
  details:
    'One row per calendar day of the site’s time zone, in order. Days without traffic are there too, with 0, so you can draw the list as it is.',
  limited: false,
  byDay: true,
  data: Type.Array(
    Type.Object({
      date: Type.String({ format: 'date', description: "Calendar day in the site's time zone." }),
      visitors,
      pageviews: views,
    }),
  ),
  async read(clickhouse, query, signal) {
    const rows = await clickhouse.rows<Row>(
      sql`
        SELECT day AS date, sum(visitors) AS visitors, sum(views) AS pageviews
        FROM ${dailyMetrics(query, 'total')}
        GROUP BY day`,
      signal,
    )
    const byDate = new Map(rows.map((row) => [row.date, row]))
    const data = Array.from(daysOf(query.current), (date) => byDate.get(date) ?? { date, visitors: 0, pageviews: 0 })
    return { data }
  },
}
