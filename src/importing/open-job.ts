// Finds the row of an import in PostgreSQL, or creates it. The row says whether the files were imported before.
import { randomBytes } from 'node:crypto'
import type { Site } from '../accounts/sites.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql, text, texts } from '../stores/clickhouse-sql.ts'
import type { Postgres } from '../stores/postgres.ts'
import { storedId } from '../traffic/recording.ts'
import { uuidOf } from '../traffic/uuid.ts'
import { FileFaults } from './checking.ts'
import { takeBack } from './undo.ts'

interface Installation {
  postgres: Postgres
  clickhouse: ClickHouse
  site: Site
}

/** The files of an import, in the order in which they are read. */
interface OpenedFiles {
  files: readonly { name: string; format: { name: string } }[]
  hashes: readonly string[]
  content: Buffer
}

export interface Job {
  id: string
  /** Null when the import is finished or was given up. */
  salt: Buffer | null
  isFinished: boolean
  /** Salts are deleted after 30 days. */
  isOld: boolean
  timeZone: string
  batchesDone: number
}

interface JobRow {
  id: string
  salt: Buffer | null
  is_finished: boolean
  is_old: boolean
  time_zone: string
  batches_done: number
  is_being_undone: boolean
}

/**
 * Finds the import of these files into this site, or creates it. Its id is derived from both, and from how often it was undone: if a
 * restored PostgreSQL does not know the import, its events are still found in ClickHouse.
 */
export async function openJob(context: Installation, checked: OpenedFiles): Promise<Job> {
  const { postgres, site } = context
  const { content, hashes } = checked
  const other = await importWithOneOf(context, checked)
  if (other)
    throw new FileFaults([`${other.file} is in the import ${other.id} already. Undo it, or leave the file out.`])
  const find = () => postgres<[JobRow?]>`
    SELECT id, salt, finished_at IS NOT NULL AS is_finished, started_at < now() - interval '30 days' AS is_old, time_zone, batches_done,
      undoing_at IS NOT NULL AS is_being_undone
    FROM imports WHERE site_id = ${site.id} AND content = ${content} AND undone_at IS NULL`
  let [row] = await find()
  if (!row) {
    await postgres`
      INSERT INTO imports (id, site_id, content, time_zone, salt, kind, files, hashes)
      VALUES (${await idOf(context, content)}, ${site.id}, ${content}, ${site.timeZone}, ${randomBytes(32)},
        ${checked.files[0]?.format.name ?? ''}, ${checked.files.map(({ name }) => name)}::text[],
        ${hashes}::text[])
      ON CONFLICT (site_id, content) WHERE undone_at IS NULL DO NOTHING`
    ;[row] = await find()
  }
  const {
    id,
    salt,
    is_finished: isFinished,
    is_old: isOld,
    time_zone: timeZone,
    batches_done: batchesDone,
  } = row as JobRow
  if (row?.is_being_undone)
    throw new FileFaults([`Its import ${id} is being undone. Repeat the command that undoes it.`])
  return { id, salt, isFinished, isOld, timeZone, batchesDone }
}

/** Whether these files are imported already, so that nothing can refuse them any more. */
export async function isImported({ postgres, site }: Installation, { content }: OpenedFiles): Promise<boolean> {
  const rows = await postgres`
    SELECT FROM imports WHERE site_id = ${site.id} AND content = ${content} AND undone_at IS NULL AND finished_at IS NOT NULL`
  return rows.length > 0
}

/** Another import of the site that read one of the files. */
async function importWithOneOf({ postgres, site }: Installation, { content, files, hashes }: OpenedFiles) {
  const rows = await postgres<{ id: string; content: string; hashes: string[] }[]>`
    SELECT id, encode(content, 'hex') AS content, hashes FROM imports WHERE site_id = ${site.id} AND content <> ${content} AND undone_at IS NULL`
  for (const { id, content: one, hashes: parts } of rows) {
    const nth = hashes.findIndex((hash) => hash === one || parts.includes(hash))
    if (nth !== -1) return { id, file: files[nth]?.name }
  }
  return undefined
}

/** How many imports of the same files ClickHouse may know that PostgreSQL does not. */
const unknownLives = 4

/**
 * After files were imported, undone and imported again, a restored PostgreSQL may know neither. The last of their imports that has events is
 * the one to go on with. A restored ClickHouse may have events again that were taken back: they go once more.
 */
async function idOf({ postgres, clickhouse, site }: Installation, content: Buffer): Promise<string> {
  const [{ undone }] = await postgres<[{ undone: number }]>`
    SELECT count(*)::int AS undone FROM imports WHERE site_id = ${site.id} AND content = ${content} AND undone_at IS NOT NULL`
  const ids = Array.from({ length: undone + unknownLives }, (_, life) =>
    uuidOf(`import of ${content.toString('hex')} into ${site.id}${life === 0 ? '' : ` ${life}`}`),
  )
  const rows = await clickhouse.rowsPatiently<{ id: string }>(sql`
    SELECT DISTINCT toString(import_id) AS id FROM events
    WHERE site_id = ${text(site.id)} AND import_id IN arrayMap(id -> toUInt64(id), ${texts(ids.map(storedId))})`)
  const known = new Set(rows.map(({ id }) => id))
  const hasEvents = (id: string) => known.has(storedId(id))
  for (const id of ids.slice(0, undone).filter(hasEvents)) await takeBack({ postgres, clickhouse }, site.id, id)
  return ids.slice(undone).findLast(hasEvents) ?? (ids[undone] as string)
}
