// Answers that differed from the events, as they are kept.
import type { Postgres } from '../stores/postgres.ts'
import type { Differing } from './answers.ts'
import type { Question } from './questions.ts'

export interface Difference {
  id: string
  question: Question
  /** What a program would ask. */
  request: string
}

interface Found {
  siteId: string
  day: string
  question: Question
  request: string
  differing: readonly Differing[]
  statements: { recounted: string; answered: string }
}

/** The newest ones of a site that are kept. Their number is kept for ever. */
const maxPerSite = 50

/** Also counts it, so that it is never hidden by what comes after. */
export async function noteDifference(
  postgres: Postgres,
  { siteId, day, question, request, differing, statements }: Found,
): Promise<Difference> {
  const [row] = await postgres<{ id: string }[]>`
    WITH of_site AS (
      UPDATE recounts SET differences = differences + 1 WHERE site_id = ${siteId}
    ),
    of_shard AS (
      UPDATE recount_shards SET differences = differences + 1 WHERE shard = (SELECT sites.shard FROM sites WHERE id = ${siteId})
    )
    INSERT INTO recount_differences (site_id, day, question, request, differing, recounted, answered)
    VALUES (${siteId}, ${day}, ${JSON.stringify(question)}::text::jsonb, ${request}, ${JSON.stringify(differing)}::text::jsonb,
      ${statements.recounted}, ${statements.answered})
    RETURNING id::text`
  await postgres`
    DELETE FROM recount_differences WHERE site_id = ${siteId} AND id <= (
      SELECT id FROM recount_differences WHERE site_id = ${siteId} ORDER BY id DESC OFFSET ${maxPerSite} LIMIT 1)`
  return { id: (row as { id: string }).id, question, request }
}

export const openDifferences = (postgres: Postgres, siteId: string, day: string): Promise<Difference[]> =>
  postgres<Difference[]>`
    UPDATE recount_differences SET looked_at = now()
    WHERE site_id = ${siteId} AND day = ${day} AND repaired_at IS NULL
    RETURNING id::text, question, request`

export async function noteRepaired(postgres: Postgres, some: readonly Difference[]): Promise<void> {
  if (some.length === 0) return
  await postgres`
    UPDATE recount_differences SET repaired_at = now()
    WHERE id = ANY(${some.map(({ id }) => id)}::text[]::bigint[])`
}

export interface KeptDifference {
  domain: string
  day: string
  request: string
  foundAt: Date
  repairedAt: Date | null
  differing: Differing[]
  recounted: string
  answered: string
}

/** The newest first. */
export const keptDifferences = (postgres: Postgres, siteId: string | undefined): Promise<KeptDifference[]> =>
  postgres<KeptDifference[]>`
    SELECT domain, day::text, request, found_at AS "foundAt", repaired_at AS "repairedAt", differing, recounted, answered
    FROM recount_differences JOIN sites ON sites.id = site_id
    WHERE ${siteId === undefined ? postgres`true` : postgres`site_id = ${siteId}`}
    ORDER BY recount_differences.id DESC LIMIT 100`
