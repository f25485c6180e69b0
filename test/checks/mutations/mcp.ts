import type { Mutation } from './mutations.ts'

/** Breakages of the tools for assistants. */
export const mcp: readonly Mutation[] = [
  {
    name: 'mcp: the days of a range are those of UTC',
    file: 'src/mcp/inputs.ts',
    find: 'rangeParameters(request, dayIn(timeZone, now))',
    replace: "rangeParameters(request, dayIn('UTC', now))",
    caughtBy: 'test/mcp/inputs.test.ts',
  },
  {
    name: 'mcp: a filter is forgotten',
    file: 'src/mcp/inputs.ts',
    find: '...filters.map(',
    replace: '...filters.slice(1).map(',
    caughtBy: 'test/mcp/questions.test.ts',
  },
  {
    name: 'mcp: a part of a day is called the day',
    file: 'src/mcp/answers.ts',
    find: 'until: timeOf(end)',
    replace: 'until: null',
    caughtBy: 'test/api/mcp.test.ts',
  },
  {
    name: 'mcp: the name of the API is not understood',
    file: 'src/mcp/inputs.ts',
    find: "['siteid', ",
    replace: '[',
    caughtBy: 'test/api/mcp.test.ts',
  },
  {
    name: 'mcp: a call is not counted',
    file: 'src/mcp/server.ts',
    find: '    await admit?.()\n',
    replace: '',
    caughtBy: 'test/api/mcp.test.ts',
  },
  {
    name: 'mcp: a batch of calls is answered',
    file: 'src/api/mcp-routes.ts',
    find: 'if (Array.isArray(message))',
    replace: 'if (Array.isArray(message) && message.length > 100)',
    caughtBy: 'test/api/mcp.test.ts',
  },
  {
    name: 'mcp: names are shown as visitors sent them',
    file: 'src/mcp/tools/breakdown.ts',
    find: '[by]: visitorText(value)',
    replace: '[by]: value',
    caughtBy: 'test/mcp/questions.test.ts',
  },
  {
    name: 'mcp: a list says that it is complete',
    file: 'src/mcp/tools/breakdown.ts',
    find: 'const total = answer.totalRows ?? rows.length',
    replace: 'const total = rows.length',
    caughtBy: 'test/mcp/questions.test.ts',
  },
  {
    name: 'mcp: a site key lists every site of its account',
    file: 'src/api/mcp-routes.ts',
    find: 'await resolveSites(key, new Map(), directory)',
    replace: 'await directory.sitesOf(key.accountId)',
    caughtBy: 'check:tenant -- --only assistants',
  },
  {
    name: 'mcp: a page of any origin may call it',
    file: 'src/api/mcp-routes.ts',
    find: 'if (origin === undefined || allowed.includes(origin)) return',
    replace: 'if (origin === undefined || allowed.length > 0) return',
    caughtBy: 'test/api/mcp.test.ts',
  },
  {
    name: 'mcp: an overview is refused because of the days before',
    file: 'src/mcp/tools/overview.ts',
    find: 'if (reason === undefined) throw error',
    replace: 'if (reason !== error) throw error',
    caughtBy: 'test/mcp/overview.test.ts',
  },
  {
    name: 'mcp: a question has half of the time of a request',
    file: 'src/api/mcp-routes.ts',
    find: '{ startedAt: performance.now() }',
    replace: '{ startedAt: performance.now() - 2_500 }',
    caughtBy: 'test/api/mcp-times.test.ts',
  },
]
