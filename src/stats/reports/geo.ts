import Type from 'typebox'
import { sql } from '../../stores/clickhouse-sql.ts'
import { type CountryCode, countryNames } from '../../traffic/country.ts'
import { hitFacts } from '../facts.ts'
import type { Report } from '../report.ts'
import { visitors } from '../shapes.ts'

interface Row {
  code: CountryCode
  visitors: number
}

export const geo: Report = {
  summary: 'Visitors by country',
  limited: true,
  data: Type.Array(
    Type.Object({ name: Type.String({ description: 'English name of the country in full, or Unknown.' }), visitors }),
  ),
  async read(clickhouse, query, signal) {
    const rows = await clickhouse.rows<Row>(
      sql`
        SELECT value AS code, sum(visitors) AS visitors
        FROM ${hitFacts(query, 'country')}
        GROUP BY value
        HAVING visitors > 0`,
      signal,
    )
    // Ordered here, because ties go by the printed name, which the engine does not know; there are at most 251 rows.
    const data = rows
      .map(({ code, visitors }) => ({ name: countryNames[code], visitors }))
      .sort((one, other) => other.visitors - one.visitors || (one.name < other.name ? -1 : 1))
      .slice(0, query.limit)
    return { data, totalRows: rows.length }
  },
}
