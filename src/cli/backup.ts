// A backup is a folder: `manifest.json`, one JSON Lines file per PostgreSQL table, and one compressed file in ClickHouse's Native format
// per shard and ClickHouse table. Any version of Footfall that has the migrations named in the manifest can restore it.
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { TransactionSql } from 'postgres'
import { isBeforeBaseline, pendingMigrations } from '../cluster/migrate.ts'
import { type AllStores, byShard } from '../cluster/stores.ts'
import { backupTables, rollupTables } from '../cluster/tables.ts'
import { retainedFrom } from '../rollups/coverage.ts'
import { noteKeptDays } from '../rollups/ledger.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { date, type Sql, sql } from '../stores/clickhouse-sql.ts'
import type { Postgres } from '../stores/postgres.ts'
import { clonedRows, withSnapshot } from '../traffic/snapshot.ts'
import { contentOf, controlTables, readControlTable, writeControlTable } from './backup-control.ts'
import { giveTo, type Owner, ownerOf } from './backup-owner.ts'
import { nameOf, prune, unfinishedName } from './backup-schedule.ts'
import { type Command, CommandError, type Context, positionals } from './command.ts'
import { showProgress } from './terminal.ts'

export type TrafficTable = keyof typeof backupTables
export const trafficTables = Object.keys(backupTables) as TrafficTable[]
export interface Manifest {
  /** Format 1 also counted titles that a later title replaces. Formats 1 and 2 know one shard only. */
  format: 1 | 2 | 3
  shards: number
  takenAt: string
  migrations: string[]
  rows: Record<string, number>
}

export const backup: Command = {
  summary: 'Write accounts, sites, people, keys and all traffic into a new folder',
  usage: '<folder> | --scheduled',
  options: { scheduled: { type: 'boolean' } },
  optionHelp: {
    scheduled: 'write it into BACKUP_FOLDER under its moment, then delete what BACKUP_KEEP does not keep',
  },
  examples: ['footfall backup /var/backups/footfall-2026-11-15', 'footfall backup --scheduled'],
  async run(input, context) {
    const { scheduled } = input.options
    const [named] = positionals(input, scheduled ? [] : ['folder'])
    const folder = named === undefined ? join(backupFolder(context), nameOf(Date.now())) : resolve(named)
    if (existsSync(folder))
      throw new CommandError(`${folder} already exists.`, 'Name a folder that does not exist yet.')
    const manifest = await writeBackup(context, folder, scheduled ? prepare(backupFolder(context)) : undefined)
    if (!manifest) throw new CommandError('Another backup is running.', 'Wait until it has finished.')
    const removed = scheduled ? prune(backupFolder(context), context.config.BACKUP_KEEP) : []
    const kept = scheduled ? ` Removed ${removed.length} older ones, as BACKUP_KEEP says.` : ''
    return {
      data: { folder, ...manifest, removed },
      show: (terminal) =>
        `${terminal.facts(Object.entries(manifest.rows).map(([table, count]) => [table, count.toLocaleString('en')]))}\n\nWritten to ${folder}.${kept} The backup contains hashes of keys and sealed second factors but not the secrets: keep KEY_SECRETS too.`,
    }
  },
}

/** Makes the folder for scheduled backups, if it is not there, and says who owns what is written into it. */
function prepare(folder: string): Owner {
  const owner = ownerOf(folder)
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (made !== undefined) giveTo(owner, made)
  return owner
}

export function backupFolder({ config }: Context): string {
  if (config.BACKUP_FOLDER !== undefined) return config.BACKUP_FOLDER
  throw new CommandError('BACKUP_FOLDER is not set.', 'Set it to the folder for scheduled backups, or name a folder.')
}

/** Undefined while another backup is running. The folder gets its name when the backup is complete and on disk. */
async function writeBackup(context: Context, folder: string, owner?: Owner): Promise<Manifest | undefined> {
  const path = unfinishedName(folder)
  try {
    const manifest = await writeSnapshot(context, path, owner)
    if (!manifest) return undefined
    writeFileSync(join(path, 'manifest.json'), JSON.stringify(manifest, null, 2))
    for (const file of readdirSync(path)) sync(join(path, file))
    if (owner) giveTo(owner, path)
    renameSync(path, folder)
    return manifest
  } catch (error) {
    rmSync(path, { recursive: true, force: true }) // half a backup is useless
    throw error
  }
}

