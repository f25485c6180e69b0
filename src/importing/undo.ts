// Takes an import back within 30 days: its events go, and its files may be imported again (decision D-240). Each step may run twice, so a
// command that was stopped is repeated.
import type { Site } from '../accounts/sites.ts'
import { retainedFrom } from '../rollups/coverage.ts'
import { invalidateDays } from '../rollups/invalidation.ts'
import { noteInClickHouse } from '../rollups/ledger.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql, text } from '../stores/clickhouse-sql.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { storedId } from '../traffic/recording.ts'
import { isOfSums } from './sums/formats.ts'

export interface ImportSummary {
  id: string
  /** What `--from` calls it. Empty: it was imported before Footfall noted it. */
  kind: string
  files: string[]
  /** Null until it is finished. */
  events: number | null
  firstDay: string | null
  lastDay: string | null
  startedAt: Date
  state: 'finished' | 'unfinished' | 'being undone' | 'undone'
}

/** The latest first. */
export const listImports = (postgres: Postgres, siteId: string): Promise<ImportSummary[]> => postgres<ImportSummary[]>`
  SELECT id, kind, files, events::float8, lower(days)::text AS "firstDay", (upper(days) - 1)::text AS "lastDay", started_at AS "startedAt",
    CASE WHEN undone_at IS NOT NULL THEN 'undone' WHEN undoing_at IS NOT NULL THEN 'being undone'
      WHEN finished_at IS NOT NULL THEN 'finished' ELSE 'unfinished' END AS state
  FROM imports WHERE site_id = ${siteId} ORDER BY started_at DESC, id`

/** Why an import cannot be undone, in a sentence. */
export class CannotUndo extends Error {}

interface Undone {
  id: string
  /** Undefined: it had daily sums. */
  events: number | undefined
  days: readonly string[]
}

interface Stores {
  postgres: Postgres
  clickhouse: ClickHouse
  /** Called in the transaction that marks the import as undone. */
  onUndone?(transaction: Postgres, undone: Undone): Promise<void>
}

/** Call it while the site stays on its shard (moving/writing.ts). Returns how many events it has taken back. */
export async function undoImport(
  stores: Stores,
  site: Pick<Site, 'id' | 'domain'>,
  id: string,
): Promise<{ events: number; days: number }> {
  const { postgres } = stores
  const lock = await postgres.reserve()
  try {
    const [{ taken }] = await lock<[{ taken: boolean }]>`SELECT pg_try_advisory_lock(hashtext(${id})) AS taken`
    if (!taken) throw new CannotUndo('Another command is importing or undoing it right now. Wait until it has ended.')
    await refuseWhatCannotBeUndone(postgres, site, id)
    return await takeBack(stores, site.id, id)
  } finally {
    // A broken connection has already lost the lock.
    await lock`SELECT pg_advisory_unlock(hashtext(${id}))`.catch(() => {})
    lock.release()
  }
}

/** Call it while nobody else imports or undoes it. */
export async function takeBack(stores: Stores, siteId: string, id: string): Promise<{ events: number; days: number }> {
  const { kind, days } = await begin(stores, siteId, id)
  const events = await deleteEvents(stores, siteId, id)
  await afterDeletion(stores, siteId, { id, kind, events, days })
  return { events, days: days.length }
}

async function refuseWhatCannotBeUndone(postgres: Postgres, site: Pick<Site, 'id' | 'domain'>, id: string) {
  const [row] = await postgres<{ kind: string; state: ImportSummary['state']; is_old: boolean; is_dropped: boolean }[]>`
    SELECT kind, CASE WHEN undone_at IS NOT NULL THEN 'undone' WHEN undoing_at IS NOT NULL THEN 'being undone' ELSE 'finished' END AS state,
      started_at < now() - interval '30 days' AS is_old, coalesce(lower(days) < events_from, false) AS is_dropped
    FROM imports, retention WHERE id::text = ${id} AND site_id = ${site.id}`
  if (!row)
    throw new CannotUndo(`${site.domain} has no import ${id}. See them all: footfall imports list ${site.domain}`)
  if (row.state === 'undone') throw new CannotUndo('It was undone before. Its files may be imported again.')
  if (row.state === 'being undone') return
  if (row.is_old) throw new CannotUndo('It began more than 30 days ago. Only younger imports can be undone.')
  if (row.is_dropped && !isOfSums(row.kind))
    throw new CannotUndo(
      'Events of its first months were dropped by RETENTION_MONTHS, and the numbers of those months stay.',
    )
}

