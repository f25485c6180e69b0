// Which day is visited next. Days are visited in rounds: every rolled-up day of every site once before one repeats. A site has one small row,
// so this costs the same for a million sites as for one.
import { type Site, selectSite, siteOf } from '../accounts/sites.ts'
import { countDays, type DayRange, intersect, subtract } from '../calendar/days.ts'
import type { Stores } from '../cluster/stores.ts'
import { dayMs } from '../durations.ts'
import type { Coverage } from '../rollups/coverage.ts'
import type { Postgres } from '../stores/postgres.ts'
import type { Visit } from './visit.ts'

/** Sites that are rolled up for the first time are looked for this often. Among a million, PostgreSQL took 8 s on a busy machine. */
const searchEvery = '1 hour'
/** A difference that a rebuild did not repair is looked at again after this time. */
const lookAgainAfter = '1 hour'
/** From then on the visited days are filled up from one side, so that a site with twenty years takes 512 bytes. */
const maxRanges = 32
/** Sites whose round is over are left behind in the same step. */
const maxLeft = 100

/** The days whose answers can be recounted: they are rolled up, their events are kept, and all that they count comes from events. */
const recountableDays = ({ versions, eventsFrom, imported }: Coverage): DayRange[] =>
  subtract(
    intersect(
      versions.flatMap(({ days }) => days),
      [[eventsFrom, '9999-12-31']],
    ),
    imported.flatMap(({ days }) => days),
  )

export interface NextDay {
  siteId: string
  day: string
}

/** Whether the pause after the last visit is over. */
export async function isDue(postgres: Postgres, shard: number): Promise<boolean> {
  const [row] = await postgres<{ isDue: boolean }[]>`
    SELECT due_at <= now() AS "isDue" FROM recount_shards WHERE shard = ${shard}`
  return row?.isDue ?? true
}

/** Undefined: nothing is rolled up. */
export async function nextDay({ postgres, clickhouse }: Stores): Promise<NextDay | undefined> {
  const { shard } = clickhouse
  await findNewSites(postgres, shard)
  const [open] = await postgres<NextDay[]>`
    UPDATE recount_differences SET looked_at = now()
    WHERE id = (
      SELECT recount_differences.id FROM recount_differences JOIN sites ON sites.id = site_id
      WHERE repaired_at IS NULL AND looked_at < now() - ${lookAgainAfter}::text::interval AND shard = ${shard} AND ${isHere(postgres)}
      ORDER BY looked_at LIMIT 1)
    RETURNING site_id AS "siteId", day::text`
  if (open) return open
  for (let left = 0; left < maxLeft; left++) {
    const [next] = await postgres<{ siteId: string; visited: DayRange[] }[]>`
      SELECT site_id AS "siteId", day_ranges(visited) AS visited FROM recounts JOIN sites ON sites.id = site_id
      WHERE shard = ${shard} AND ${isHere(postgres)}
      ORDER BY round, visited_at NULLS FIRST LIMIT 1`
    if (!next) return undefined
    const { siteId, visited } = next
    const [row] = await selectSite(postgres, siteId)
    if (!row) continue // deleted a moment ago
    const rest = subtract(recountableDays(siteOf(row).coverage), visited)
    if (rest.length > 0) return { siteId, day: chooseDay(rest, visited.length) }
    await postgres`
      UPDATE recounts SET round = round + 1, visited = '{}', visited_at = now() WHERE site_id = ${siteId}`
  }
  return undefined
}

/** Not while it moves to another shard. */
const isHere = (postgres: Postgres) => postgres`
  NOT EXISTS (SELECT FROM site_moves moving WHERE moving.site_id = sites.id AND hold IS NOT NULL)`

export function chooseDay(rest: readonly DayRange[], ranges: number): string {
  const at = (first: string, days: number) => new Date(Date.parse(first) + days * dayMs).toISOString().slice(0, 10)
  if (ranges >= maxRanges) return (rest[Math.floor(Math.random() * rest.length)] as DayRange)[0]
  let number = Math.floor(Math.random() * countDays(rest))
  for (const range of rest) {
    const days = countDays([range])
    if (number < days) return at(range[0], number)
    number -= days
  }
  throw new Error('There is no day to choose')
}

