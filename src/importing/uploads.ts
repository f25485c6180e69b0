// Uploads in PostgreSQL (decision D-249). The process that received the files checks and imports them; any process may tell it to, and show how
// far it is, through these rows.
import type { Postgres } from '../stores/postgres.ts'

/** What the files hold, as far as it would be imported. */
export interface UploadPreview {
  kind: string
  events: number
  /** Lines by reason. */
  leftOut: Readonly<Record<string, number>>
  /** The first lines that cannot be read. */
  broken: readonly string[]
  days: { first: string; last: string } | null
}

export interface Upload {
  id: string
  files: string[]
  /** `abandoned`: the process with the files has died or lost the store. */
  state: 'checking' | 'waiting' | 'confirmed' | 'importing' | 'imported' | 'failed' | 'abandoned'
  /** Of the step that is running, from 0 to 1. */
  progress: number
  until: string | null
  preview: UploadPreview | null
  fault: string | null
  /** What was imported. */
  outcome: UploadOutcome | null
  createdBy: string
}

interface UploadOutcome {
  /** The same files were imported before, so nothing was done. */
  wasThere: boolean
  events: number
  days: number
}

const isOver = (postgres: Postgres) =>
  postgres`(state IN ('imported', 'failed') OR seen_at < now() - interval '20 seconds')`

/** Takes the place of an upload that is over. Returns false while another one is not. */
export async function addUpload(
  postgres: Postgres,
  {
    id,
    siteId,
    files,
    createdBy,
    address,
  }: Pick<Upload, 'id' | 'files' | 'createdBy'> & { siteId: string; address: string },
): Promise<boolean> {
  await postgres`DELETE FROM uploads WHERE site_id = ${siteId} AND ${isOver(postgres)}`
  const { count } = await postgres`
    INSERT INTO uploads (id, site_id, files, state, created_by, address)
    VALUES (${id}, ${siteId}, ${files}::text[], 'checking', ${createdBy}, ${address})
    ON CONFLICT (site_id) DO NOTHING`
  return count > 0
}

/** One that was imported is news for an hour; then the list of imports is enough. */
export async function uploadOf(postgres: Postgres, siteId: string): Promise<Upload | undefined> {
  const [upload] = await postgres<[Upload?]>`
    SELECT id, files, progress, until::text, preview, outcome, fault, created_by AS "createdBy",
      CASE WHEN state NOT IN ('imported', 'failed') AND ${isOver(postgres)} THEN 'abandoned' ELSE state END AS state
    FROM uploads WHERE site_id = ${siteId} AND NOT (state = 'imported' AND seen_at < now() - interval '1 hour')`
  return upload
}

/** Returns false if it does not wait for the owner. */
export async function checkAgain(
  postgres: Postgres,
  siteId: string,
  id: string,
  until: string | null,
): Promise<boolean> {
  const { count } = await postgres`
    UPDATE uploads SET state = 'checking', progress = 0, preview = NULL, until = ${until}::date
    WHERE site_id = ${siteId} AND id::text = ${id} AND state = 'waiting'`
  return count > 0
}

/** Returns false if it does not wait for the owner. Who confirms is who imports. */
export async function confirmUpload(
  postgres: Postgres,
  siteId: string,
  id: string,
  { createdBy, address }: { createdBy: string; address: string },
): Promise<boolean> {
  const { count } = await postgres`
    UPDATE uploads SET state = 'confirmed', progress = 0, created_by = ${createdBy}, address = ${address}
    WHERE site_id = ${siteId} AND id::text = ${id} AND state = 'waiting'`
  return count > 0
}

/** An import that is running is not stopped: it can be undone. Returns false if it is. */
export async function discardUpload(postgres: Postgres, siteId: string, id: string): Promise<boolean> {
  const { count } = await postgres`
    DELETE FROM uploads
    WHERE site_id = ${siteId} AND id::text = ${id} AND (state NOT IN ('confirmed', 'importing') OR ${isOver(postgres)})`
  return count > 0
}

/** After an undo the page must not say what was imported. */
export const forgetImported = (postgres: Postgres, siteId: string) =>
  postgres`DELETE FROM uploads WHERE site_id = ${siteId} AND state = 'imported'`

export interface Wanted {
  state: Exclude<Upload['state'], 'abandoned'>
  until: string | null
  createdBy: string
  address: string
}

/** A sign of life of the process with the files. Returns what to do with them, or undefined if nobody wants them any more. */
export async function uploadSeen(postgres: Postgres, id: string, progress: number): Promise<Wanted | undefined> {
  const [wanted] = await postgres<[Wanted?]>`
    UPDATE uploads SET seen_at = now(), progress = ${progress} WHERE id = ${id}
    RETURNING state, until::text, created_by AS "createdBy", address`
  return wanted
}

export interface UploadChange {
  state: Wanted['state']
  until?: string | null
  preview?: UploadPreview
  outcome?: UploadOutcome
  fault?: string | null
}

export async function reportUpload(
  postgres: Postgres,
  id: string,
  { state, until, preview, outcome, fault = null }: UploadChange,
): Promise<void> {
  await postgres`
    UPDATE uploads SET state = ${state}, fault = ${fault}, progress = 0
      ${until === undefined ? postgres`` : postgres`, until = ${until}::date`}
      ${preview ? postgres`, preview = ${postgres.json(preview as never)}` : postgres``}
      ${outcome ? postgres`, outcome = ${postgres.json(outcome as never)}` : postgres``}
    WHERE id = ${id}`
}
