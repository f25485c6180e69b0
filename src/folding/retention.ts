// Drops months of events that are older than the retention (decision D-79), in steps that are each recorded before the next, so that
// whatever ends in between, a later round goes on: (1) from `kept_from` on events are kept, and before it none is written any more;
// (2) every day before it that has events is folded; (3) once nobody can be reading them, their partitions are dropped.
// One wrong clock must not drop everything: nothing is done unless three clocks agree, and the first step takes one month with events at
// a time; more than that an operator has to confirm (decision D-146).
import { sql, text } from '../stores/clickhouse-sql.ts'
import { type Clocks, clocksAgree, readClocks } from '../stores/clocks.ts'
import type { Postgres } from '../stores/postgres.ts'
import { eventsKeptFrom } from '../traffic/kept.ts'
import { foldForGood, type Stores } from './fold.ts'
import { stalestReader, unfoldedDays } from './ledger.ts'

export interface Retention {
  months: number
  readClocks?: (stores: Stores) => Promise<Clocks>
  signal?: AbortSignal
  onError?: (error: Error, domain: string) => void
  /** How long after the last fold nobody reads the events any more. */
  patience?: string
}

export interface Dropped {
  /** `YYYYMM`. */
  months: string[]
  /** Why nothing more is dropped until a person does something; the same text as long as it stays so. */
  held?: string
}

/** Does what is due. */
export async function dropOldEvents(stores: Stores, retention: Retention): Promise<Dropped> {
  const plan = await planRetention(stores, retention)
  if (plan === undefined) return { months: [], held: clocksDiffer }
  const isTooMuch = plan.months.length > 1
  if (!isTooMuch) await declareKept(stores.postgres, plan.keptFrom)
  await foldWhatGoes(stores, retention)
  const months = await dropFolded(stores, retention.patience)
  return isTooMuch ? { months, held: tooMuch } : { months }
}

export const clocksDiffer =
  'Old events are not dropped: the clocks of this machine, of PostgreSQL and of ClickHouse differ by more than a minute. See: footfall doctor'
const tooMuch =
  'Old events are not dropped: more than one month would go at once. See which: footfall fold retention; if that is right, add --confirm'

export interface MonthOfEvents {
  /** `YYYYMM`. */
  month: string
  events: number
  bytes: number
}

/** From which day on events are to be kept, by PostgreSQL's clock, and what goes by that; undefined while clocks do not agree. */
export async function planRetention(
  stores: Stores,
  { months, readClocks: read = readClocks }: Pick<Retention, 'months' | 'readClocks'>,
): Promise<{ keptFrom: string; months: MonthOfEvents[] } | undefined> {
  const clocks = await read(stores)
  if (!clocksAgree(clocks)) return undefined
  const keptFrom = firstKeptDay(months, clocks.postgres)
  const since = await eventsKeptFrom(stores.postgres)
  const going = await stores.clickhouse.rowsPatiently<MonthOfEvents>(sql`
    SELECT partition AS month, sum(rows) AS events, sum(bytes_on_disk) AS bytes FROM system.parts
    WHERE database = currentDatabase() AND table = 'events' AND active AND rows > 0
      AND partition >= ${text(monthOf(since))} AND partition < ${text(monthOf(keptFrom))}
    GROUP BY partition ORDER BY partition`)
  return { keptFrom, months: going }
}

const monthOf = (day: string): string => day.slice(0, 7).replace('-', '')

/** The first day of the month that lies so many months back, wherever on earth it is still the earliest date. */
export const firstKeptDay = (months: number, now: number): string =>
  Temporal.Instant.fromEpochMilliseconds(now)
    .toZonedDateTimeISO('Etc/GMT+12')
    .toPlainDate()
    .subtract({ months })
    .with({ day: 1 })
    .toString()

/** Never moved back: what was dropped does not come again with a longer retention. */
export async function declareKept(postgres: Postgres, from: string): Promise<void> {
  await postgres`UPDATE retention SET kept_from = ${from}::text::date WHERE kept_from < ${from}::text::date`
}

/** Folds small sites too: after this, a day before `kept_from` is folded or has no events. */
export async function foldWhatGoes({ postgres, clickhouse }: Stores, { signal, onError }: Partial<Retention>) {
  const [{ due, keptFrom, last }] = await postgres<[{ due: boolean; keptFrom: string; last: string }]>`
    SELECT folded_before < kept_from AS due, kept_from::text AS "keptFrom", (kept_from - 1)::text AS last FROM retention`
  if (!due) return
  const found = await clickhouse.rowsPatiently<{ site_id: string; first: string }>(sql`
    SELECT site_id, toStartOfMonth(min(day)) AS first FROM events WHERE day <= toDate(${text(last)}) GROUP BY site_id`)
  // Others were deleted, and what is left of their events goes with the rest.
  const sites = await postgres<{ id: string; domain: string }[]>`
    SELECT id, domain FROM sites WHERE id = ANY(${found.map(({ site_id }) => site_id)})`
  const domains = new Map(sites.map(({ id, domain }) => [id, domain]))
  let unfolded = 0
  for (const { site_id: id, first } of found) {
    const domain = domains.get(id)
    if (domain === undefined) continue
    if (signal?.aborted) return
    try {
      await foldForGood({ postgres, clickhouse }, id, [first, last])
      unfolded += (await unfoldedDays(postgres, id, [first, last])).length
    } catch (error) {
      unfolded++
      onError?.(error as Error, domain)
    }
  }
  if (unfolded > 0) return
  await postgres`
    UPDATE retention SET folded_before = ${keptFrom}::text::date, folded_at = now()
    WHERE folded_before < ${keptFrom}::text::date`
}

/** Also drops what an import has written for such a month meanwhile, which is not counted (decision D-80). */
export async function dropFolded({ postgres, clickhouse }: Stores, patience = stalestReader): Promise<string[]> {
  const [row] = await postgres<{ month: string }[]>`
    SELECT to_char(folded_before, 'YYYYMM') AS month FROM retention
    WHERE folded_at <= now() - ${patience}::text::interval`
  if (!row) return []
  const found = await clickhouse.rowsPatiently<{ partition: string }>(sql`
    SELECT DISTINCT partition FROM system.parts
    WHERE database = currentDatabase() AND table = 'events' AND active AND partition < ${text(row.month)}
    ORDER BY partition`)
  for (const { partition } of found) {
    // However large: the engine keeps from dropping 50 GB by mistake.
    await clickhouse.run(sql`ALTER TABLE events DROP PARTITION ID ${text(partition)}`, {
      max_partition_size_to_drop: '0',
    })
  }
  return found.map(({ partition }) => partition)
}
