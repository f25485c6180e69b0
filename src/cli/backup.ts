// A backup is a folder: `manifest.json`, one JSON Lines file a PostgreSQL table, and the traffic as ClickHouse's own Native
// format, compressed, one file a table. Portable: any version that has the migrations named in it can restore it.
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Fragment } from 'postgres'
import { date, sql } from '../stores/clickhouse-sql.ts'
import { pendingMigrations } from '../stores/migrate.ts'
import type { Postgres } from '../stores/postgres.ts'
import { siteTables } from '../traffic/erasure.ts'
import { type Command, CommandError, type Context, positionals } from './command.ts'
import { showProgress } from './terminal.ts'

const tallyTables = ['short_tallies', 'long_tallies'] as const
const controlTables = ['accounts', 'sites', 'api_keys', 'imports', 'deleted_sites'] as const
/** In the order in which they may be filled again. Keys come late: nobody may read a half-restored site. */
const restoredTables = ['accounts', 'sites', 'retention', 'site_folds', 'api_keys', 'imports', 'deleted_sites'] as const

interface Manifest {
  format: 1
  takenAt: string
  migrations: string[]
  rows: Record<string, number>
}

export const backup: Command = {
  summary: 'Write accounts, sites, keys and all traffic into a new folder',
  usage: '<folder>',
  examples: ['footfall backup /var/backups/footfall-2026-11-15'],
  async run(input, context) {
    const [folder] = positionals(input, ['folder']) as [string]
    if (existsSync(folder))
      throw new CommandError(`${folder} is there already.`, 'Name a folder that does not exist yet.')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const manifest = await writeBackup(context, folder).catch((error) => {
      rmSync(folder, { recursive: true, force: true }) // half a backup is none, and would be in the way of the next attempt
      throw error
    })
    return {
      data: { folder, ...manifest },
      show: (terminal) =>
        `${terminal.facts(Object.entries(manifest.rows).map(([table, count]) => [table, count.toLocaleString('en')]))}\n\nWritten to ${folder}. Key hashes are in it, key secrets are not: keep KEY_SECRETS too.`,
    }
  },
}

async function writeBackup(context: Context, folder: string): Promise<Manifest> {
  const rows: Record<string, number> = {}
  for (const table of controlTables)
    rows[table] = await writeControlTable(
      context.postgres,
      context.postgres`${context.postgres(table)}`,
      join(folder, `${table}.jsonl`),
    )
  const progress = showProgress(context.progressTo, 'Backing up', 'tables')
  for (const [index, table] of siteTables.entries()) {
    progress.update(index, siteTables.length)
    rows[table] = await countRows(context, table)
    await writeTraffic(await context.clickhouse.download(table), join(folder, `${table}.native.gz`))
  }
  Object.assign(rows, await writeFoldedForGood(context, folder))
  progress.update(siteTables.length, siteTables.length)
  progress.end()
  const manifest: Manifest = {
    format: 1,
    takenAt: new Date().toISOString(),
    migrations: await appliedMigrations(context.postgres),
    rows,
  }
  // Last: a folder without it is no backup.
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest, null, 2))
  return manifest
}

export const restore: Command = {
  summary: 'Fill empty databases from a backup',
  usage: '<folder>',
  async run(input, context) {
    const [folder] = positionals(input, ['folder']) as [string]
    const manifest = readManifest(folder)
    await refuseUnlessReady(context, manifest)
    const rows: Record<string, number> = {}
    const progress = showProgress(context.progressTo, 'Restoring', 'tables')
    const tables = [...siteTables, ...tallyTables]
    for (const [index, table] of tables.entries()) {
      if (!(table in manifest.rows)) continue
      progress.update(index, tables.length)
      await readTraffic(context, table, join(folder, `${table}.native.gz`))
      rows[table] = await countRows(context, table)
    }
    progress.update(tables.length, tables.length)
    progress.end()
    for (const table of restoredTables) {
      if (!(table in manifest.rows)) continue // a backup of before there was such a table
      if (table === 'retention') await context.postgres`DELETE FROM retention` // the row of a new database
      const path = join(folder, `${table}.jsonl`)
      rows[table] = await readControlTable(context.postgres, table, path).catch(damaged(path))
    }
    const wrong = Object.entries(manifest.rows).filter(([table, count]) => table !== 'titles' && rows[table] !== count)
    if (wrong.length > 0) {
      throw new CommandError(
        `The restored tables differ from the backup: ${wrong.map(([table, count]) => `${table} ${rows[table]} of ${count}`).join(', ')}.`,
        'Empty both databases and try again; if it stays so, the backup is damaged.',
      )
    }
    return {
      data: { folder, rows },
      show: (terminal) =>
        `${terminal.facts(Object.entries(rows).map(([table, count]) => [table, count.toLocaleString('en')]))}\n\nRestored from ${manifest.takenAt}.`,
    }
  },
}

function readManifest(folder: string): Manifest {
  const path = join(folder, 'manifest.json')
  if (!existsSync(path))
    throw new CommandError(`${folder} is not a finished backup.`, 'It needs a manifest.json, which is written last.')
  try {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
    if (manifest.format === 1 && Array.isArray(manifest.migrations) && manifest.rows) return manifest
  } catch {
    // said below
  }
  throw new CommandError(`${path} is not the manifest of a backup.`, 'Take another backup.')
}

