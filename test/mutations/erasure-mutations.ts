// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const purging = 'test/folding/purging.test.ts'
const dropping = 'test/folding/retention.test.ts'
const commands = 'test/cli/erasure.test.ts'
const backups = 'test/cli/backup-under-traffic.test.ts'
const salts = 'test/collector/salts.test.ts'

/** Breakages of erasing deleted sites, of dropping by clocks that agree, and of backups that stand still. */
export const erasureMutations: Mutation[] = [
  {
    name: 'erasure: rows are masked and stay in the files',
    file: 'src/traffic/erasure.ts',
    find: 'APPLY DELETED MASK IN PARTITION ID ${text(partition)}`, {',
    replace: "APPLY DELETED MASK IN PARTITION ID ${text(partition && '197001')}`, {",
    caughtBy: purging,
  },
  {
    name: 'erasure: old files count as gone',
    file: 'src/folding/erasures.ts',
    find: ' || (await hasFilesOf(clickhouse, latest))) return',
    replace: ' || (await hasFilesOf(clickhouse, new Date(0)))) return',
    caughtBy: purging,
  },
  {
    name: 'erasure: the clones of a backup count as gone',
    file: 'src/folding/erasures.ts',
    find: '!latest || !areClonesGone || ',
    replace: '!latest || (!areClonesGone && false) || ',
    caughtBy: purging,
  },
  {
    name: 'erasure: parts are rewritten with every deletion',
    file: 'src/accounts/deleted-sites.ts',
    find: "export const rewriteEvery = '7 days'",
    replace: "export const rewriteEvery = '0 days'",
    caughtBy: purging,
  },
  {
    name: 'erasure: each site waits for itself',
    file: 'src/accounts/deleted-sites.ts',
    find: '(SELECT min(since) FROM waiting) <= now()',
    replace: 'since <= now()',
    caughtBy: purging,
  },
  {
    name: 'erasure: what arrives while rows are erased is taken for erased',
    file: 'src/accounts/deleted-sites.ts',
    find: ' AND reopened_at::text IS NOT DISTINCT FROM known.reopened`',
    replace: '`',
    caughtBy: purging,
  },
  {
    name: 'erasure: what arrives later is rewritten at once',
    file: 'src/accounts/deleted-sites.ts',
    find: 'CASE WHEN rewritten_at IS NULL THEN waiting_since ELSE now() END',
    replace: 'waiting_since',
    caughtBy: purging,
  },
  {
    name: 'erasure: a restored site is erased',
    file: 'src/accounts/deleted-sites.ts',
    find: 'NOT EXISTS (SELECT FROM sites WHERE sites.id = deleted_sites.id)`',
    replace: 'true`',
    caughtBy: purging,
  },
  {
    name: 'erasure: an outage makes the deletion fail',
    file: 'src/cli/site.ts',
    find: '      () => false,\n',
    replace: '      (error) => Promise.reject(error),\n',
    caughtBy: commands,
  },
  {
    name: 'erasure: what folds leaves deleted sites alone',
    file: 'src/cli/fold.ts',
    find: '      if (!input.options.watch && siteId === undefined) await eraseRound(context)\n',
    replace: '',
    caughtBy: commands,
  },
  {
    name: 'retention: any clock will do',
    file: 'src/folding/retention.ts',
    find: '  if (!clocksAgree(clocks)) return undefined\n',
    replace: '',
    caughtBy: dropping,
  },
  {
    name: 'retention: the clock of this machine decides',
    file: 'src/folding/retention.ts',
    find: 'firstKeptDay(months, clocks.postgres)',
    replace: 'firstKeptDay(months, clocks.own)',
    caughtBy: dropping,
  },
  {
    name: 'retention: however many months go at once',
    file: 'src/folding/retention.ts',
    find: 'plan.months.length > 1',
    replace: 'plan.months.length > 1000',
    caughtBy: dropping,
  },
  {
    name: 'retention: showing what goes confirms it',
    file: 'src/cli/fold.ts',
    find: '    if (confirmed) await declareKept',
    replace: '    await declareKept',
    caughtBy: commands,
  },
  {
    name: 'salts: a clock that is wrong deletes them',
    file: 'src/collector/salts.ts',
    find: '  if (Math.abs(theirs - now) > clockToleranceMs) return false\n',
    replace: '',
    caughtBy: salts,
  },
  {
    name: 'salts: the clock of the collector decides',
    file: 'src/collector/salts.ts',
    find: 'new Date(theirs).toISOString()',
    replace: 'new Date(now).toISOString()',
    caughtBy: salts,
  },
  {
    name: 'backup: rows are counted in a table that goes on',
    file: 'src/cli/backup.ts',
    find: 'countRows(context, table, clones[table], until)',
    replace: 'countRows(context, table, originals[table], until)',
    caughtBy: backups,
  },
  {
    name: 'backup: titles are counted as the engine happens to have merged them',
    file: 'src/cli/backup.ts',
    find: "    table === 'titles'\n",
    replace: "    table === 'titles' && from !== clones.titles\n",
    caughtBy: backups,
  },
  {
    name: 'backup: its clones stay',
    file: 'src/traffic/snapshot.ts',
    find: '    } finally {\n      await dropClones(clickhouse)\n    }',
    replace: '    } finally {\n    }',
    caughtBy: backups,
  },
  {
    name: 'backup: the salt of an import under way is in it',
    file: 'src/cli/backup.ts',
    find: 'NULL::bytea AS salt',
    replace: 'salt',
    caughtBy: 'test/cli/backup-under-traffic.test.ts',
  },
]
