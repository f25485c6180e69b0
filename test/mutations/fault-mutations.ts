// What the tests with broken neighbours must notice.
import type { Mutation } from './mutations.ts'

const faults = (name: string) => `test/faults/${name}.test.ts`

export const faultMutations: Mutation[] = [
  {
    name: 'faults: a key that cannot be looked up is unknown',
    file: 'src/accounts/directory.ts',
    find: 'await bounded.read(() => selectKey(postgres, secrets, text))',
    replace: 'await bounded.read(() => selectKey(postgres, secrets, text)).catch(() => [])',
    caughtBy: faults('postgres'),
  },
  {
    name: 'faults: what is known of keys and sites lasts a minute without PostgreSQL',
    file: 'src/accounts/directory.ts',
    find: 'const standardUnconfirmedMs = 15 * 60_000',
    replace: 'const standardUnconfirmedMs = 60_000',
    caughtBy: faults('postgres-health'),
  },
  {
    name: 'faults: a neighbour that does not answer is asked by every request',
    file: 'src/stores/breaker.ts',
    find: 'if (!isUp) throw new Unavailable',
    replace: 'if (closed) throw new Unavailable',
    caughtBy: faults('clickhouse'),
  },
  {
    name: 'faults: the last answer is repeated for ever',
    file: 'src/api/answers.ts',
    find: 'const longestMs = 10 * 60_000',
    replace: 'const longestMs = 1000 * 60_000',
    caughtBy: faults('clickhouse'),
  },
  {
    name: 'faults: a question goes on after its client went away',
    file: 'src/stores/clickhouse.ts',
    find: '      cancel_http_readonly_queries_on_client_close: 1,\n',
    replace: '',
    caughtBy: faults('clickhouse-queries'),
  },
  {
    name: 'faults: a key takes all turns at the engine',
    file: 'src/api/turns.ts',
    find: 'perKey = 4',
    replace: 'perKey = 16',
    caughtBy: faults('clickhouse-queries'),
  },
  {
    name: 'faults: a process that ends breaks what is on its way',
    file: 'src/process/listening.ts',
    find: 'server.closeIdleConnections = () => void setTimeout(closeIdle, graceMs)',
    replace: 'server.closeIdleConnections = closeIdle',
    caughtBy: faults('process-ending'),
  },
  {
    name: 'faults: without Redis there is no limit',
    file: 'src/api/rate-limit.ts',
    find: 'return spendLocally(mirror, keyId, limit, now())',
    replace: 'return spending(true, limit, { count: 1, endsAt: now() + windowMs })',
    caughtBy: faults('redis'),
  },
]
