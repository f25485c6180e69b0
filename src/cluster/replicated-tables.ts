// Tables of a shard with several replicas. They have the schema of migrations/clickhouse with ClickHouse's replicated engine, whose path in
// Keeper is the server's `default_replica_path` (docs/cluster.md).
import { ClickHouseError } from '@clickhouse/client'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql, text } from '../stores/clickhouse-sql.ts'
import { clonePrefix } from './tables.ts'

/**
 * Runs a statement of a migration with the replicated engine. ClickHouse refuses a table with other columns than its replicas have, so a
 * table that another replica has is created as it is there, with the changes of later migrations.
 */
export async function replicated(
  statement: string,
  clickhouse: ClickHouse,
  replicas: readonly ClickHouse[],
): Promise<void> {
  const table = /^CREATE TABLE IF NOT EXISTS (\w+)/m.exec(statement)?.[1]
  const others = replicas.filter((one) => one !== clickhouse)
  const changed =
    (table && (await definitionOn(others, table))) ??
    statement.replace(/^ENGINE = (\w*MergeTree)$/m, 'ENGINE = Replicated$1')
  try {
    await clickhouse.command(changed)
  } catch (error) {
    if (!table || !isKnownReplica(error)) throw error
    await forget(table, clickhouse, others)
    await clickhouse.command(changed)
  }
}

async function definitionOn(replicas: readonly ClickHouse[], table: string): Promise<string | undefined> {
  for (const replica of replicas) {
    const [row] = await replica
      .rows<{ definition: string }>(
        sql`
          SELECT create_table_query AS definition FROM system.tables
          WHERE database = currentDatabase() AND name = ${text(table)} AND startsWith(engine, 'Replicated')`,
      )
      .catch(() => [])
    if (row)
      return row.definition
        .replace(/^CREATE TABLE \S+/, `CREATE TABLE IF NOT EXISTS ${table}`)
        .replace(/ENGINE = (Replicated\w+)\([^)]*\)/, 'ENGINE = $1')
  }
  return undefined
}

/** Keeper knows a replica with this name, but its server has no tables: the disk was replaced. */
const isKnownReplica = (error: unknown): boolean => error instanceof ClickHouseError && error.code === '253'

/** Removes this replica from Keeper, which only another replica can do. ClickHouse refuses to remove one that is in use. */
async function forget(table: string, clickhouse: ClickHouse, others: readonly ClickHouse[]): Promise<void> {
  const [row] = await clickhouse.rows<{ name: string }>(sql`SELECT getMacro('replica') AS name`)
  let cause: unknown
  for (const other of others) {
    try {
      return await dropReplica(other, table, row?.name ?? '')
    } catch (error) {
      cause = error
    }
  }
  throw cause
}

/** ClickHouse accepts no parameters in this statement. */
const dropReplica = (by: ClickHouse, table: string, name: string): Promise<void> =>
  by.command(`SYSTEM DROP REPLICA '${name.replaceAll("'", "''")}' FROM TABLE ${table}`)

/** Removes from Keeper a replica that is gone for good. */
export async function dropFromAllTables(by: ClickHouse, name: string): Promise<void> {
  const tables = await by.rows<{ name: string }>(
    sql`SELECT table AS name FROM system.replicas WHERE database = currentDatabase()`,
  )
  for (const table of tables) await dropReplica(by, table.name, name)
}

/**
 * Turns the tables of a server that was alone into replicated ones. ClickHouse keeps their rows and copies them to the other replicas.
 * Returns the replicas in the order in which their tables must be created.
 */
export async function prepareReplicas(replicas: readonly ClickHouse[]): Promise<readonly ClickHouse[]> {
  const plain = new Map<ClickHouse, PlainTable[]>()
  for (const replica of replicas) {
    const tables = await replica.rows<PlainTable>(plainTables).catch(() => [])
    if (tables.length > 0) plain.set(replica, tables)
  }
  const filled = [...plain].filter(([, tables]) => tables.some(({ rows }) => rows > 0)).map(([replica]) => replica)
  if (filled.length > 1) {
    throw new Error(
      'Two replicas of a shard have rows of their own in tables that are not replicated. Drop the database of the one that is new, then migrate again.',
    )
  }
  for (const [replica, tables] of plain) {
    if (filled.includes(replica)) {
      for (const { name } of tables) await convert(replica, name)
    } else {
      for (const { name } of [...tables, { name: 'migrations' }]) await replica.command(`DROP TABLE ${name} SYNC`)
    }
  }
  return [...filled, ...replicas.filter((one) => !filled.includes(one))]
}

interface PlainTable {
  name: string
  rows: number
}

const plainTables = sql`
  SELECT name, ifNull(total_rows, 0) AS rows FROM system.tables
  WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND NOT startsWith(engine, 'Replicated') AND name != 'migrations'
    AND NOT startsWith(name, ${text(clonePrefix)})`

async function convert(clickhouse: ClickHouse, table: string): Promise<void> {
  await clickhouse.command(`DETACH TABLE ${table}`)
  await clickhouse.command(`ATTACH TABLE ${table} AS REPLICATED`)
  await clickhouse.command(`SYSTEM RESTORE REPLICA ${table}`)
}
