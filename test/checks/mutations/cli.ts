// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of the command line: backup and restore, secrets, the terminal. */
export const cli: readonly Mutation[] = [
  {
    name: 'backup: the list of deleted sites is missing',
    file: 'src/cli/backup.ts',
    find: "'imports',\n  'deleted_sites',\n] as const",
    replace: "'imports',\n] as const",
    caughtBy: 'test/cli/backup.test.ts',
  },
  {
    name: 'backup: rows are counted in a table that changes',
    file: 'src/cli/backup.ts',
    find: 'countRows(clickhouse, table, clones[table], until)',
    replace: 'countRows(clickhouse, table, originals[table], until)',
    caughtBy: 'test/cli/backup-under-traffic.test.ts',
  },
  {
    name: 'backup: it contains the salt of a running import',
    file: 'src/cli/backup-control.ts',
    find: 'NULL::bytea AS salt',
    replace: 'salt',
    caughtBy: 'test/cli/backup-under-traffic.test.ts',
  },
  {
    name: 'retention: a backup omits what cannot be rolled up again',
    file: 'src/cli/backup.ts',
    find: '    const { before, ...rolledUp } = await writeRolledUpForGood(control, folder)\n',
    replace:
      "    const { before: _, ...rolledUp } = await writeRolledUpForGood(control, folder)\n    const before = '1970-01-01'\n",
    caughtBy: 'test/cli/backup.test.ts',
  },
  {
    name: 'restore: a backup from before a new column cannot be restored',
    file: 'src/cli/backup-control.ts',
    find: 'INSERT INTO ${postgres(table)} (${columns}) SELECT ${columns} FROM',
    replace: 'INSERT INTO ${postgres(table)} SELECT * FROM',
    caughtBy: 'test/cli/backup.test.ts',
  },
  {
    name: 'cluster: a backup holds the first shard only',
    file: 'src/cli/backup.ts',
    find: 'for (const clickhouse of context.cluster.shards) {',
    replace: 'for (const clickhouse of context.cluster.shards.slice(0, 1)) {',
    caughtBy: 'test/stores/cluster.test.ts',
  },
  {
    name: 'cluster: a backup is restored into fewer shards',
    file: 'src/cli/backup.ts',
    find: 'if (shards < manifest.shards) {',
    replace: 'if (shards < 0) {',
    caughtBy: 'test/stores/cluster.test.ts',
  },
  {
    name: 'retention: 24 months are accepted',
    file: 'src/config/parsers.ts',
    find: 'Number(text) < 25',
    replace: 'Number(text) < 24',
    caughtBy: 'test/config.test.ts',
  },
  {
    name: 'retention: showing what would be dropped confirms it',
    file: 'src/cli/rollup.ts',
    find: '    if (confirmed) await declareRetention',
    replace: '    await declareRetention',
    caughtBy: 'test/cli/erasure.test.ts',
  },
  {
    name: 'operations: every user may read the secret file',
    file: 'src/cli/secret.ts',
    find: "{ flag: 'a', mode: 0o600 }",
    replace: "{ flag: 'a', mode: 0o644 }",
    caughtBy: 'test/cli/commands.test.ts',
  },
  {
    name: 'collector: starts only with the key secrets',
    file: 'src/config.ts',
    find: "readConfigOrExit(['KEY_SECRETS', 'OIDC_CLIENT_SECRET'])",
    replace: 'readConfigOrExit()',
    caughtBy: 'test/collector/http/event-route.test.ts',
  },
  {
    name: 'outages: serve ends when PostgreSQL is down at start',
    file: 'src/cli/serve.ts',
    find: "isOutage(error) ? 'PostgreSQL' : undefined",
    replace: 'isOutage(error) ? undefined : undefined',
    caughtBy: 'test/faults/serve-start.test.ts',
  },
  {
    name: 'terminal: a redirect gets the key',
    file: 'src/cli/remote-source.ts',
    find: "redirect: 'manual'",
    replace: "redirect: 'follow'",
    caughtBy: 'test/cli/stats-remote.test.ts',
  },
]
