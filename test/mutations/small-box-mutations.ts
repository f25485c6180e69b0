// Breakages of what operators of a small box rely on: settings that doctor reads, last uses, bounds of a request, metrics.
import type { Mutation } from './mutations.ts'

const settings = 'src/cli/clickhouse-settings.ts'
const settingsTest = 'test/cli/clickhouse-settings.test.ts'

export const smallBoxMutations: Mutation[] = [
  {
    name: 'small box: settings of a profile are not looked at',
    file: settings,
    find: '[...exceeding(server, serverLimits), ...exceeding(profile, profileLimits)]',
    replace: 'exceeding(server, serverLimits)',
    caughtBy: settingsTest,
  },
  {
    name: 'small box: a large machine is told to be small',
    file: settings,
    find: '<= smallMachineBytes',
    replace: '> 0',
    caughtBy: settingsTest,
  },
  {
    name: 'small box: a log that ends by itself is named',
    file: settings,
    find: " AND engine_full NOT LIKE '% TTL %'",
    replace: '',
    caughtBy: settingsTest,
  },
  {
    name: 'small box: doctor expects another cache than deploy/clickhouse sets',
    file: settings,
    find: 'mark_cache_size: 134_217_728',
    replace: 'mark_cache_size: 268_435_456',
    caughtBy: settingsTest,
  },
  {
    name: 'last use: all keys in one statement',
    file: 'src/accounts/last-use.ts',
    find: 'const mostAtOnce = 500',
    replace: 'const mostAtOnce = 500_000',
    caughtBy: 'test/contract/last-use.test.ts',
  },
  {
    name: 'collector: a request may name any number of sites',
    file: 'src/collector/event-route.ts',
    find: '.size > mostDomains)',
    replace: '.size > 1_000)',
    caughtBy: 'test/collector/event-endpoint.test.ts',
  },
  {
    name: 'rollup lag: days close at midnight UTC',
    file: 'src/traffic/fold-lag.ts',
    find: ' AT TIME ZONE time_zone',
    replace: " AT TIME ZONE 'UTC'",
    caughtBy: 'test/folding/lag.test.ts',
  },
  {
    name: 'rollup lag: the last folded day is already missing',
    file: 'src/traffic/fold-lag.ts',
    find: '(max(upper(days)) + 1)',
    replace: '(max(upper(days)))',
    caughtBy: 'test/folding/lag.test.ts',
  },
]
