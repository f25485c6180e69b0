// Reads from one replica of a shard at a time. ClickHouse copies rows within about 100 ms, so two replicas may differ by the rows of the
// last moment, and an answer must never be older than an earlier one. So all queries read the same replica, the first one if possible.
// Another is read only after it has every row that was confirmed before, and writers insert on the last replica (replicas.ts): what a
// reader has seen on the first, the last one has, too, even if the first dies (decision D-202).
import { setTimeout as pause } from 'node:timers/promises'
import { Unavailable } from '../stores/breaker.ts'
import type { ClickHouse, ClickHouseReader, ReadLimits } from '../stores/clickhouse.ts'
import { isReplicaUnwell } from '../stores/clickhouse-errors.ts'
import { type Sql, sql } from '../stores/clickhouse-sql.ts'
import { catchUp, lagOf } from './replica-lag.ts'

export interface ReplicaReads extends ClickHouseReader {
  close(): void
}

/**
 * A replica that has not answered a query for this long is probed. A suspended replica costs a query 1.3 s; a query that is only slow
 * continues.
 */
const silentMs = 1_000
const signOfLifeMs = 250
const catchUpMs = 2_000
/** How long queries may wait for the return to the first replica. */
const returnMs = 300
const everyMs = 1_000
/** A replica that is further behind is not read if another one has all rows. */
const maxLagSeconds = 10

export function createReplicaReads(replicas: readonly ClickHouse[]): ReplicaReads {
  const home = 0
  /** The replica that is read. Undefined until one has proved that it has all rows. */
  let current: number | undefined
  /** Set while queries must wait for another replica. */
  let moving: Promise<void> | undefined
  const running = replicas.map(() => 0)

  const timer = setInterval(() => void look(), everyMs).unref()
  let looking = false

  async function read<Row>(statement: Sql, signal?: AbortSignal, limits?: ReadLimits): Promise<Row[]> {
    await moving?.catch(() => {}) // the replica that another query could not leave may still answer this one
    // Two attempts: a process that has just started, or a busy server, may take longer than one attempt.
    if (current === undefined) await leave(current).catch(() => leave(current))
    const first = current as unknown as number
    try {
      return await readFrom<Row>(first, statement, signal, limits)
    } catch (error) {
      if (!isReplicaUnwell(error) || signal?.aborted) throw error
      await leave(first, error as Error)
      return await readFrom<Row>(current as unknown as number, statement, signal, limits)
    }
  }

  async function readFrom<Row>(
    number: number,
    statement: Sql,
    signal?: AbortSignal,
    limits?: ReadLimits,
  ): Promise<Row[]> {
    const replica = replicas[number] as ClickHouse
    const stopped = new AbortController()
    const silent = setTimeout(() => {
      replica.rows(sql`SELECT 1`, AbortSignal.timeout(signOfLifeMs)).catch((error) => stopped.abort(error))
    }, silentMs)
    running[number] = (running[number] as number) + 1
    try {
      return await replica.rows<Row>(statement, either(signal, stopped.signal), limits)
    } catch (error) {
      throw stopped.signal.aborted ? new Unavailable('A replica does not answer', { cause: error }) : error
    } finally {
      clearTimeout(silent)
      running[number] = (running[number] as number) - 1
    }
  }

  /** Moves to another replica, unless another query has done so. Throws if none has all rows. */
  async function leave(replica: number | undefined, cause?: Error): Promise<void> {
    if (!moving && current === replica) moving = moveOn(replica, cause).finally(() => (moving = undefined))
    await moving
  }

  async function moveOn(from: number | undefined, cause?: Error): Promise<void> {
    for (const [index] of replicas.entries()) {
      if (index === from) continue
      const isReady = await catchUpWith(index, catchUpMs).then(
        () => true,
        (error: Error) => {
          cause ??= error
          return false
        },
      )
      if (isReady) {
        current = index
        return
      }
    }
    throw cause instanceof Unavailable
      ? cause
      : new Unavailable(`No replica has all rows: ${cause?.message}`, { cause })
  }

  const catchUpWith = (replica: number, withinMs: number): Promise<void> =>
    catchUp(replicas[replica] as ClickHouse, replicas, withinMs)

  /** Leaves a replica that is behind, and returns to the first one when it is well again. */
  async function look(): Promise<void> {
    if (looking || moving || current === undefined) return
    looking = true
    try {
      if (current !== home) await returnHome()
      else if ((await lagOf(replicas[home] as ClickHouse).catch(away)) > maxLagSeconds) await moveOn(home)
    } catch {
      // Nothing changes: queries notice themselves what does not work.
    } finally {
      looking = false
    }
  }

  async function returnHome(): Promise<void> {
    await catchUpWith(home, catchUpMs) // meanwhile, queries read the other
    if ((await lagOf(replicas[home] as ClickHouse)) > maxLagSeconds || moving) return
    const from = current as number
    moving = (async () => {
      // A running query may return rows that the first replica does not have yet.
      const deadline = performance.now() + returnMs
      while ((running[from] as number) > 0) {
        if (performance.now() > deadline) return
        await pause(5)
      }
      const isReady = await catchUpWith(home, returnMs).then(
        () => true,
        () => false,
      )
      if (isReady) current = home
    })().finally(() => (moving = undefined))
    await moving
  }

  return {
    rows: read,
    close: () => clearInterval(timer),
  }
}

/** The lag of a replica that does not answer. It is left even without queries: a server that comes back empty must first get its rows. */
const away = () => Number.POSITIVE_INFINITY

const either = (callers: AbortSignal | undefined, own: AbortSignal): AbortSignal =>
  callers ? AbortSignal.any([callers, own]) : own
