// Forward-only migrations of both databases. PostgreSQL holds the list of applied files and the lock: one process migrates at a time.
// Every ClickHouse server also has a list of its own, so that a new or emptied one gets its tables. Checksums and the first file tell which
// databases were made by earlier, unreleased versions: they cannot be upgraded (decision D-226).
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { ReservedSql } from 'postgres'
import { Unavailable } from '../stores/breaker.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql } from '../stores/clickhouse-sql.ts'
import type { Postgres } from '../stores/postgres.ts'
import {
  type Column,
  changeType,
  columnOf,
  type Obstacle,
  Postponed,
  type Rewriting,
  untilRewritten,
} from './column-rewrites.ts'
import { prepareReplicas, replicated } from './replicated-tables.ts'
import { repairRestoredTables } from './restored-tables.ts'
import type { AllStores } from './stores.ts'

const migrationsFolder = new URL('../../migrations/', import.meta.url)
const lock = 4_669_201 // any constant: the key of the migration lock

interface Migration {
  name: string
  text: string
  checksum: string
}

interface MigrateOptions {
  folder?: URL
  /** Called for each ClickHouse that was left out. If it throws, the run ends. */
  leftOut?(cause: Unavailable): void
  /** Called for each column that cannot be rewritten now. The rest of its file waits, too. Everything works meanwhile. */
  postponed?(rewriting: Rewriting, obstacle: Obstacle): void
  /** To wait until columns are rewritten, one after the other. Otherwise ClickHouse rewrites all of them in the background. */
  watch?: Watch
}

interface Watch {
  begins(rewriting: Rewriting): void
  rewriting(left: Rewriting): void
}

/**
 * Applies the missing migrations and returns their names. An interrupted run can be repeated. A ClickHouse that is down must not keep
 * the others from starting: it is left out, unless there are files that no run has applied to every ClickHouse.
 */
