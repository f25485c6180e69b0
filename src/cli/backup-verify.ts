// Restores a backup into scratch databases and compares them with its files, per table and site (decision D-228). The files are read a second
// time for this, without the tables and the code that restore them.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { migrate } from '../cluster/migrate.ts'
import type { AllStores } from '../cluster/stores.ts'
import { backupTables } from '../cluster/tables.ts'
import { type ClickHouse, serversOf } from '../stores/clickhouse.ts'
import { type Sql, sql } from '../stores/clickhouse-sql.ts'
import type { Postgres } from '../stores/postgres.ts'
import {
  backupFolder,
  fileOf,
  type Manifest,
  readManifest,
  readTraffic,
  refuseUnlessReady,
  restoreInto,
  type TrafficTable,
  trafficTables,
} from './backup.ts'
import { controlTables } from './backup-control.ts'
import { lastGood } from './backup-schedule.ts'
import { type Command, CommandError, type Context, positionals } from './command.ts'
import { withScratchDatabases } from './scratch-databases.ts'
import { size } from './size.ts'

/** ClickHouse takes about as much disk as the files, and some more while it merges. */
const roomFactor = 3

/** How many rows a site has in a table, and the sum of their hashes, which no order of rows changes. */
interface Sum {
  site: string
  rows: number
  sum: string
}

interface Difference {
  table: string
  site: string
  inBackup: string
  restored: string
}

export const backupVerify: Command = {
  summary: 'Restore a backup into scratch databases, compare it with its files, and drop them',
  usage: '[<folder>]',
  examples: ['footfall backup verify', 'footfall backup verify /var/backups/footfall-2026-11-15'],
  async run(input, context) {
    const [folder] = input.positionals.length === 0 ? [newestBackup(context)] : positionals(input, ['folder'])
    const path = folder as string
    const manifest = readManifest(path)
    await refuseWithoutRoom(context, path)
    const { tables, differences } = await withScratchDatabases(context, manifest.shards, async (scratch) => {
      await migrate(scratch)
      await refuseUnlessReady(scratch, manifest)
      await restoreInto(scratch, { folder: path, manifest, progressTo: context.progressTo }).catch(notRestored)
      return compare(scratch, path, manifest)
    })
    return {
      data: { folder: path, takenAt: manifest.takenAt, tables, differences },
      exitCode: differences.length > 0 ? 1 : 0,
      show: (terminal) =>
        differences.length > 0
          ? `${terminal.table(
              ['TABLE', 'SITE', 'IN THE BACKUP', 'RESTORED'],
              differences.map(({ table, site, inBackup, restored }) => [table, site, inBackup, restored]),
            )}\n\n${terminal.bad('The restored rows differ.')} ${unreliable}`
          : `${terminal.table(
              ['TABLE', 'ROWS', 'SITES'],
              tables.map(({ table, rows, sites }) => [table, rows.toLocaleString('en'), sites.toLocaleString('en')]),
            )}\n\n${path} of ${manifest.takenAt} can be restored, and every row of it is the same.`,
    }
  },
}

const unreliable = 'Do not rely on this backup: take another one, and verify it.'

function notRestored(error: Error): never {
  throw error instanceof CommandError ? new CommandError(error.message, unreliable) : error
}

function newestBackup(context: Context): string {
  const folder = backupFolder(context)
  const last = lastGood(folder, Date.now())
  if (last) return join(folder, last.name)
  throw new CommandError(`There is no good backup in ${folder}.`, 'To make one, run: footfall backup --scheduled')
}

/** A full disk of ClickHouse would stop the installation in use. */
async function refuseWithoutRoom({ cluster }: Context, folder: string): Promise<void> {
  const bytes = readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
  for (const shard of cluster.shards) {
    const [row] = await (serversOf(shard)[0] as ClickHouse).rows<{ free: number }>(
      sql`SELECT min(unreserved_space) AS free FROM system.disks`,
    )
    if ((row?.free ?? 0) > roomFactor * bytes) continue
    throw new CommandError(
      `ClickHouse has ${size(row?.free ?? 0)} of disk left, and a scratch copy may take ${size(roomFactor * bytes)}.`,
      'Free some space, or verify the backup on another machine, with its own DATABASE_URL and CLICKHOUSE_URL.',
    )
  }
}

async function compare(scratch: AllStores, folder: string, manifest: Manifest) {
  const tables: { table: string; rows: number; sites: number }[] = []
  const differences: Difference[] = []
  for (const table of Object.keys(manifest.rows)) {
    const [inFile, restored] = isTraffic(table)
      ? await trafficSums(scratch, folder, table)
      : await controlSums(scratch.postgres, folder, table)
    tables.push({
      table,
      rows: inFile.reduce((sum, { rows }) => sum + rows, 0),
      sites: inFile.filter(({ site }) => site !== '').length,
    })
    const [left, right] = [bySite(inFile), bySite(restored)]
    for (const site of new Set([...left.keys(), ...right.keys()])) {
      const [inBackup = 'no rows', found = 'no rows'] = [left.get(site), right.get(site)]
      if (inBackup !== found) differences.push({ table, site, inBackup, restored: found })
    }
  }
  return { tables, differences }
}

