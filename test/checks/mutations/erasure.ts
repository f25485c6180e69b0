// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of erasing deleted sites. */
export const erasure: readonly Mutation[] = [
  {
    name: 'shipper: events of a deleted site stay in ClickHouse',
    file: 'src/erasure/deleted-sites.ts',
    find: 'reopened_at = clock_timestamp(), erased_at = NULL,',
    replace: 'reopened_at = clock_timestamp(),',
    caughtBy: 'test/collector/shipper/shipped.test.ts',
  },
  {
    name: 'erasure: events that arrive during the erasure count as erased',
    file: 'src/erasure/deleted-sites.ts',
    find: ' AND reopened_at::text IS NOT DISTINCT FROM known.reopened`',
    replace: '`',
    caughtBy: 'test/erasure/deleted-sites.test.ts',
  },
  {
    name: 'erasure: a restored site is erased',
    file: 'src/erasure/deleted-sites.ts',
    find: 'NOT EXISTS (SELECT FROM sites WHERE sites.id = deleted_sites.id)`',
    replace: 'true`',
    caughtBy: 'test/erasure/deleted-sites.test.ts',
  },
  {
    name: 'erasure: migrate does not repair restored tables',
    file: 'src/cluster/migrate.ts',
    find: 'await repairRestoredTables(clickhouse)',
    replace: 'void repairRestoredTables',
    caughtBy: 'test/erasure/deleted-sites.test.ts',
  },
  {
    name: 'erasure: a deletion that ClickHouse ignores counts as done',
    file: 'src/erasure/job.ts',
    find: 'if (unrepaired.length > 0) {',
    replace: 'if (unrepaired.length > 9) {',
    caughtBy: 'test/erasure/deleted-sites.test.ts',
  },
  {
    name: 'erasure: old files count as removed',
    file: 'src/erasure/job.ts',
    find: ' || (await hasFilesOf(clickhouse, latest))) return',
    replace: ' || (await hasFilesOf(clickhouse, new Date(0)))) return',
    caughtBy: 'test/erasure/deleted-sites.test.ts',
  },
  {
    name: 'erasure: rows are masked but stay in the files',
    file: 'src/erasure/rows.ts',
    find: 'APPLY DELETED MASK IN PARTITION ID ${text(partition)}`, {',
    replace: "APPLY DELETED MASK IN PARTITION ID ${text(partition && '197001')}`, {",
    caughtBy: 'test/erasure/deleted-sites.test.ts',
  },
  {
    name: 'erasure: an outage makes the deletion fail',
    file: 'src/erasure/job.ts',
    find: '    () => false,\n',
    replace: '    (error) => Promise.reject(error),\n',
    caughtBy: 'test/cli/erasure.test.ts',
  },
  {
    name: 'cluster: a site counts as erased although it is on another shard',
    file: 'src/erasure/deleted-sites.ts',
    find: 'AS reopened FROM deleted_sites\n  WHERE shard = ',
    replace: 'AS reopened FROM deleted_sites\n  WHERE shard <> -1 * ',
    caughtBy: 'test/cluster/cluster.test.ts',
  },
  {
    name: 'moving: the old copy is erased while readers may use it',
    file: 'src/erasure/deleted-sites.ts',
    find: 'AND erased_at IS NULL AND erase_after <= now() AND',
    replace: 'AND erased_at IS NULL AND',
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'erasure: a process that stood still deletes all the same',
    file: 'src/erasure/rows.ts',
    find: 'throwIf(now64(3) > ${instant(deadline)},',
    replace: 'throwIf(now64(3) > ${instant(deadline + 1e9)},',
    caughtBy: 'test/moving/move-site.test.ts',
  },
  {
    name: 'moving: a site comes back while a process may still erase its old copy',
    file: 'migrations/postgres/0011_way_back.sql',
    find: "interval '2 minutes'",
    replace: "interval '0 minutes'",
    caughtBy: 'test/moving/move-site.test.ts',
  },
]
