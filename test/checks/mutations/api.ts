import type { Mutation } from './mutations.ts'

/** Breakages of the process of the API: its application, workers, metrics and documentation. */
export const api: readonly Mutation[] = [
  {
    name: 'gate: an internal error reveals its message',
    file: 'src/api/app.ts',
    find: "reply.header('Retry-After', 1)\n    return refuse(reply, new ApiError('internal_error'))",
    replace: "return refuse(reply, new ApiError('internal_error', (error as Error).message))",
    caughtBy: 'test/contract/status/500-internal-error.test.ts',
  },
  {
    name: 'gate: a 401 does not name the scheme',
    file: 'src/api/app.ts',
    find: "if (error.status === 401) reply.header('WWW-Authenticate', 'Bearer')",
    replace: '',
    caughtBy: 'test/contract/headers.test.ts',
  },
  {
    name: 'operations: /readyz returns 200 until the end',
    file: 'src/api/app.ts',
    find: '    if (isEnding()) reply.code(503)\n',
    replace: '',
    caughtBy: 'test/faults/process-ending.test.ts',
  },
  {
    name: 'fuzz: a 401 does not say how to authenticate',
    file: 'src/api/app.ts',
    find: "if (error.status === 401) reply.header('WWW-Authenticate', 'Bearer')",
    replace: '',
    caughtBy: 'check:fuzz -- --n 30000',
  },
  {
    name: 'slowloris: slow connections are checked every half a minute, the default of Node',
    file: 'src/api/app.ts',
    find: 'connectionsCheckingInterval: 1_000',
    replace: 'connectionsCheckingInterval: 30_000',
    caughtBy: 'check:slowloris -- --sockets 200',
  },
  {
    name: 'canary: metrics are labelled with the request',
    file: 'src/api/app.ts',
    find: "knownPaths.has(path) ? path : 'unknown'",
    replace: 'request.url',
    caughtBy: 'check:canary',
  },
  {
    name: 'canary: request headers are logged with a failure',
    file: 'src/api/app.ts',
    find: 'log.error({ requestId: request.id,',
    replace: 'log.error({ headers: request.headers, requestId: request.id,',
    caughtBy: 'check:canary',
  },
  {
    name: 'contract: a compressed response has no Content-Encoding',
    file: 'src/api/app.ts',
    find: "    reply.header('Content-Encoding', encoding)\n",
    replace: '',
    caughtBy: 'test/contract/compression.test.ts',
  },
  {
    name: 'onboarding: a report without an example breaks the reference page',
    file: 'src/api/reference/cards.ts',
    find: "value === undefined ? 'No example yet: npm run docs writes it.' : JSON",
    replace: 'JSON',
    caughtBy: 'test/dev/tutorial.test.ts',
  },
  {
    name: 'explain: statements are logged without being requested',
    file: 'src/api/service.ts',
    find: 'config.FOOTFALL_EXPLAIN ? log : undefined',
    replace: 'log',
    caughtBy: 'test/stores/clickhouse-explain.test.ts',
  },
  {
    name: 'operations: processes with a busy port are restarted for ever',
    file: 'src/api/worker-supervisor.ts',
    find: '      if (!hasStarted && code === 1) process.exit(1)',
    replace: '      if (!hasStarted && code === 99) process.exit(1)',
    caughtBy: 'test/faults/process-start.test.ts',
  },
  {
    name: 'deploy: a process that is ending still asks for traffic',
    file: 'src/api/app.ts',
    find: "    if (isEnding()) reply.code(503)\n    return { status: isEnding() ? 'ending' : 'ready' }",
    replace: "    void reply\n    return { status: 'ready' }",
    caughtBy: 'check:deploy -- --restarts 4',
  },
]