/** Without this, a power cut after the renaming could leave empty files. */
function sync(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

const writeSnapshot = (context: Context, folder: string, owner?: Owner): Promise<Manifest | undefined> =>
  withSnapshot(context, trafficTables, async (control): Promise<Manifest> => {
    rmSync(folder, { recursive: true, force: true }) // of a backup that was killed: only one runs at a time
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (owner) giveTo(owner, folder) // at once, so that the owner can also delete what is left of one that is killed
    const rows: Record<string, number> = {}
    for (const table of controlTables) {
      rows[table] = await writeControlTable(control, contentOf(control, table), join(folder, `${table}.jsonl`))
    }
    const before = await retainedFrom(control)
    const progress = showProgress(context.progressTo, 'Backing up', 'tables')
    for (const [index, table] of trafficTables.entries()) {
      progress.update(index, trafficTables.length)
      // Only the rollups of days whose events were dropped or are about to be (decision D-79); all others can be rebuilt from the events.
      const until = table in rollupTables ? before : undefined
      const clone = clonedRows(backupTables[table])
      rows[table] = 0
      for (const clickhouse of context.cluster.shards) {
        rows[table] += await countRows(clickhouse, table, clone, until)
        const copied = until === undefined ? clone : sql`${clone} WHERE day < ${date(until)}`
        const stream = await clickhouse.download(sql`SELECT * FROM ${copied}`)
        await writeTraffic(stream, join(folder, fileOf(table, clickhouse.shard)))
      }
    }
    progress.update(trafficTables.length, trafficTables.length)
    progress.end()
    const shards = context.cluster.shards.length
    return { format: 3, takenAt: new Date().toISOString(), migrations: await appliedMigrations(control), shards, rows }
  })

/** The name of the first shard has no number, as in backups from before there were several shards. */
export const fileOf = (table: TrafficTable, shard: number): string =>
  shard === 1 ? `${table}.native.gz` : `${table}.shard-${shard}.native.gz`

export const restore: Command = {
  summary: 'Restore a backup into empty databases',
  usage: '<folder>',
  async run(input, context) {
    const [folder] = positionals(input, ['folder']) as [string]
    const manifest = readManifest(folder)
    await refuseUnlessReady(context, manifest)
    const rows = await restoreInto(context, { folder, manifest, progressTo: context.progressTo })
    return {
      data: { folder, rows },
      show: (terminal) =>
        `${terminal.facts(Object.entries(rows).map(([table, count]) => [table, count.toLocaleString('en')]))}\n\nRestored from ${manifest.takenAt}.`,
    }
  },
}

/** Reads a backup into these databases, which must be new. Returns the rows of each table. */
export async function restoreInto(
  stores: AllStores,
  { folder, manifest, progressTo }: { folder: string; manifest: Manifest; progressTo: NodeJS.WriteStream },
): Promise<Record<string, number>> {
  const rows: Record<string, number> = {}
  const progress = showProgress(progressTo, 'Restoring', 'tables')
  for (const [index, table] of trafficTables.entries()) {
    if (!(table in manifest.rows)) continue
    progress.update(index, trafficTables.length)
    rows[table] = 0
    for (const clickhouse of stores.cluster.shards.slice(0, manifest.shards)) {
      await readTraffic(clickhouse, table, join(folder, fileOf(table, clickhouse.shard)))
      rows[table] += await countRows(clickhouse, table, backupTables[table])
    }
  }
  progress.update(trafficTables.length, trafficTables.length)
  progress.end()
  for (const table of controlTables) {
    if (!(table in manifest.rows)) continue // the backup is older than this table
    if (table === 'retention') await stores.postgres`DELETE FROM retention` // a new database has one row
    // No report is sent that was due before the restore (decision D-221).
    if (table === 'report_subscriptions') await stores.postgres`UPDATE ledger SET began_at = now()`
    const path = join(folder, `${table}.jsonl`)
    rows[table] = await readControlTable(stores.postgres, table, path).catch(damaged(path))
  }
  for (const shard of byShard(stores)) await noteKeptDays(shard)
  // A new id, so that collectors forget what they know about the old installation.
  await stores.postgres`UPDATE ledger SET installation = gen_random_uuid()`
  const wrong = Object.entries(manifest.rows).filter(
    ([table, count]) => rows[table] !== count && !(manifest.format === 1 && table === 'titles'),
  )
  if (wrong.length > 0) {
    throw new CommandError(
      `The restored tables differ from the backup: ${wrong.map(([table, count]) => `${table} ${rows[table]} of ${count}`).join(', ')}.`,
      'Empty both databases and try again; if it fails again, the backup is damaged.',
    )
  }
  return rows
}

export function readManifest(folder: string): Manifest {
  const path = join(folder, 'manifest.json')
  if (!existsSync(path))
    throw new CommandError(
      `${folder} is not a finished backup.`,
      'Its manifest.json, which is written last, is missing.',
    )
  try {
    const manifest = { shards: 1, ...(JSON.parse(readFileSync(path, 'utf8')) as object) } as Manifest
    if ([1, 2, 3].includes(manifest.format) && Array.isArray(manifest.migrations) && manifest.rows) return manifest
  } catch {
    // reported below
  }
  throw new CommandError(`${path} is not the manifest of a backup.`, 'Take another backup.')
}

/** Turns the error into one about the backup's file; errors of a database pass through. */
const damaged =
  (path: string) =>
  (error: NodeJS.ErrnoException): never => {
    const { code = '' } = error
    if (!/^(Z_|ENOENT|22P02|23|22)/.test(code)) throw error
    throw new CommandError(
      `The backup is damaged: ${path} ${code === 'ENOENT' ? 'is missing' : `cannot be read (${error.message})`}.`,
      'Empty both databases, and restore another backup.',
    )
  }

export async function readTraffic(clickhouse: ClickHouse, table: string, path: string): Promise<void> {
  const file = createReadStream(path)
  const content = createGunzip()
  const failed = new Promise<never>((_resolve, reject) => {
    file.on('error', (error) => content.destroy(error))
    content.on('error', reject)
  })
  await Promise.race([clickhouse.upload(table, file.pipe(content)), failed]).catch(damaged(path))
}

export async function refuseUnlessReady(stores: AllStores, manifest: Manifest): Promise<void> {
  const pending = await pendingMigrations(stores.postgres)
  if (pending.length > 0) throw new CommandError('The databases are not up to date.', 'Run: footfall migrate')
  if (isBeforeBaseline(manifest.migrations)) {
    throw new CommandError('The backup is from before 0.1.0.', 'Only the version that made it can restore it.')
  }
  const applied = await appliedMigrations(stores.postgres)
  const unknown = manifest.migrations.filter((name) => !applied.includes(name))
  if (unknown.length > 0) {
    throw new CommandError(`The backup is from a newer version (${unknown.join(', ')}).`, 'Upgrade Footfall first.')
  }
  const [{ isUsed }] = await stores.postgres<[{ isUsed: boolean }]>`
    SELECT EXISTS (SELECT FROM accounts) OR EXISTS (SELECT FROM users) AS "isUsed"`
  const shards = stores.cluster.shards.length
  if (shards < manifest.shards) {
    throw new CommandError(
      `The backup has ${manifest.shards} shards, and this installation has ${shards}.`,
      'List at least as many in CLICKHOUSE_SHARDS, then run footfall migrate.',
    )
  }
  const events = await Promise.all(
    stores.cluster.shards.map((clickhouse) => countRows(clickhouse, 'events', backupTables.events)),
  )
  if (isUsed || events.some((count) => count > 0)) {
    throw new CommandError(
      'The databases are not empty.',
      'Restore into new databases: set DATABASE_URL and CLICKHOUSE_URL, then run footfall migrate.',
    )
  }
}

const appliedMigrations = async (postgres: Postgres | TransactionSql): Promise<string[]> =>
  (await postgres<{ name: string }[]>`SELECT name FROM migrations ORDER BY name`).map(({ name }) => name)

const writeTraffic = (stream: Readable, path: string) =>
  pipeline(stream, createGzip({ level: 1 }), createWriteStream(path, { flags: 'wx' }))

/** Counts only the titles that a reader sees, because ClickHouse merges rows of the same page and country at any time. */
async function countRows(clickhouse: ClickHouse, table: TrafficTable, from: Sql, before?: string): Promise<number> {
  const counted =
    table === 'titles'
      ? sql`(SELECT site_id, pathname, country FROM ${from} GROUP BY site_id, pathname, country)`
      : before === undefined
        ? from
        : sql`${from} WHERE day < ${date(before)}`
  const [row] = await clickhouse.rowsPatiently<{ rows: number }>(sql`SELECT count() AS rows FROM ${counted}`, {
    optimize_aggregation_in_order: 1, // otherwise every path of every site would be in memory
  })
  return row?.rows ?? 0
}
