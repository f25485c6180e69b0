import Type from 'typebox'
import { sql, uint } from '../../stores/clickhouse-sql.ts'
import { hitFacts } from '../facts.ts'
import { readList, totalRows } from '../lists.ts'
import type { Report } from '../report.ts'
import { count, visitors } from '../shapes.ts'

export const events: Report = {
  summary: 'Custom events: how often, and by how many visitors',
  limited: true,
  data: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Name of the custom event.' }),
      count: count('Occurrences.'),
      visitors,
    }),
  ),
  read: (clickhouse, query, signal) =>
    readList(
      clickhouse,
      sql`
        SELECT value AS name, sum(views) AS count, sum(visitors) AS visitors, ${totalRows}
        FROM ${hitFacts(query, 'event')}
        GROUP BY value
        HAVING visitors > 0
        ORDER BY count DESC, visitors DESC, name
        LIMIT ${uint(query.limit)}`,
      signal,
    ),
}
