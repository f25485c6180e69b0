// The tables of PostgreSQL in a backup: one JSON Lines file each.
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Fragment, TransactionSql } from 'postgres'
import type { Postgres } from '../stores/postgres.ts'

export const controlTables = ['accounts', 'sites', 'api_keys', 'imports', 'deleted_sites'] as const

export const contentOf = (control: TransactionSql, table: (typeof controlTables)[number]): Fragment =>
  table === 'imports'
    ? importsWithoutSalts(control)
    : table === 'deleted_sites'
      ? deletedSitesWithCopies(control)
      : control`${control(table)}`

/** A backup contains no salt, not even that of an unfinished import, which must then start again (docs/privacy.md). */
const importsWithoutSalts = (control: TransactionSql): Fragment => control`(
    SELECT id, site_id, content, time_zone, NULL::bytea AS salt, batches_done, started_at, finished_at FROM imports
  )`

/** A move is not restored. What it had copied is erased. */
const deletedSitesWithCopies = (control: TransactionSql): Fragment => control`(
    SELECT id, domain, account_id, shard, deleted_at, waiting_since, reopened_at, erased_at, rewritten_at, purged_at FROM deleted_sites
    UNION ALL
    SELECT id, domain, account_id, to_shard, now(), NULL, NULL, NULL, NULL, NULL
    FROM site_moves JOIN sites ON sites.id = site_id WHERE moved_at IS NULL
  )`

/** Writes the ledger of the days whose events were dropped (decision D-79). All of them are before the day `before`. */
export async function writeRolledUpForGood(
  postgres: TransactionSql,
  folder: string,
): Promise<{ before: string; retention: number; rollup_coverage: number }> {
  const [kept] = await postgres<[{ row: string; before: string }]>`
    SELECT to_jsonb(retention)::text AS row, rolled_up_before::text AS before FROM retention`
  writeFileSync(join(folder, 'retention.jsonl'), `${kept.row}\n`, { flag: 'wx', mode: 0o600 })
  const ledger = postgres`(
      SELECT site_id, version, days * gone AS days, months * gone AS months,
        days * gone AS written_days, months * gone AS written_months, changed_at
      FROM rollup_coverage, (SELECT datemultirange(daterange(NULL, ${kept.before}::text::date)) AS gone) AS dropped
      WHERE days && gone
    )`
  const rollup_coverage = await writeControlTable(postgres, ledger, join(folder, 'rollup_coverage.jsonl'))
  return { before: kept.before, retention: 1, rollup_coverage }
}

export async function writeControlTable(postgres: TransactionSql, table: Fragment, path: string): Promise<number> {
  let rows = 0
  // PostgreSQL itself writes and reads the rows, so no type is lost. When a connection breaks, the driver ends its cursor as if all rows
  // had been read; the transaction then fails at its next statement, so such a backup never finishes.
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

export async function readControlTable(postgres: Postgres, table: string, path: string): Promise<number> {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  for (let from = 0; from < lines.length; from += 1000) {
    const rows = `[${lines.slice(from, from + 1000).join(',')}]`
    // A backup of an older version lacks newer columns; these get their defaults.
    const columns = postgres(Object.keys(JSON.parse(lines[from] as string) as object))
    await postgres`INSERT INTO ${postgres(table)} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${postgres(table)}, ${rows}::text::jsonb)`
  }
  return lines.length
}