/** A new site begins in the round of the others, so that it is neither first nor last for long. */
async function findNewSites(postgres: Postgres, shard: number): Promise<void> {
  const { count } = await postgres`
    INSERT INTO recount_shards AS known (shard, searched_at) VALUES (${shard}, now())
    ON CONFLICT (shard) DO UPDATE SET searched_at = now()
    WHERE known.searched_at < now() - ${searchEvery}::text::interval`
  if (count === 0) return
  await postgres`
    INSERT INTO recounts (site_id, round)
    SELECT DISTINCT site_id, (SELECT coalesce(min(round), 1) FROM recounts)
    FROM rollup_coverage JOIN sites ON sites.id = site_id
    WHERE days <> '{}' AND shard = ${shard} AND NOT EXISTS (SELECT FROM recounts WHERE recounts.site_id = rollup_coverage.site_id)
    ON CONFLICT DO NOTHING`
}

/** `restMs`: no other day of the shard is visited for so long. A visit that compared nothing is repeated in the same round. */
export async function noteVisit(
  postgres: Postgres,
  shard: number,
  { siteId, day }: NextDay,
  visit: Visit | undefined,
  restMs: number,
): Promise<void> {
  const { answers = 0, isEmpty = false } = visit ?? {}
  const visited = visit ? `{[${day},${day}]}` : '{}'
  await postgres`
    WITH site AS (
      UPDATE recounts SET visited = visited + ${visited}::text::datemultirange, visited_at = now(),
        answers = answers + ${answers}
      WHERE site_id = ${siteId}
    )
    UPDATE recount_shards SET due_at = now() + ${`${restMs} milliseconds`}::text::interval, visited_at = now(),
      days = days + ${visit && !isEmpty ? 1 : 0}, empty_days = empty_days + ${isEmpty ? 1 : 0},
      answers = answers + ${answers}
    WHERE shard = ${shard}`
}

export interface RecountedSite {
  answers: number
  differences: number
  /** Those that a rebuild has not repaired. */
  open: number
  since: Date
}

/** Undefined: nothing was recounted yet. */
export async function recountedSite(postgres: Postgres, { id }: Pick<Site, 'id'>): Promise<RecountedSite | undefined> {
  const [row] = await postgres<RecountedSite[]>`
    SELECT answers::float8 AS answers, differences::float8 AS differences, since,
      (SELECT count(*)::int FROM recount_differences open WHERE open.site_id = recounts.site_id AND repaired_at IS NULL) AS open
    FROM recounts WHERE site_id = ${id} AND answers > 0`
  return row
}

export interface RecountedInstallation extends RecountedSite {
  days: number
  emptyDays: number
  visitedAt: Date | null
}

/** The sums of all shards. */
export async function recountedInstallation(postgres: Postgres): Promise<RecountedInstallation | undefined> {
  const [row] = await postgres<(Omit<RecountedInstallation, 'since'> & { since: Date | null })[]>`
    SELECT coalesce(sum(answers), 0)::float8 AS answers, coalesce(sum(differences), 0)::float8 AS differences, min(since) AS since,
      coalesce(sum(days), 0)::float8 AS days, coalesce(sum(empty_days), 0)::float8 AS "emptyDays", max(visited_at) AS "visitedAt",
      (SELECT count(*)::int FROM recount_differences WHERE repaired_at IS NULL) AS open
    FROM recount_shards`
  return row?.since ? (row as RecountedInstallation) : undefined
}

/** Days that are never visited (`recountableDays`): their events were dropped by retention, or sums of another product are part of their answers. */
export async function daysLeftOut(postgres: Postgres): Promise<{ dropped: number; imported: number }> {
  const [row] = await postgres<[{ dropped: number; imported: number }]>`
    SELECT (
      SELECT coalesce(sum(upper(range) - greatest(lower(range), date '1970-01-01')), 0)::float8
      FROM rollup_coverage, retention, unnest(days * datemultirange(daterange(NULL, events_from))) AS range
    ) AS dropped, (
      SELECT coalesce(sum(upper(range) - lower(range)), 0)::float8
      FROM (SELECT range_agg(days) AS days FROM imported_days GROUP BY site_id) AS of_sites, unnest(days) AS range
    ) AS imported`
  return row
}
