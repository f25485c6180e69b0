import type { Mutation } from './mutations.ts'

/** These need a cluster: see `needsCluster` in run.ts. */
const caughtBy = 'check:cluster -- --servers replicated --seconds 1 --rate 20 --events 40'

export const replicas: readonly Mutation[] = [
  {
    name: 'replicas: a rolled-up day becomes readable before every replica has its rows',
    file: 'src/rollups/replica-gaps.ts',
    find: 'replicas: (await clickhouse.replicas?.without(worker)) ?? [],',
    replace: 'replicas: worker ? [] : [],',
    caughtBy,
  },
  {
    name: 'replicas: readers ignore which replicas miss rows of a rolled-up day',
    file: 'src/stores/cluster.ts',
    find: 'if (!found.replicas || !coverage || coverage.missingOn.length === 0) return found',
    replace: 'if (found) return found',
    caughtBy,
  },
  {
    name: 'replicas: a gap is closed although the replica still misses rows',
    file: 'src/rollups/replica-gaps.ts',
    find: 'if (still.has(replica)) continue',
    replace: 'if (still.has(-replica)) continue',
    caughtBy,
  },
  {
    name: 'replicas: a replica counts as complete while it still has to fetch parts',
    file: 'src/stores/replica-lag.ts',
    find: 'if (knewAll && toFetch === 0) return',
    replace: 'if (knewAll) return',
    caughtBy,
  },
  {
    name: 'replicas: every slow query is sent twice',
    file: 'src/stores/replica-reads.ts',
    find: 'if (current === first) hedges--',
    replace: 'if (current === first) hedges += 0',
    caughtBy,
  },
  {
    name: 'replicas: no query is sent twice',
    file: 'src/stores/replica-reads.ts',
    find: 'hedges >= 1 && ',
    replace: 'hedges >= 1_000 && ',
    caughtBy,
  },
  {
    name: 'replicas: a query fails when its replica does',
    file: 'src/stores/replica-reads.ts',
    find: 'if (!isReplicaUnwell(error) || signal?.aborted) throw error',
    replace: 'if (error) throw error',
    caughtBy,
  },
  {
    name: 'replicas: rows go to one server only',
    file: 'src/stores/replicas.ts',
    find: 'const settings = { insert_quorum: quorum, insert_quorum_timeout: quorumMs }',
    replace: "const settings = { insert_quorum: quorum === '2' ? '1' : quorum, insert_quorum_timeout: quorumMs }",
    caughtBy,
  },
  {
    name: 'replicas: a server that was alone does not share its rows',
    file: 'src/stores/replicated-tables.ts',
    find: 'for (const { name } of tables) await convert(replica, name)',
    replace: 'for (const { name } of []) await convert(replica, name)',
    caughtBy,
  },
  {
    name: 'replicas: an emptied server gets no tables',
    file: 'src/stores/replicated-tables.ts',
    find: 'if (!table || !isKnownReplica(error)) throw error',
    replace: 'if (error) throw error',
    caughtBy,
  },
  {
    name: 'shipper: a batch that one replica has leaves the spool',
    file: 'src/collector/shipper/ship-batch.ts',
    find: '  else spooled.keep()',
    replace: '  else spooled.remove()',
    caughtBy: 'test/collector/shipper/ship-batch.test.ts',
  },
  {
    name: 'shipper: events leave the spool although a second replica is away',
    file: 'src/collector/shipper/ship-batch.ts',
    find: 'if (!kept || !(await haveTwoCopies(stores.clickhouse))) return false',
    replace: 'if (!kept) return false',
    caughtBy: 'test/collector/shipper/ship-batch.test.ts',
  },
  {
    name: 'shipper: events that a lost disk had are not sent again',
    file: 'src/collector/shipper/ship-batch.ts',
    find: '    if (!(await record(stores, batch, missing))) return false',
    replace: '    if (!(await record(stores, batch, missing.slice(0, 0)))) return false',
    caughtBy: 'test/collector/shipper/ship-batch.test.ts',
  },
  {
    name: 'shipper: an earlier attempt counts as complete',
    file: 'src/collector/shipper/ship-batch.ts',
    find: 'if (isDoubtful && isSafe) isSafe =',
    replace: 'if (isRetry && !isDoubtful) isSafe =',
    caughtBy: 'test/collector/shipper/ship-batch.test.ts',
  },
  {
    name: 'replicas: a mark does not grow',
    file: 'src/rollups/replica-gaps.ts',
    find: 'ON CONFLICT (shard, replica) DO UPDATE SET mark = excluded.mark',
    replace: 'ON CONFLICT (shard, replica) DO NOTHING',
    caughtBy: 'test/rollups/runs.test.ts',
  },
  {
    name: 'replicas: the gaps are not part of the coverage',
    file: 'src/rollups/coverage.ts',
    find: 'FROM replica_gaps WHERE replica_gaps.shard = sites.shard',
    replace: 'FROM replica_gaps WHERE replica_gaps.shard = -sites.shard',
    caughtBy: 'test/rollups/runs.test.ts',
  },
]
