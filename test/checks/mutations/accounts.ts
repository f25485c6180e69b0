import type { Mutation } from './mutations.ts'

/** Breakages of who may ask: accounts, keys, sites and the directory. */
export const accounts: readonly Mutation[] = [
  {
    name: 'directory: another database with the same count goes unnoticed',
    file: 'src/accounts/directory.ts',
    find: 'start !== undefined && start !== row?.start',
    replace: 'start !== undefined && start === undefined',
    caughtBy: 'test/accounts/directory.test.ts',
  },
  {
    name: 'directory: an entry that changed while it was read is cached',
    file: 'src/accounts/directory.ts',
    find: 'if (generation !== startGeneration || ',
    replace: 'if (generation < startGeneration || ',
    caughtBy: 'test/accounts/directory.test.ts',
  },
  {
    name: 'directory: a lost notification is never found',
    file: 'src/accounts/directory.ts',
    find: 'if (version !== current && !heardMeanwhile) {',
    replace: 'if (version === undefined) {',
    caughtBy: 'test/accounts/directory.test.ts',
  },
  {
    name: 'directory: a change of plan invalidates nothing',
    file: 'src/accounts/directory.ts',
    find: 'subjects: [row.id, row.account_id]',
    replace: 'subjects: [row.id]',
    caughtBy: 'test/contract/changes.test.ts',
  },
  {
    name: 'endpoint: an unknown site stays unknown after it was created',
    file: 'src/accounts/directory.ts',
    find: "    if (subject.startsWith('site_')) forget(anySite)\n",
    replace: '',
    caughtBy: 'test/collector/http/event-route.test.ts',
  },
  {
    name: 'faults: a key that cannot be looked up counts as unknown',
    file: 'src/accounts/directory.ts',
    find: 'await bounded.read(() => selectKey(postgres, secrets, text))',
    replace: 'await bounded.read(() => selectKey(postgres, secrets, text)).catch(() => [])',
    caughtBy: 'test/faults/postgres.test.ts',
  },
  {
    name: 'faults: cached keys and sites last only a minute without PostgreSQL',
    file: 'src/accounts/directory.ts',
    find: 'const standardUnconfirmedMs = 15 * minuteMs',
    replace: 'const standardUnconfirmedMs = 60_000',
    caughtBy: 'test/faults/postgres-health.test.ts',
  },
  {
    name: 'keys: the checksum is not checked',
    file: 'src/accounts/key-text.ts',
    find: 'return shape.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength)',
    replace: 'return shape.test(text)',
    caughtBy: 'test/accounts/key-text.test.ts',
  },
  {
    name: 'canary: half of a key is stored as its display prefix',
    file: 'src/accounts/key-text.ts',
    find: 'text.slice(0, 9)',
    replace: 'text.slice(0, 24)',
    caughtBy: 'check:canary',
  },
  {
    name: 'keys: every form makes a new key',
    file: 'src/accounts/keys.ts',
    find: "nonce === undefined ? newId('key')",
    replace: "nonce !== '' ? newId('key')",
    caughtBy: 'test/console/keys.test.ts',
  },
  {
    name: 'console sites: sites of every account are listed',
    file: 'src/accounts/sites.ts',
    find: 'FROM sites WHERE account_id IN ',
    replace: 'FROM sites WHERE account_id IS NOT NULL OR account_id IN ',
    caughtBy: 'test/console/sites.test.ts',
  },
]
