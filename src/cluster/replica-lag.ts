import { setTimeout as pause } from 'node:timers/promises'
import { Unavailable } from '../stores/breaker.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql, texts } from '../stores/clickhouse-sql.ts'
import { tables as allTables } from './tables.ts'

interface Status {
  tables: number
  /** It has no connection to Keeper, or Keeper does not know it, so it does not know which rows it lacks. */
  isCutOff: number
  /** It has read the whole log of each table in Keeper, so it knows what any replica has written, except to `unwritten` tables. */
  knowsAll: number
  /** The tables whose log is empty, as far as it knows. */
  unwritten: string[]
  /** How many parts it knows of and has not fetched yet. */
  toFetch: number
  lag: number
}

const names = Object.keys(allTables)
const everyMs = 10
const otherMs = 200

/**
 * Resolves when the replica has every row that any replica had confirmed before the call. `SYSTEM SYNC REPLICA` does the same, but a
 * user that may only read cannot run it.
 */
export async function catchUp(replica: ClickHouse, all: readonly ClickHouse[], withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs
  const signal = AbortSignal.timeout(withinMs)
  const others = all.filter((one) => one !== replica)
  for (let knewAll = false; ; ) {
    const { tables, isCutOff, knowsAll, unwritten, toFetch } = await statusOf(replica, signal).catch((error: Error) => {
      throw signal.aborted ? new Unavailable('A replica does not answer in time', { cause: error }) : error
    })
    if (tables < names.length) throw new Unavailable('A replica has no tables. Run: footfall migrate')
    if (isCutOff) throw new Unavailable('A replica has no connection to Keeper')
    // ClickHouse counts `toFetch` before it looks up `knowsAll`, so only the status after that one counts every missing part.
    if (knewAll && toFetch === 0) return
    knewAll ||= knowsAll === 1 && (unwritten.length === 0 || (await areEmpty(unwritten, others)))
    if (performance.now() > deadline) throw new Unavailable(`A replica misses rows of ${toFetch} parts`)
    if (!knewAll || toFetch > 0) await pause(everyMs)
  }
}

/** Whether the tables are empty on all of the replicas that answer. */
async function areEmpty(tables: readonly string[], replicas: readonly ClickHouse[]): Promise<boolean> {
  const results = await Promise.all(
    replicas.map((replica) =>
      replica
        .rows(
          sql`SELECT 1 FROM system.parts WHERE database = currentDatabase() AND active AND table IN ${texts(tables)} LIMIT 1`,
          AbortSignal.timeout(otherMs),
        )
        .catch(() => []),
    ),
  )
  return results.every((parts) => parts.length === 0)
}

/** The replicas of the shard that Keeper knows, and whether each is connected. */
export async function replicasInKeeper(replica: ClickHouse): Promise<Map<string, boolean>> {
  const [row] = await replica.rows<{ active: Record<string, number> }>(
    sql`SELECT replica_is_active AS active FROM system.replicas WHERE database = currentDatabase() AND table = 'events'`,
  )
  return new Map(Object.entries(row?.active ?? {}).map(([name, isActive]) => [name, isActive === 1]))
}

/** How many seconds the replica is behind. */
export async function lagOf(replica: ClickHouse): Promise<number> {
  const { tables, lag } = await statusOf(replica)
  if (tables < names.length) throw new Unavailable('A replica has no tables. Run: footfall migrate')
  return lag
}

async function statusOf(replica: ClickHouse, signal?: AbortSignal): Promise<Status> {
  const [status] = await replica.rows<Status>(
    sql`
      SELECT count() AS tables, max(is_session_expired OR is_readonly) AS isCutOff,
        min(log_pointer > log_max_index OR log_max_index = 0) AS knowsAll, groupArrayIf(table, log_max_index = 0 AND log_pointer = 0) AS unwritten,
        sum(inserts_in_queue) AS toFetch, max(absolute_delay) AS lag
      FROM system.replicas
      WHERE database = currentDatabase() AND table IN ${texts(names)}`,
    signal,
  )
  return status as Status
}
