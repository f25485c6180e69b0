// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of moving a site to another shard. */
export const moving: readonly Mutation[] = [
  {
    name: 'retention: a site that moved meanwhile was rolled up by nobody',
    file: 'src/rollups/retention.ts',
    find: 'moved_at >= ${began}::text::timestamptz)',
    replace: "moved_at >= ${began}::text::timestamptz + interval '1 year')",
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'moving: rows that changed after they were copied are not copied again',
    file: 'src/moving/copy.ts',
    find: 'if (copy?.content === content && copy.rows === slice.rows) continue',
    replace: 'if (copy) continue',
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'moving: a slice that is copied again is there twice',
    file: 'src/moving/copy.ts',
    find: 'if (chunk.some(({ isOnTarget }) => isOnTarget)) {',
    replace: 'if (chunk.length === 0) {',
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'moving: events of this hour are left behind',
    file: 'src/moving/move-site.ts',
    find: 'await copyRest(copy, compareMs)',
    replace: 'await copyMost(copy)',
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'moving: a site moves before its collectors hold back events',
    file: 'src/moving/move-site.ts',
    find: 'if (missing.length === 0) return',
    replace: 'if (missing.length >= 0) return',
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'moving: an import does not keep a site on its shard',
    file: 'src/moving/writing.ts',
    find: 'while (!(await tryToLock(connection, siteId))) {',
    replace: 'while (!connection && !(await tryToLock(connection, siteId))) {',
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'moving: the shard changes although the hold has ended',
    file: 'migrations/postgres/0009_site_moves.sql',
    find: 'WHERE site_id = site AND hold = held AND moved_at IS NULL\n',
    replace: 'WHERE site_id = site AND moved_at IS NULL\n',
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'moving: a rollup run begins while events are held back',
    file: 'migrations/postgres/0009_site_moves.sql',
    find: 'IF NOT FOUND OR EXISTS (SELECT FROM site_moves WHERE site_id = site AND hold IS NOT NULL) THEN',
    replace: 'IF NOT FOUND THEN',
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'moving: today is counted on the old shard',
    file: 'src/rollups/today.ts',
    find: 'FROM sites WHERE id = ${siteId} AND shard = ${clickhouse.shard}',
    replace: 'FROM sites WHERE id = ${siteId}',
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'moving: a hold of a process that was killed never ends',
    file: 'migrations/postgres/0009_site_moves.sql',
    find: "AND NOT EXISTS (SELECT FROM leases WHERE name = 'move ' || moving.site_id AND expires_at > now());",
    replace: "AND NOT EXISTS (SELECT FROM leases WHERE name = 'move ' || moving.site_id);",
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'moving: a site deleted while it moves leaves its copy',
    file: 'migrations/postgres/0009_site_moves.sql',
    find: 'RETURNING CASE WHEN moved_at IS NULL THEN to_shard END INTO copied;',
    replace: 'RETURNING CASE WHEN hold = -1 THEN to_shard END INTO copied;',
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'moving: the old copy is never erased',
    file: 'migrations/postgres/0009_site_moves.sql',
    find: '    PERFORM record_copy_to_erase(moved, moving.from_shard, erase_old_after);\n',
    replace: '',
    caughtBy: 'check:move -- --rounds 1 --rate 5 --events 20',
  },
  {
    name: 'moving: a new shard gets sites before every process knows it',
    file: 'src/stores/migrate.ts',
    find: 'if (isNew) await useShards(connection, cluster.shards)',
    replace: 'await useShards(connection, cluster.shards)',
    caughtBy: 'test/moving/commands.test.ts',
  },
  {
    name: 'replicas: a site leaves a shard while one of its replicas is away',
    file: 'src/moving/move-site.ts',
    find: 'await refuseIfBehind(source) //',
    replace: '//',
    caughtBy: 'check:move -- --servers replicated --rounds 1 --rate 20 --events 40',
  },
]
