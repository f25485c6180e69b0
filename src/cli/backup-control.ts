// The tables of PostgreSQL in a backup: one JSON Lines file each.
import { createWriteStream, readFileSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Fragment, TransactionSql } from 'postgres'
import type { Postgres } from '../stores/postgres.ts'

/** In the order in which they are restored. Keys, links and members come last, so that nobody reads a site that is only half there. */
export const controlTables = [
  'accounts',
  'sites',
  'goals',
  'segments',
  'notes',
  'retention',
  'rollup_coverage',
  'imports',
  'imported_days',
  'deleted_sites',
  'audit_log',
  'users',
  'user_identities',
  'recovery_codes',
  'api_keys',
  'key_usage',
  'shared_links',
  'members',
  'report_subscriptions',
  'webhooks',
  'alerts',
] as const

/** The other tables, and why a restored installation does without their rows. */
export const notInBackup: Readonly<Record<string, string>> = {
  migrations: 'The new databases are migrated before.',
  shards: 'They are those of the new installation.',
  ledger: 'The new databases are another installation, with rows of their own (decision D-205).',
  control_version: 'Processes that run follow it.',
  collectors: 'Collectors that run are in it.',
  leases: 'Processes that run hold them.',
  uploads: 'The files are with processes that run.',
  salts: 'They are kept nowhere else (decision D-90).',
  replica_gaps: 'It is not used any more (decision D-207).',
  site_moves: 'What was copied is in deleted_sites, and the move can begin again.',
  rollup_runs: 'They write rows that are not in the backup.',
  rollup_state: 'Rolling up begins again.',
  today_coverage: 'Its rows are not in the backup.',
  user_sessions: 'A browser that was signed out since must not be signed in again.',
  one_time_links: 'A link that was used since must not work again.',
  dropped_hits: 'It is not used any more (decision D-248).',
  dropped_events: 'They are kept for a day only.',
  webhook_deliveries: 'A message may have been sent since (decision D-239).',
  alert_checks: 'Nobody watched in between, and the next check begins anew (decision D-243).',
  recounts: 'Recounting begins again (decision D-247).',
  recount_shards: 'Recounting begins again (decision D-247).',
  recount_differences: 'Most rollups are written again (decision D-247).',
  outbox: 'A message may have been sent since, and some contain links (decision D-221).',
}

export function contentOf(control: TransactionSql, table: (typeof controlTables)[number]): Fragment {
  if (table === 'imports') return importsWithoutSalts(control)
  if (table === 'deleted_sites') return deletedSitesWithCopies(control)
  if (table === 'rollup_coverage') return rolledUpForGood(control)
  return control`${control(table)}`
}

/** A backup contains no salt, not even that of an unfinished import, which must then start again (docs/privacy.md). */
const importsWithoutSalts = (control: TransactionSql): Fragment => control`(
    SELECT id, site_id, content, time_zone, NULL::bytea AS salt, batches_done, started_at, finished_at, kind, files, hashes, events, days,
      undoing_at, undone_at
    FROM imports
  )`

/** An unfinished move is not restored; its copies are recorded as deleted sites, and so erased. */
const deletedSitesWithCopies = (control: TransactionSql): Fragment => control`(
    SELECT id, domain, account_id, shard, deleted_at, waiting_since, reopened_at, erased_at, rewritten_at, purged_at, erase_after
    FROM deleted_sites
    UNION ALL
    SELECT id, domain, account_id, to_shard, now(), NULL, NULL, NULL, NULL, NULL, now()
    FROM site_moves JOIN sites ON sites.id = site_id WHERE moved_at IS NULL
  )`

/** The coverage of days whose events were dropped or are about to be (decision D-79). All other days are rolled up again. */
const rolledUpForGood = (control: TransactionSql): Fragment => control`(
    SELECT site_id, version, days * old AS days, months * old AS months,
      written_days * old AS written_days, written_months * old AS written_months, changed_at
    FROM rollup_coverage,
      (SELECT datemultirange(daterange(NULL, events_from)) AS old FROM retention) AS retained
    WHERE written_days && old OR written_months && old
  )`

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
    await postgres`
      INSERT INTO ${postgres(table)} (${columns}) OVERRIDING SYSTEM VALUE
      SELECT ${columns} FROM jsonb_populate_recordset(NULL::${postgres(table)}, ${rows}::text::jsonb)`
  }
  if (table === 'audit_log')
    await postgres`SELECT setval(pg_get_serial_sequence('audit_log', 'id'), max(id)) FROM audit_log`
  return lines.length
}
