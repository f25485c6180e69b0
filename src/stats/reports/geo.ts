import Type from 'typebox'
import { sql } from '../../stores/clickhouse-sql.ts'
import { type CountryCode, countryNames } from '../../traffic/country.ts'
import { dailyMetrics } from '../daily-metrics.ts'
import type { Report } from '../report.ts'
import { visitors } from '../shapes.ts'

interface Row {
  code: CountryCode
  visitors: number
}

export const geo: Report = {
  summary: 'Visitors by country',
  details:
    'By the address of the visitor, which is not stored. Countries that the owner excluded are missing here and everywhere.',
  limited: true,
  lists: [{ list: 'country', metrics: ['visitors'] }],
  data: Type.Array(
    Type.Object({ name: Type.String({ description: 'English name of the country in full, or Unknown.' }), visitors }),
  ),
  async read(clickhouse, query, signal) {
    const rows = await clickhouse.rows<Row>(
      sql`
        SELECT value AS code, sum(visitors) AS visitors
        FROM ${dailyMetrics(query, 'country')}
        GROUP BY value
        HAVING visitors > 0`,
      signal,
    )
    // Sorted here, because ties are ordered by the printed name, which ClickHouse does not know. There are at most 251 rows.
    const data = rows
      .map(({ code, visitors }) => ({ name: countryNames[code], visitors }))
      .sort((one, other) => other.visitors - one.visitors || (one.name < other.name ? -1 : 1))
      .slice(0, query.limit)
    return { data, totalRows: rows.length }
  },
}