const isTraffic = (table: string): table is TrafficTable => (trafficTables as string[]).includes(table)

const bySite = (sums: readonly Sum[]): Map<string, string> =>
  new Map(sums.map(({ site, rows, sum }) => [site, `${rows.toLocaleString('en')} rows, sum ${sum}`]))

type Sums = [inFile: Sum[], restored: Sum[]]

async function controlSums(postgres: Postgres, folder: string, table: string): Promise<Sums> {
  if (!(controlTables as readonly string[]).includes(table)) throw new Error(`No version has the table ${table}`)
  await postgres`CREATE TABLE IF NOT EXISTS verified_rows (row jsonb)`
  await postgres`TRUNCATE verified_rows`
  const lines = readFileSync(join(folder, `${table}.jsonl`), 'utf8')
    .split('\n')
    .filter(Boolean)
  for (let from = 0; from < lines.length; from += 1000)
    await postgres`
      INSERT INTO verified_rows
      SELECT jsonb_array_elements(${`[${lines.slice(from, from + 1000).join(',')}]`}::text::jsonb)`
  const site = table === 'sites' ? 'id' : 'site_id'
  // A backup of an older version lacks newer columns, which are not compared.
  return [
    await postgres<Sum[]>`
      SELECT coalesce(row ->> ${site}, '') AS site, count(*)::int AS rows, sum(hashtextextended(row::text, 0))::text AS sum
      FROM verified_rows GROUP BY 1 ORDER BY 1`,
    await postgres<Sum[]>`
      WITH columns AS (SELECT DISTINCT jsonb_object_keys(row) AS name FROM verified_rows), restored AS (
        SELECT (SELECT jsonb_object_agg(key, value) FROM jsonb_each(to_jsonb(t)) JOIN columns ON name = key) AS row
        FROM ${postgres(table)} AS t
      )
      SELECT coalesce(row ->> ${site}, '') AS site, count(*)::int AS rows, sum(hashtextextended(row::text, 0))::text AS sum
      FROM restored GROUP BY 1 ORDER BY 1`,
  ]
}

/** ClickHouse adds up the rows of the file while it reads them, and stores none; only of titles it must find the latest. */
async function trafficSums({ cluster }: AllStores, folder: string, table: TrafficTable): Promise<Sums> {
  const all: Sums = [[], []]
  for (const clickhouse of cluster.shards) {
    const path = join(folder, fileOf(table, clickhouse.shard))
    const copy = `verified_${table}`
    const sums =
      table === 'titles' ? await titleSums(clickhouse, copy, path) : await rowSums(clickhouse, table, copy, path)
    // A site that was being moved has rows on two shards.
    const named = sums.map((some) =>
      some.map((one) => (clickhouse.shard === 1 ? one : { ...one, site: `${one.site} on shard ${clickhouse.shard}` })),
    ) as Sums
    all[0].push(...named[0])
    all[1].push(...named[1])
  }
  return all
}

async function rowSums(clickhouse: ClickHouse, table: TrafficTable, copy: string, path: string): Promise<Sums> {
  await clickhouse.command(`CREATE TABLE ${copy} AS ${table} ENGINE = Null`)
  await clickhouse.command(
    'CREATE OR REPLACE TABLE verified_sums (site String, rows UInt64, sum UInt64) ENGINE = Memory',
  )
  await clickhouse.command(`
    CREATE MATERIALIZED VIEW sums_of_${table} TO verified_sums
    AS SELECT site_id AS site, count() AS rows, sum(cityHash64(*)) AS sum FROM ${copy} GROUP BY site`)
  await readTraffic(clickhouse, copy, path)
  await clickhouse.command(`DROP TABLE sums_of_${table}`)
  return [
    await clickhouse.rowsPatiently<Sum>(
      sql`SELECT site, sum(rows) AS rows, toString(sum(sum)) AS sum FROM verified_sums GROUP BY site`,
    ),
    await clickhouse.rowsPatiently<Sum>(sql`
      SELECT site_id AS site, count() AS rows, toString(sum(cityHash64(*))) AS sum FROM ${backupTables[table]} GROUP BY site`),
  ]
}

async function titleSums(clickhouse: ClickHouse, copy: string, path: string): Promise<Sums> {
  await clickhouse.command(`CREATE TABLE ${copy} AS titles`)
  await readTraffic(clickhouse, copy, path)
  const sums = (from: Sql) =>
    clickhouse.rowsPatiently<Sum>(
      sql`
      SELECT site_id AS site, count() AS rows, toString(sum(cityHash64(pathname, country, newest))) AS sum
      FROM (SELECT site_id, pathname, country, max(latest) AS newest FROM ${from} GROUP BY site_id, pathname, country)
      GROUP BY site`,
      { optimize_aggregation_in_order: 1 }, // otherwise every path of every site would be in memory
    )
  return [await sums(sql`verified_titles`), await sums(sql`titles`)]
}
