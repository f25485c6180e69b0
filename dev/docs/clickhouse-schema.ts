// Reads the schema of a ClickHouse database as the server reports it, including defaults.
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'

export async function clickhouseSchema(clickhouse: ClickHouse): Promise<{ name: string; text: string }[]> {
  const tables = await clickhouse.rows<{ database: string; name: string; made: string }>(sql`
    SELECT database, name, formatQuery(create_table_query) AS made FROM system.tables
    WHERE database = currentDatabase() ORDER BY name`)
  return tables.map(({ database, name, made }) => ({ name, text: `${made.replace(`${database}.`, '')};\n` }))
}
