import Type from 'typebox'
import { sql, uint } from '../../stores/clickhouse-sql.ts'
import { hitFacts } from '../facts.ts'
import { readList, totalRows } from '../lists.ts'
import type { Report } from '../report.ts'
import { visitors } from '../shapes.ts'

export const utm: Report = {
  summary: 'Visitors by UTM source',
  limited: true,
  data: Type.Array(Type.Object({ name: Type.String({ description: 'UTM source as written in the link.' }), visitors })),
  read: (clickhouse, query, signal) =>
    readList(
      clickhouse,
      sql`
        SELECT value AS name, sum(visitors) AS visitors, ${totalRows}
        FROM ${hitFacts(query, 'utm')}
        GROUP BY value
        HAVING visitors > 0
        ORDER BY visitors DESC, name
        LIMIT ${uint(query.limit)}`,
      signal,
    ),
}
