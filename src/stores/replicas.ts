// A shard of several ClickHouse servers, its replicas: ClickHouse copies every row to each. One may be down (decision D-202).
import { type ClickHouse, isBadData, isWithoutQuorum, type Replicas } from './clickhouse.ts'
import { catchUp } from './replica-lag.ts'
import { createReplicaReads, type Gap } from './replica-reads.ts'

export interface ReplicatedClickHouse extends ClickHouse {
  readonly replicas: Replicas
  /** Reads only from replicas without these gaps. */
  withoutGaps(gaps: readonly Gap[]): Pick<ClickHouse, 'rows'>
}

/** Rows are confirmed by two replicas. */
const quorum = '2'
const quorumMs = 3_000
/** A server that is stopped does not answer at all. */
const insertMs = 8_000
/** How long inserts go elsewhere after one that got no answer. */
const avoidedMs = 10_000
const catchUpMs = 3_000

export function replicate(replicas: readonly [ClickHouse, ...ClickHouse[]]): ReplicatedClickHouse {
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

  async function whichCatchUp(): Promise<Set<ClickHouse>> {
    const found = await Promise.allSettled(replicas.map((replica) => catchUp(replica, replicas, catchUpMs)))
    return new Set(replicas.filter((_, index) => found[index]?.status === 'fulfilled'))
  }

  const [{ shard }] = replicas
  return {
    shard,
    replicas: {
      all: replicas,
      worker,
      async without(rowsOf) {
        const caughtUp = await whichCatchUp()
        return replicas.flatMap((replica, index) => (replica === rowsOf || caughtUp.has(replica) ? [] : [index + 1]))
      },
      haveTwoCopies: async () => (await whichCatchUp()).size >= 2,
    },
    withoutGaps: reads.withoutGaps,
    rows: reads.withoutGaps([]).rows,
    insert,
    run: async (...given) => (await worker()).run(...given),
    rowsPatiently: async (...given) => (await worker()).rowsPatiently(...given),
    command: async (...given) => (await worker()).command(...given),
    download: async (...given) => (await worker()).download(...given),
    upload: async (...given) => (await worker()).upload(...given),
    async close() {
      reads.close()
      await Promise.all(replicas.map((replica) => replica.close()))
    },
  }
}