/** What is wrong with a file of the backup, rather than with a database. */
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

async function readTraffic({ clickhouse }: Context, table: string, path: string): Promise<void> {
  const file = createReadStream(path)
  const content = createGunzip()
  const failed = new Promise<never>((_resolve, reject) => {
    file.on('error', (error) => content.destroy(error))
    content.on('error', reject)
  })
  await Promise.race([clickhouse.upload(table, file.pipe(content)), failed]).catch(damaged(path))
}

async function refuseUnlessReady(context: Context, manifest: Manifest): Promise<void> {
  const pending = await pendingMigrations(context.postgres)
  if (pending.length > 0) throw new CommandError('The databases are not up to date.', 'Run: footfall migrate')
  const applied = await appliedMigrations(context.postgres)
  const unknown = manifest.migrations.filter((name) => !applied.includes(name))
  if (unknown.length > 0) {
    throw new CommandError(`The backup is of a newer version (${unknown.join(', ')}).`, 'Upgrade Footfall first.')
  }
  const [{ accounts }] = await context.postgres<[{ accounts: number }]>`SELECT count(*)::int AS accounts FROM accounts`
  if (accounts > 0 || (await countRows(context, 'events')) > 0) {
    throw new CommandError(
      'The databases are not empty.',
      'Restore into new ones: set DATABASE_URL and CLICKHOUSE_URL, then footfall migrate.',
    )
  }
}

const appliedMigrations = async (postgres: Postgres): Promise<string[]> =>
  (await postgres<{ name: string }[]>`SELECT name FROM migrations ORDER BY name`).map(({ name }) => name)

/**
 * What was folded of days whose events were dropped (decision D-79), and the ledger of it. After the events, so that a month dropped
 * while they were written is in here; and it no longer changes.
 */
async function writeFoldedForGood({ postgres, clickhouse }: Context, folder: string): Promise<Record<string, number>> {
  const [kept] = await postgres<[{ row: string; before: string }]>`
    SELECT to_jsonb(retention)::text AS row, folded_before::text AS before FROM retention`
  writeFileSync(join(folder, 'retention.jsonl'), `${kept.row}\n`, { flag: 'wx', mode: 0o600 })
  const [tallies] = await clickhouse.rows<Record<(typeof tallyTables)[number], number>>(sql`
    SELECT
      (SELECT count() FROM short_tallies WHERE day < ${date(kept.before)}) AS short_tallies,
      (SELECT count() FROM long_tallies WHERE day < ${date(kept.before)}) AS long_tallies`)
  for (const table of tallyTables)
    await writeTraffic(await clickhouse.download(table, kept.before), join(folder, `${table}.native.gz`))
  const ledger = postgres`(
      SELECT site_id, version, days * gone AS days, months * gone AS months, '{}' AS pending_days, '{}' AS pending_months,
        days * gone AS written_days, months * gone AS written_months, changed_at
      FROM site_folds, (SELECT datemultirange(daterange(NULL, ${kept.before}::text::date)) AS gone) AS dropped
      WHERE days && gone
    )`
  const site_folds = await writeControlTable(postgres, ledger, join(folder, 'site_folds.jsonl'))
  return { retention: 1, ...tallies, site_folds }
}

const writeTraffic = (stream: Readable, path: string) =>
  pipeline(stream, createGzip({ level: 1 }), createWriteStream(path, { flags: 'wx' }))

async function countRows(
  { clickhouse }: Context,
  table: (typeof siteTables | typeof tallyTables)[number],
): Promise<number> {
  const counts = {
    events: sql`SELECT count() AS rows FROM events`,
    titles: sql`SELECT count() AS rows FROM titles`,
    short_tallies: sql`SELECT count() AS rows FROM short_tallies`,
    long_tallies: sql`SELECT count() AS rows FROM long_tallies`,
  }
  const [row] = await clickhouse.rows<{ rows: number }>(counts[table])
  return row?.rows ?? 0
}

async function writeControlTable(postgres: Postgres, table: Fragment, path: string): Promise<number> {
  let rows = 0
  // PostgreSQL writes and reads the rows itself, so that no type is lost on the way.
  const pages = postgres<{ row: string }[]>`SELECT to_jsonb(t)::text AS row FROM ${table} AS t`.cursor(1000)
  async function* lines(): AsyncGenerator<string> {
    for await (const page of pages) {
      rows += page.length
      yield page.map(({ row }) => `${row}\n`).join('')
    }
  }
  await pipeline(lines, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  return rows
}

async function readControlTable(postgres: Postgres, table: string, path: string): Promise<number> {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  for (let from = 0; from < lines.length; from += 1000) {
    const rows = `[${lines.slice(from, from + 1000).join(',')}]`
    await postgres`INSERT INTO ${postgres(table)} SELECT * FROM jsonb_populate_recordset(NULL::${postgres(table)}, ${rows}::text::jsonb)`
  }
  return lines.length
}
