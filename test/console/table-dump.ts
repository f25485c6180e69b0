import type { Postgres } from '../../src/stores/postgres.ts'

/** All rows of all tables, to compare before and after. Reading a page notes when a session or a link was last used, and may write nothing else. */
export async function dumpTables(postgres: Postgres): Promise<Record<string, string[]>> {
  const tables = await postgres<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY table_name`
  // In one statement: the test of all routes compares the tables hundreds of times.
  const all = tables.map(
    ({ name }) => postgres`
      SELECT ${name} AS name, (to_jsonb(one) - 'seen_at' - 'last_used_at')::text AS row FROM ${postgres(name)} AS one`,
  )
  const rows = await postgres<{ name: string; row: string }[]>`
    ${all.flatMap((one, index) => (index === 0 ? one : [postgres` UNION ALL `, one]))} ORDER BY name, row`
  return Object.fromEntries(
    tables.map(({ name }) => [name, rows.filter((one) => one.name === name).map(({ row }) => row)]),
  )
}
