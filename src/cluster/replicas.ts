// A shard of several ClickHouse servers, its replicas: ClickHouse copies every row to each. One may be down (decision D-202).
import { minuteMs } from '../durations.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { isBadData, isWithoutQuorum } from '../stores/clickhouse-errors.ts'
import { catchUp, replicasInKeeper } from './replica-lag.ts'
import { createReplicaReads } from './replica-reads.ts'

/** ClickHouse confirms an insert when two replicas have its rows. */
const quorum = '2'
const quorumMs = 3_000
/** A limit of our own, because a suspended server does not answer at all. */
const insertMs = 8_000
/** How long inserts avoid a replica after one of them failed there. */
const avoidedMs = 10_000
const catchUpMs = 3_000
/** Time limit for all other replicas to copy a part of up to half a gigabyte. */
const allMs = minuteMs

export function replicate(replicas: readonly [ClickHouse, ...ClickHouse[]]): ClickHouse {
  const reads = createReplicaReads(replicas)
  /** In the order in which inserts try them: the last one first, because queries read the first one (replica-reads.ts). */
  const writable = replicas.toReversed()
  const avoidedUntil = new Map<ClickHouse, number>()

  async function insert(into: string, rows: readonly object[], token: string): Promise<ClickHouse | undefined> {
    let cause: unknown
    const sorted = writable.toSorted((one, other) => avoidance(one) - avoidance(other))
    for (const replica of sorted) {
      const signal = AbortSignal.timeout(insertMs)
      const settings = { insert_quorum: quorum, insert_quorum_timeout: quorumMs }
      try {
        await replica.insert(into, rows, token, { settings, signal })
        avoidedUntil.delete(replica)
        return undefined
      } catch (error) {
        if (isBadData(error)) throw error
        cause = error
        if (isWithoutQuorum(error)) {
          await replica.insert(into, rows, token, { signal: AbortSignal.timeout(insertMs) })
          return replica
        }
        avoidedUntil.set(replica, performance.now() + avoidedMs)
      }
    }
    throw cause
  }

  /** The time until which inserts avoid the replica, or 0. */
  const avoidance = (replica: ClickHouse): number => {
    const until = avoidedUntil.get(replica) ?? 0
    return until > performance.now() ? until : 0
  }

  async function worker(): Promise<ClickHouse> {
    let cause: unknown
    for (const replica of writable) {
      try {
        await catchUp(replica, replicas, catchUpMs)
        return replica
      } catch (error) {
        cause ??= error
      }
    }
    throw cause
  }

  const [first] = replicas
  const { shard } = first

  async function incomplete(): Promise<string | undefined> {
    const results = await Promise.allSettled(replicas.map((replica) => catchUp(replica, replicas, catchUpMs)))
    const away = results.flatMap((one, index) =>
      one.status === 'rejected' ? [`replica ${index + 1} (${one.reason.message})`] : [],
    )
    if (away.length > 0) return `Not every replica of shard ${shard} has all rows: ${away.join(', ')}.`
    const inKeeper = await replicasInKeeper(first).catch(() => new Map<string, boolean>())
    return inKeeper.size === replicas.length // otherwise ClickHouse may count a replica that nobody reads
      ? undefined
      : `CLICKHOUSE_SHARDS lists ${replicas.length} replicas of shard ${shard}, and Keeper knows ${[...inKeeper.keys()].sort().join(', ') || 'none'}. If one is gone: footfall shard drop-replica ${shard} <name>`
  }

  /** ClickHouse confirms rows when every replica has them, and refuses them while one is away (decision D-207). */
  const onAll = { insert_quorum: `${replicas.length}`, insert_quorum_timeout: allMs }
  return {
    shard,
    replicas: { all: replicas, worker, incomplete },
    version: () => first.version(),
    rows: reads.rows,
    insert,
    run: async (statement, settings) => (await worker()).run(statement, { ...onAll, ...settings }),
    rowsPatiently: async (...parameters) => (await worker()).rowsPatiently(...parameters),
    command: async (...parameters) => (await worker()).command(...parameters),
    download: async (...parameters) => (await worker()).download(...parameters),
    upload: async (table, content, id) => (await worker()).upload(table, content, id, onAll),
    async close() {
      reads.close()
      await Promise.all(replicas.map((replica) => replica.close()))
    },
  }
}
