import type { Mutation } from './mutations.ts'

const test = 'test/stores/cluster.test.ts'
const check = 'check:cluster -- --seconds 1 --rate 20'

const users = 'deploy/clickhouse/least-privilege/footfall-users.xml'
const privileges = 'test/stores/least-privilege.test.ts'

/** Breakages of several shards, and of the users of ClickHouse. */
export const cluster: readonly Mutation[] = [
  {
    name: 'cluster: every query goes to the first shard',
    file: 'src/stores/cluster.ts',
    find: 'const found = shards[shard - 1]',
    replace: 'const found = shards[shard - shard]',
    caughtBy: test,
  },
  {
    name: 'cluster: the overview of many sites asks the first shard only',
    file: 'src/stats/service.ts',
    find: 'read(cluster.of({ shard, coverage: { missingOn } }), some)',
    replace: 'read(cluster.of({ shard: shard > 0 ? 1 : 0, coverage: { missingOn } }), some)',
    caughtBy: test,
  },
  {
    name: 'cluster: one queue for all shards',
    file: 'src/stats/fair-queue.ts',
    find: 'sites.every((site) => site.shard === shard) ? shard : several',
    replace: 'sites.every((site) => site.shard === shard) ? several : several',
    caughtBy: test,
  },
  {
    name: 'cluster: a new site goes where the disk is full',
    file: 'migrations/postgres/0007_shards.sql',
    find: 'ORDER BY round(free_share * 20) DESC',
    replace: 'ORDER BY round(free_share * 20)',
    caughtBy: test,
  },
  {
    name: 'cluster: small differences decide where new sites go',
    file: 'migrations/postgres/0007_shards.sql',
    find: 'ORDER BY round(free_share * 20) DESC',
    replace: 'ORDER BY free_share DESC',
    caughtBy: test,
  },
  {
    name: 'cluster: an emptied server gets no tables',
    file: 'src/stores/migrate.ts',
    find: 'await migrateClickHouse(server, all, servers)',
    replace: 'await migrateClickHouse(server, all && toRecord, servers)',
    caughtBy: test,
  },
  {
    name: 'cluster: a file counts as applied although one server does not have it',
    file: 'src/stores/migrate.ts',
    find: 'if (toRecord.length > 0 || !(error instanceof Unavailable)) throw error',
    replace: 'if (!(error instanceof Unavailable)) throw error',
    caughtBy: test,
  },
  {
    name: 'cluster: a shard rolls up the sites of others',
    file: 'src/rollups/loop.ts',
    find: 'FROM sites LEFT JOIN rollup_state ON site_id = id\n    WHERE shard = ',
    replace: 'FROM sites LEFT JOIN rollup_state ON site_id = id\n    WHERE shard <> -1 * ',
    caughtBy: test,
  },
  {
    name: 'cluster: a site counts as erased although it is on another shard',
    file: 'src/erasure/deleted-sites.ts',
    find: 'AS reopened FROM deleted_sites\n  WHERE shard = ',
    replace: 'AS reopened FROM deleted_sites\n  WHERE shard <> -1 * ',
    caughtBy: test,
  },
  {
    name: 'cluster: events are dropped although one shard has not rolled them up',
    file: 'src/rollups/retention.ts',
    find: 'missingDays += await rollUpShardBefore(',
    replace: 'await rollUpShardBefore(',
    caughtBy: test,
  },
  {
    name: 'cluster: a backup holds the first shard only',
    file: 'src/cli/backup.ts',
    find: 'for (const clickhouse of context.cluster.shards) {',
    replace: 'for (const clickhouse of context.cluster.shards.slice(0, 1)) {',
    caughtBy: test,
  },
  {
    name: 'cluster: a backup is restored into fewer shards',
    file: 'src/cli/backup.ts',
    find: 'if (shards < manifest.shards) {',
    replace: 'if (shards < 0) {',
    caughtBy: test,
  },
  {
    name: 'cluster: doctor looks at the first shard only',
    file: 'src/cli/doctor.ts',
    find: 'const { shards } = context.cluster',
    replace: 'const shards = context.cluster.shards.slice(0, 1)',
    caughtBy: test,
  },
  {
    name: 'cluster: every event is for the first shard',
    file: 'src/collector/enrich/intake.ts',
    find: 'return { shard: hit.site.shard, event',
    replace: 'return { shard: 1, event',
    caughtBy: check,
  },
  {
    name: 'cluster: events are shipped to one shard after the other',
    file: 'src/collector/shipper/main.ts',
    find: 'await Promise.all(cluster.shards.map(ship))',
    replace: 'for (const shard of cluster.shards) await ship(shard)',
    caughtBy: check,
  },
  {
    name: 'cluster: a file of the spool is removed while it has events for another shard',
    file: 'src/collector/shipper/batches.ts',
    find: 'if (number === numbers.at(-1) || !isEmpty(file)) continue',
    replace: 'if (number === numbers.at(-1)) continue',
    caughtBy: 'test/collector/shipper/ship-batch.test.ts',
  },
  {
    name: 'cluster: events for several shards are stored as if for one',
    file: 'src/collector/spool/worker.ts',
    find: 'Map.groupBy(placed, (part) => part.shard)',
    replace: 'Map.groupBy(placed, () => placed[0]?.shard ?? 0)',
    caughtBy: 'test/collector/spool/spool.test.ts',
  },
  {
    name: 'privileges: a reader may read everything',
    file: users,
    find: '<query>GRANT SELECT ON footfall.*</query>',
    replace: '<query>GRANT SELECT ON *.*</query>',
    caughtBy: privileges,
  },
  {
    name: 'privileges: a reader has no limits',
    file: users,
    find: '<profile>footfall_reader</profile>',
    replace: '<profile>default</profile>',
    caughtBy: privileges,
  },
  {
    name: 'privileges: a collector may read titles',
    file: users,
    find: '<query>GRANT INSERT ON footfall.titles</query>',
    replace: '<query>GRANT SELECT, INSERT ON footfall.titles</query>',
    caughtBy: privileges,
  },
  {
    name: 'privileges: the process that rolls up may change tables',
    file: users,
    find: 'GRANT SELECT, ALTER DELETE ON footfall.*',
    replace: 'GRANT SELECT, ALTER ON footfall.*',
    caughtBy: privileges,
  },
  {
    name: 'privileges: an operator may drop the database',
    file: users,
    find: 'DROP TABLE, DROP VIEW, TRUNCATE',
    replace: 'DROP, TRUNCATE',
    caughtBy: privileges,
  },
  {
    name: 'shard status: a shard that is down looks empty',
    file: 'src/cli/shard.ts',
    find: 'catch(() => ({ events: null,',
    replace: 'catch(() => ({ events: 0,',
    caughtBy: test,
  },
]
