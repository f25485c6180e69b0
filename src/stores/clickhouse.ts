import { type ClickHouseClient, createClient } from '@clickhouse/client'
import { render, type Sql } from './clickhouse-sql.ts'

export interface ClickHouse {
  /** Runs a statement and returns its rows. 64-bit integers arrive as numbers: counts fit, ids must be selected as strings. */
  rows<Row>(statement: Sql, signal?: AbortSignal): Promise<Row[]>
  /** Inserts rows and returns when the engine has them; a repeated token within the deduplication window changes nothing. */
  insert(table: string, rows: readonly object[], token: string): Promise<void>
  /** Runs a statement without values: schema changes. */
  command(text: string): Promise<void>
  close(): Promise<void>
}

/** `url` names host, user, password and, as its path, the database. */
export function openClickHouse(url: string): ClickHouse {
  const client: ClickHouseClient = createClient({
    url,
    request_timeout: 30_000,
    max_open_connections: 16,
    log: { level: 127 /* off: what fails is thrown, and logged once by whoever handles it */ },
    clickhouse_settings: {
      // An error must never arrive after a 200 has begun.
      wait_end_of_query: 1,
      // A report of one site reads little; one thread each serves 1.1-1.3 times more of them a second.
      max_threads: 1,
    },
  })
  return {
    async rows<Row>(statement: Sql, signal?: AbortSignal) {
      const { text, parameters } = render(statement)
      const result = await client.query({
        query: text,
        query_params: parameters,
        format: 'JSONEachRow',
        ...(signal && { abort_signal: signal }),
      })
      return result.json<Row>()
    },
    async insert(table, rows, token) {
      await client.insert({
        table,
        values: rows,
        format: 'JSONEachRow',
        clickhouse_settings: { insert_deduplication_token: token, date_time_input_format: 'best_effort' },
      })
    },
    async command(text) {
      await client.command({ query: text })
    },
    close: () => client.close(),
  }
}
