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
    name: 'shipper: a restored site counts as deleted',
    file: 'src/erasure/deleted-sites.ts',
    find: '::text::jsonb)) AND ${isDeleted(postgres)}\n    RETURNING id`',
    replace: '::text::jsonb))\n    RETURNING id`',
    caughtBy: 'test/collector/shipper/shipped.test.ts',
  },
  {
    name: 'erasure: parts are rewritten with every deletion',
    file: 'src/erasure/deleted-sites.ts',
    find: "export const rewriteEvery = '7 days'",
    replace: "export const rewriteEvery = '0 days'",
    caughtBy: 'test/erasure/deleted-sites.test.ts',
  },
  {
    name: 'erasure: each site waits separately',
    file: 'src/erasure/deleted-sites.ts',
    find: '(SELECT min(since) FROM waiting) <= now()',
    replace: 'since <= now()',
    caughtBy: 'test/erasure/deleted-sites.test.ts',
  },
  {
    name: 'erasure: events that arrive during the erasure count as erased',
    file: 'src/erasure/deleted-sites.ts',
    find: ' AND reopened_at::text IS NOT DISTINCT FROM known.reopened`',
    replace: '`',
    caughtBy: 'test/erasure/deleted-sites.test.ts',
  },
  {
    name: 'erasure: events that arrive later are rewritten at once',
    file: 'src/erasure/deleted-sites.ts',
    find: 'CASE WHEN rewritten_at IS NULL THEN waiting_since ELSE now() END',
    replace: 'waiting_since',
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
    name: 'erasure: old files count as removed',
    file: 'src/erasure/job.ts',
    find: ' || (await hasFilesOf(clickhouse, latest))) return',
    replace: ' || (await hasFilesOf(clickhouse, new Date(0)))) return',
    caughtBy: 'test/erasure/deleted-sites.test.ts',
  },
  {
    name: 'erasure: the clones of a backup count as removed',
    file: 'src/erasure/job.ts',
    find: '!latest || !areClonesGone || ',
    replace: '!latest || (!areClonesGone && false) || ',
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
    name: 'erasure: pages and referrers of a site are not erased',
    file: 'src/erasure/rows.ts',
    find: 'sql`long_rollups`, ',
    replace: '',
    caughtBy: 'test/erasure/rows.test.ts',
  },
]
