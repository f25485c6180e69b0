// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of the query service: queue, caches and plan. */
export const statsService: readonly Mutation[] = [
  {
    name: 'response cache: a client that disconnects cancels the query of the others',
    file: 'src/stats/coalescing.ts',
    find: 'if (shared.callers === 0 && signal.aborted) {',
    replace: 'if (signal.aborted) {',
    caughtBy: 'test/contract/response-cache.test.ts',
  },
  {
    name: 'faults: one key uses all ClickHouse slots',
    file: 'src/stats/fair-queue.ts',
    find: 'perKey = 4',
    replace: 'perKey = 16',
    caughtBy: 'test/faults/clickhouse-queries.test.ts',
  },
  {
    name: 'faults: the last response is sent for ever during an outage',
    file: 'src/stats/response-cache.ts',
    find: 'const longestMs = 10 * 60_000',
    replace: 'const longestMs = 1000 * 60_000',
    caughtBy: 'test/faults/clickhouse.test.ts',
  },
  {
    name: 'response cache: a response that includes today is cached for a minute',
    file: 'src/stats/response-cache.ts',
    find: 'const freshMs = 5_000',
    replace: 'const freshMs = 60_000',
    caughtBy: 'test/contract/response-cache.test.ts',
  },
  {
    name: 'response cache: a response is sent although the rollup versions have changed',
    file: 'src/stats/response-cache.ts',
    find: 'response?.state === state ? response : undefined',
    replace: 'response',
    caughtBy: 'test/contract/response-cache.test.ts',
  },
  {
    name: 'etag: follows generated_at',
    file: 'src/stats/service.ts',
    find: '`${cacheKey} ${text}`',
    replace: '`${cacheKey} ${text} ${generatedAt}`',
    caughtBy: 'test/contract/status/304-not-modified.test.ts',
  },
  {
    name: 'etag: equal data of two queries have the same tag',
    file: 'src/stats/service.ts',
    find: '`${cacheKey} ${text}`',
    replace: 'cacheKey && text',
    caughtBy: 'test/contract/status/304-not-modified.test.ts',
  },
  {
    name: 'response cache: titles are cached as long as a closed window',
    file: 'src/stats/prepared-query.ts',
    find: '      !report.showsTitles &&\n',
    replace: '',
    caughtBy: 'test/contract/response-cache.test.ts',
  },
  {
    name: 'response cache: a window that ends now is settled if today was closed in the previous zone',
    file: 'src/stats/prepared-query.ts',
    find: '      periods.current.end.epochMilliseconds < generatedAt.epochMilliseconds &&\n',
    replace: '',
    caughtBy: 'test/rollups/zones.test.ts',
  },
  {
    name: 'today: generated_at is the time of the request, not of the count',
    file: 'src/stats/prepared-query.ts',
    find: 'today?.asOf ?? askedAt',
    replace: 'askedAt',
    caughtBy: 'test/rollups/today.test.ts',
  },
  {
    name: 'retention: a partial day without events is returned',
    file: 'src/stats/query.ts',
    find: 'endsInDroppedDay(periods.previous, coverage)',
    replace: "endsInDroppedDay(periods.previous, { ...coverage, eventsFrom: '1970-01-01' })",
    caughtBy: 'test/contract/retention.test.ts',
  },
  {
    name: 'retention: no warning says that the previous window has the whole day',
    file: 'src/stats/prepared-query.ts',
    find: 'warnings: periods === asked ? [] : [wholeDay(asked.previous)],',
    replace: 'warnings: [],',
    caughtBy: 'test/contract/retention.test.ts',
  },
  {
    name: 'contract: complete lists get Stats-Total-Rows',
    file: 'src/stats/service.ts',
    find: 'totalRows > parameters.limit',
    replace: 'totalRows >= parameters.limit',
    caughtBy: 'test/contract/total-rows.test.ts',
  },
]
