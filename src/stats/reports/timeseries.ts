import Type from 'typebox'
import { sql } from '../../stores/clickhouse-sql.ts'
import { hitFacts } from '../facts.ts'
import { daysOf } from '../period.ts'
import type { Report } from '../report.ts'
import { views, visitors } from '../shapes.ts'

interface Row {
  date: string
  visitors: number
  pageviews: number
}

export const timeseries: Report = {
  summary: 'Visitors and pageviews of every day of the period',
  limited: false,
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
        FROM ${hitFacts(query, 'total')}
        GROUP BY day`,
      signal,
    )
    const byDate = new Map(rows.map((row) => [row.date, row]))
    const data = Array.from(daysOf(query.current), (date) => byDate.get(date) ?? { date, visitors: 0, pageviews: 0 })
    return { data }
  },
}
