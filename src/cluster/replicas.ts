// A shard of several ClickHouse servers, its replicas: ClickHouse copies every row to each. One may be down (decision D-202).
import { minuteMs } from '../durations.ts'
import { type ClickHouse, isBadData, isWithoutQuorum } from '../stores/clickhouse.ts'
import { catchUp, replicasInKeeper } from './replica-lag.ts'
import { createReplicaReads } from './replica-reads.ts'

/** Rows are confirmed by two replicas. */
const quorum = '2'
const quorumMs = 3_000
/** A server that is stopped does not answer at all. */
const insertMs = 8_000
/** How long inserts go elsewhere after one that got no answer. */
const avoidedMs = 10_000
const catchUpMs = 3_000
/** How long every other replica may take to copy a part that was computed or uploaded. Half a gigabyte at most. */
const allMs = minuteMs

export function replicate(replicas: readonly [ClickHouse, ...ClickHouse[]]): ClickHouse {
  const reads = createReplicaReads(replicas)
  /** The last is written to first: the first is read (replica-reads.ts). */
  const writable = replicas.toReversed()
  const avoidedUntil = new Map<ClickHouse, number>()

  async function insert(table: string, rows: readonly object[], token: string): Promise<ClickHouse | undefined> {
    let cause: unknown
    const sorted = writable.toSorted((one, other) => avoidance(one) - avoidance(other))
    for (const replica of sorted) {
      const signal = AbortSignal.timeout(insertMs)
      const settings = { insert_quorum: quorum, insert_quorum_timeout: quorumMs }
      try {
        await replica.insert(table, rows, token, { settings, signal })
        avoidedUntil.delete(replica)
        return undefined
      } catch (error) {
        if (isBadData(error)) throw error
        cause = error
        if (isWithoutQuorum(error)) {
          await replica.insert(table, rows, token, { signal: AbortSignal.timeout(insertMs) })
          return replica
        }
        avoidedUntil.set(replica, performance.now() + avoidedMs)
      }
    }
    throw cause
  }

  /** 0 unless the last insert there failed a moment ago. */
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
    const found = await Promise.allSettled(replicas.map((replica) => catchUp(replica, replicas, catchUpMs)))
    const away = found.flatMap((one, index) =>
      one.status === 'rejected' ? [`replica ${index + 1} (${one.reason.message})`] : [],
    )
    if (away.length > 0) return `Not every replica of shard ${shard} has all rows: ${away.join(', ')}.`
    const known = await replicasInKeeper(first).catch(() => new Map<string, boolean>())
    return known.size === replicas.length // otherwise ClickHouse may count one that nobody reads
      ? undefined
      : `CLICKHOUSE_SHARDS lists ${replicas.length} replicas of shard ${shard}, and Keeper knows ${[...known.keys()].sort().join(', ') || 'none'}. If one is gone: footfall shard drop-replica ${shard} <name>`
  }

  /** ClickHouse confirms rows when every replica has them, and refuses them while one is away (decision D-207). */
  const onAll = { insert_quorum: `${replicas.length}`, insert_quorum_timeout: allMs }
  return {
    shard,
    replicas: { all: replicas, worker, incomplete },
    rows: reads.rows,
    insert,
    run: async (statement, settings) => (await worker()).run(statement, { ...onAll, ...settings }),
    rowsPatiently: async (...given) => (await worker()).rowsPatiently(...given),
    command: async (...given) => (await worker()).command(...given),
    download: async (...given) => (await worker()).download(...given),
    upload: async (table, content, id) => (await worker()).upload(table, content, id, onAll),
    async close() {
      reads.close()
      await Promise.all(replicas.map((replica) => replica.close()))
    },
  }
}
