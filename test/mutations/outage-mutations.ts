// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const connections = 'test/unit/postgres.test.ts'
const serving = 'test/faults/serve-start.test.ts'

/** Breakages by which an outage of a store ends a process, halves a transaction, or is waited for without a word. */
export const outageMutations: Mutation[] = [
  {
    name: 'outages: the driver reads the types of arrays for each connection',
    file: 'src/stores/postgres.ts',
    find: 'fetch_types: false, ',
    replace: '',
    caughtBy: connections,
  },
  {
    name: "outages: transactions are the driver's own",
    file: 'src/stores/postgres.ts',
    find: 'Object.assign(pool, { reserve, begin, end })',
    replace: 'Object.assign(pool, { end })',
    caughtBy: connections,
  },
  {
    name: 'outages: a transaction goes on with another connection',
    file: 'src/stores/postgres.ts',
    find: 'if (socket) return brokenSocket()',
    replace: "if (url === '') return brokenSocket()",
    caughtBy: connections,
  },
  {
    name: 'outages: a transaction that PostgreSQL undid is taken for done',
    file: 'src/stores/postgres.ts',
    find: "if (command === 'ROLLBACK')\n",
    replace: "if (command === 'UNDONE')\n",
    caughtBy: connections,
  },
  {
    name: 'outages: a text in a list ends at its backslash',
    file: 'src/stores/postgres.ts',
    find: 'value.replace(/[\\\\"]/g',
    replace: 'value.replace(/["]/g',
    caughtBy: connections,
  },
  {
    name: 'outages: a ClickHouse that goes away under a migration is a mistake in it',
    file: 'src/stores/clickhouse.ts',
    find: '        if (!isFault(error)) throw error\n        throw new Unavailable',
    replace: '        if (!isFault(error) || text) throw error\n        throw new Unavailable',
    caughtBy: 'test/unit/clickhouse.test.ts',
  },
  {
    name: 'outages: serve ends when PostgreSQL is down at start',
    file: 'src/cli/serve.ts',
    find: "isOutage(error) ? 'PostgreSQL' : undefined",
    replace: 'isOutage(error) ? undefined : undefined',
    caughtBy: serving,
  },
  {
    name: 'outages: serve says with every attempt what it waits for',
    file: 'src/cli/serve.ts',
    find: 'if (missing !== before) log.warn',
    replace: 'if (missing !== undefined || before) log.warn',
    caughtBy: serving,
  },
  {
    name: 'outages: serve waits for a migration that cannot be applied',
    file: 'src/cli/serve.ts',
    find: 'if (!missing) throw error',
    replace: 'if (signal.aborted) throw error',
    caughtBy: serving,
  },
  {
    name: 'outages: a migration waits for a ClickHouse that hangs without a word',
    file: 'src/stores/migrate.ts',
    find: '  await clickhouse.rows(sql`SELECT 1`)\n',
    replace: '  if (!text) await clickhouse.rows(sql`SELECT 1`)\n',
    caughtBy: serving,
  },
]