export async function migrate(
  { postgres, cluster }: AllStores,
  { folder = migrationsFolder, leftOut = () => {}, postponed = () => {}, watch }: MigrateOptions = {},
): Promise<string[]> {
  const connection = await postgres.reserve()
  try {
    await connection`SELECT pg_advisory_lock(${lock})`
    await connection`
      CREATE TABLE IF NOT EXISTS migrations
      (name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
    const pending = await missing(connection, folder)
    const applied = new Set<string>()
    for (const { name, text, checksum } of pending.filter(isOf('postgres'))) {
      await connection`BEGIN`
      await connection.unsafe(text)
      await connection`INSERT INTO migrations ${connection({ name, checksum })}`
      await connection`COMMIT`
      applied.add(name)
    }
    const toRecord = new Map(pending.filter(isOf('clickhouse')).map((file) => [file.name, file]))
    const wait = async (server: ClickHouse, isReplica: boolean): Promise<void> => {
      if (!watch) return
      // Rewriting may take an hour. Processes that start meanwhile must not wait for the lock.
      await connection`SELECT pg_advisory_unlock(${lock})`
      const rewritten = untilRewritten(server, isReplica, watch.rewriting)
      await rewritten.finally(() => connection`SELECT pg_advisory_lock(${lock})`)
    }
    for (const shard of cluster.shards) {
      const servers = shard.replicas ? await prepareReplicas(shard.replicas.all) : [shard]
      for (const server of servers) {
        try {
          const all = read(folder).filter(isOf('clickhouse'))
          await migrateClickHouse(server, all, servers, {
            applied: (name) => applied.add(name),
            begins: (rewriting) => watch?.begins(rewriting),
            begun: async () => {
              for (const one of servers) await wait(one, servers.length > 1)
            },
            postponed(name, { rewriting, obstacle }) {
              toRecord.delete(name)
              postponed(rewriting, obstacle)
            },
          })
          await wait(server, servers.length > 1)
        } catch (error) {
          if (error instanceof Postponed) {
            postponed(error.rewriting, error.obstacle)
            continue
          }
          if (!(error instanceof Unavailable)) throw error
          // Every process of this version works without the rewriting.
          for (const name of toRecord.keys()) if (columnsOf([name], folder).length > 0) toRecord.delete(name)
          if (toRecord.size > 0) throw error
          leftOut(error)
        }
      }
    }
    for (const { name, checksum } of toRecord.values()) {
      await connection`INSERT INTO migrations ${connection({ name, checksum })} ON CONFLICT DO NOTHING`
      applied.add(name)
    }
    // Only in a new installation: once there are sites, every process must know a shard before it is used (`footfall shard add`).
    const [{ isNew }] = await connection<[{ isNew: boolean }]>`SELECT NOT EXISTS (SELECT FROM sites) AS "isNew"`
    if (isNew) await useShards(connection, cluster.shards)
    return [...applied]
  } finally {
    connection.release() // also releases the lock and rolls back an unfinished migration
  }
}

/** Allows new sites on these shards. */
export async function useShards(postgres: Postgres | ReservedSql, shards: readonly ClickHouse[]): Promise<void> {
  for (const { shard } of shards) await postgres`INSERT INTO shards (number) VALUES (${shard}) ON CONFLICT DO NOTHING`
}

const isOf =
  (database: string) =>
  (migration: Migration): boolean =>
    migration.name.startsWith(`${database}/`)

interface Steps {
  applied(name: string): void
  begins(rewriting: Rewriting): void
  /** ClickHouse has begun to rewrite a column. */
  begun(): Promise<void>
  postponed(name: string, cause: Postponed): void
}

async function migrateClickHouse(
  clickhouse: ClickHouse,
  all: readonly Migration[],
  replicas: readonly ClickHouse[],
  steps: Steps,
): Promise<void> {
  const run = (statement: string) =>
    replicas.length === 1 ? clickhouse.command(statement) : replicated(statement, clickhouse, replicas)
  await clickhouse.version() // a statement below may take an hour; this finds out early whether ClickHouse is down, or is something else
  await clickhouse.command(`
    CREATE TABLE IF NOT EXISTS migrations (name String, checksum String, applied_at DateTime DEFAULT now())
    ENGINE = MergeTree ORDER BY name`)
  const rows = await clickhouse.rowsPatiently<Applied>(sql`SELECT name, checksum FROM migrations`)
  await refuseOldEvents(clickhouse)
  const pending = notIn(rows, all)
  if (replicas.length === 1) await repairRestoredTables(clickhouse)
  for (const { name, text, checksum } of pending) {
    try {
      // ClickHouse has no transactions, so every statement of a file must be safe to repeat (IF NOT EXISTS).
      for (const statement of statementsOf(text)) {
        const column = columnOf(statement)
        if (!column) {
          await run(statement)
          continue
        }
        const alter = () => run(`${statement} SETTINGS alter_sync = 0`)
        await changeType(column, replicas, { begins: steps.begins, alter })
        await steps.begun()
      }
      await clickhouse.insert('migrations', [{ name, checksum }], name)
      steps.applied(name)
    } catch (error) {
      if (!(error instanceof Postponed)) throw error
      steps.postponed(name, error)
    }
  }
}

/** A statement ends with a semicolon at the end of a line. */
const statementsOf = (text: string): string[] => text.split(/;$/m).filter((statement) => statement.trim() !== '')

/** The names of the migrations that `migrate` would apply now. */
export async function pendingMigrations(postgres: Postgres): Promise<string[]> {
  const [{ exists }] = await postgres<[{ exists: boolean }]>`SELECT to_regclass('migrations') IS NOT NULL AS exists`
  const pending = exists ? await missing(postgres, migrationsFolder) : read(migrationsFolder)
  return pending.map(({ name }) => name)
}

/** The names of the migrations that one ClickHouse does not have, by its own list. */
export async function pendingClickHouseMigrations(clickhouse: ClickHouse): Promise<string[]> {
  const all = read(migrationsFolder).filter(isOf('clickhouse'))
  await refuseOldEvents(clickhouse)
  const [table] = await clickhouse.rows(
    sql`SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name = 'migrations'`,
  )
  const rows = table ? await clickhouse.rows<Applied>(sql`SELECT name, checksum FROM migrations`) : []
  return notIn(rows, all).map(({ name }) => name)
}

/** The columns that these migrations rewrite. A file that rewrites columns does nothing else. */
export const columnsOf = (names: readonly string[], folder = migrationsFolder): Column[] =>
  read(folder)
    .filter(({ name }) => names.includes(name))
    .flatMap(({ text }) => statementsOf(text))
    .flatMap((statement) => columnOf(statement) ?? [])

async function missing(postgres: Postgres | ReservedSql, folder: URL): Promise<Migration[]> {
  const rows = await postgres<Applied[]>`SELECT name, checksum FROM migrations`
  const names = rows.map(({ name }) => name)
  if (isBeforeBaseline(names)) throw cannotUpgrade('BEFORE_BASELINE', `PostgreSQL has applied ${names.sort()[0]}`)
  return notIn(rows, read(folder))
}

/** Whether the list is that of a database or a backup from before all earlier files became one. */
export const isBeforeBaseline = (names: readonly string[]): boolean =>
  names.length > 0 && !names.includes('postgres/0001_baseline.sql')

/** ClickHouse had no list then, and `CREATE TABLE IF NOT EXISTS` would keep a table with other columns. */
async function refuseOldEvents(clickhouse: ClickHouse): Promise<void> {
  const [old] = await clickhouse.rows(
    sql`SELECT 1 FROM system.columns WHERE database = currentDatabase() AND table = 'events' AND name = 'batch_id'`,
  )
  if (old) throw cannotUpgrade('BEFORE_BASELINE', 'events of ClickHouse has a column batch_id')
}

/** `process/error-hints.ts` says what to do, by the code. */
const cannotUpgrade = (code: 'BEFORE_BASELINE' | 'OTHER_MIGRATIONS', message: string): Error =>
  Object.assign(new Error(message), { code })

type Applied = Pick<Migration, 'name' | 'checksum'>

function notIn(rows: readonly Applied[], all: readonly Migration[]): Migration[] {
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]))
  return all.filter(({ name, checksum }) => {
    const appliedChecksum = applied.get(name)
    if (appliedChecksum && appliedChecksum !== checksum) {
      throw cannotUpgrade('OTHER_MIGRATIONS', `${name} differs from the one that was applied`)
    }
    return !appliedChecksum
  })
}

function read(folder: URL): Migration[] {
  return ['postgres', 'clickhouse'].flatMap((database) =>
    readdirSync(new URL(`${database}/`, folder))
      .filter((file) => /^\d{4}_\w+\.sql$/.test(file)) // not schema.sql, the result of all migrations
      .sort()
      .map((file) => {
        const text = readFileSync(new URL(`${database}/${file}`, folder), 'utf8')
        return { name: `${database}/${file}`, text, checksum: createHash('sha256').update(text).digest('hex') }
      }),
  )
}

/** The statements that create the tables of an empty ClickHouse database, for callers without PostgreSQL. */
export const clickhouseMigrations = (): string[] =>
  read(migrationsFolder)
    .filter(({ name }) => name.startsWith('clickhouse/'))
    .flatMap(({ text }) => statementsOf(text))