/**
 * Notes which days change before anything is deleted: afterwards nobody could find them. From here on nobody reads imported sums: without
 * half of their rows they would be wrong.
 */
async function begin(
  { postgres, clickhouse }: Stores,
  siteId: string,
  id: string,
): Promise<{ kind: string; days: string[] }> {
  const found = await clickhouse.rowsPatiently<{ day: string }>(
    sql`SELECT DISTINCT toString(day) AS day FROM events WHERE ${isOf(siteId, id)}`,
  )
  const ranges = `{${found.map(({ day }) => `[${day},${day}]`).join(',')}}`
  const rows = await postgres<{ kind: string; day: string | null }[]>`
    WITH hidden AS (
      DELETE FROM imported_days WHERE import_id = ${id}::text::uuid
    ), noted AS (
      UPDATE imports SET undoing_at = coalesce(undoing_at, now()),
        days = coalesce(days, '{}') + ${ranges}::text::datemultirange
      WHERE id = ${id}::text::uuid
      RETURNING kind, days
    )
    SELECT kind, generate_series(lower(range), upper(range) - 1, interval '1 day')::date::text AS day
    FROM noted LEFT JOIN unnest(days) AS range ON true`
  return { kind: rows[0]?.kind ?? '', days: rows.flatMap(({ day }) => day ?? []) }
}

async function deleteEvents({ clickhouse }: Stores, siteId: string, id: string): Promise<number> {
  const worker = (await clickhouse.replicas?.worker()) ?? clickhouse
  const [before] = await worker.rowsPatiently<{ events: string }>(
    sql`SELECT toString(count()) AS events FROM events WHERE ${isOf(siteId, id)}`,
  )
  // On all replicas; fails while one is away.
  for (const table of [sql`events`, sql`imported_sums`])
    await worker.run(sql`DELETE FROM ${table} WHERE ${isOf(siteId, id)}`, { lightweight_deletes_sync: '2' })
  return Number(before?.events)
}

/** The import is undone when no answer shows it any more. A site that has left the shard has taken its events with it. */
async function afterDeletion(
  stores: Stores,
  siteId: string,
  { id, kind, events, days }: { id: string; kind: string; events: number; days: readonly string[] },
): Promise<void> {
  const { postgres, clickhouse } = stores
  // Imported days are no rollups.
  const changed = isOfSums(kind) ? [] : days
  if (
    await invalidateDays(
      postgres,
      changed.map((day) => ({ siteId, day })),
    )
  )
    await noteInClickHouse(stores)
  await inTransaction(postgres, async (transaction) => {
    // Like a deletion of the site, which takes its row before that of the import.
    await transaction`SELECT FROM sites WHERE id = ${siteId} FOR KEY SHARE`
    const { count } = await transaction`
      UPDATE imports SET undone_at = now(), salt = NULL FROM sites
      WHERE imports.id = ${id}::text::uuid AND sites.id = site_id AND shard = ${clickhouse.shard}
        AND NOT EXISTS (SELECT FROM site_moves WHERE site_moves.site_id = sites.id AND hold IS NOT NULL)`
    if (count === 0) throw new CannotUndo('The site was deleted or has moved to another shard. Repeat it.')
    await stores.onUndone?.(transaction, { id, events: isOfSums(kind) ? undefined : events, days: days.toSorted() })
  })
  if ((changed.toSorted()[0] ?? '9999') < (await retainedFrom(postgres)))
    throw new CannotUndo(
      'Some of its months were dropped by RETENTION_MONTHS in the meantime; the numbers of those months stay.',
    )
}

const isOf = (siteId: string, id: string) =>
  sql`site_id = ${text(siteId)} AND import_id = toUInt64(${text(storedId(id))})`
