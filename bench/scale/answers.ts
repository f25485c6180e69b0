// One response as the API computes it, and its cost: time at the client; rows, bytes and memory from ClickHouse.
import type { StatsQuery } from '../../src/stats/daily-metrics.ts'
import type { Report } from '../../src/stats/report.ts'
import { render, type Sql, type Statement } from '../../src/stores/clickhouse-sql.ts'
import type { Cost, MeasuringConnection } from '../api/clickhouse-connection.ts'

export interface Answered extends Cost {
  /** `rows` are read for the numbers; titles are looked up separately, for the returned pages. */
  titleRows: number
  milliseconds: number
  data: unknown
  statements: Statement[]
}

export async function answer(clickhouse: MeasuringConnection, report: Report, query: StatsQuery): Promise<Answered> {
  const total = { rows: 0, titleRows: 0, bytes: 0, memory: 0 }
  const statements: Statement[] = []
  const begin = performance.now()
  const { data } = await report.read(
    {
      async rows<Row>(statement: Sql) {
        const rendered = render(statement)
        statements.push(rendered)
        const { body, cost } = await clickhouse.measure(rendered)
        total[/\bFROM titles\b/.test(rendered.text) ? 'titleRows' : 'rows'] += cost.rows
        total.bytes += cost.bytes
        total.memory = Math.max(total.memory, cost.memory)
        return body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]))
      },
    },
    query,
  )
  return { ...total, milliseconds: performance.now() - begin, data, statements }
}
