// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of what surrounds the code: documents, benches, development, CI and tests. */
export const project: readonly Mutation[] = [
  {
    name: 'onboarding: the nightly run misses a long check',
    file: '.github/workflows/nightly.yml',
    find: '          - tenant\n',
    replace: '',
    caughtBy: 'test/house/github.test.ts',
  },
  {
    name: 'onboarding: a workflow has invalid syntax',
    file: '.github/workflows/pull-request.yml',
    find: '    timeout-minutes: 30\n',
    replace: '   timeout-minutes: 30\n',
    caughtBy: 'test/house/github.test.ts',
  },
  {
    name: 'operations: the image uses the newest Node',
    file: 'Dockerfile',
    find: 'FROM node:26.10.0-bookworm-slim AS dependencies',
    replace: 'FROM node:26-bookworm-slim AS dependencies',
    caughtBy: 'test/house/pinning.test.ts',
  },
  {
    name: 'scale: a limit that is missed by little holds',
    file: 'bench/scale/judge.ts',
    find: 'ok: judged ? value <= bound : null',
    replace: 'ok: judged ? Math.floor(value) <= bound : null',
    caughtBy: 'test/bench/scale/judge.test.ts',
  },
  {
    name: 'scale: limits for whales apply to any site',
    file: 'bench/scale/judge.ts',
    find: 'boolean => sizes.whale >= whaleEvents',
    replace: 'boolean => sizes.whale >= whaleEvents / 1_000',
    caughtBy: 'test/bench/scale/judge.test.ts',
  },
  {
    name: 'scale: any number of rows may be read for an excluded country',
    file: 'bench/scale/judge.ts',
    find: "const groupingSets = filter === 'excluded' ? 3 : 1",
    replace: "const groupingSets = filter === 'excluded' ? 3_000 : 1",
    caughtBy: 'test/bench/scale/judge.test.ts',
  },
  {
    name: 'scale: a response that differs from raw events is not counted',
    file: 'bench/scale/judge.ts',
    find: 'compared.filter(({ same }) => same === false).length',
    replace: 'compared.filter(({ same }) => same === undefined).length',
    caughtBy: 'test/bench/scale/judge.test.ts',
  },
  {
    name: 'scale: a window that ends yesterday has one day too many',
    file: 'bench/scale/queries.ts',
    find: 'firstDay: lastDay.subtract(back).add({ days: 1 })',
    replace: 'firstDay: lastDay.subtract(back)',
    caughtBy: 'test/bench/scale/queries.test.ts',
  },
  {
    name: 'scale: today counts as rolled up',
    file: 'bench/scale/values.ts',
    find: '(day === `${period.lastDay}` && partialEnd(period) !== null)',
    replace: '(day === `${period.lastDay}` && partialEnd(period) === 0)',
    caughtBy: 'test/bench/scale/queries.test.ts',
  },
  {
    name: 'onboarding: tests run on another ClickHouse version than installations',
    file: 'compose.dev.yaml',
    find: 'clickhouse/clickhouse-server:26.7.3.19',
    replace: 'clickhouse/clickhouse-server:26.6.1.2',
    caughtBy: 'test/house/pinning.test.ts',
  },
  {
    name: 'scale: replicas need no disk',
    file: 'dev/docs/scale-arithmetic.ts',
    find: 'one.rawBytesAnEvent * keptDays.value * copies',
    replace: 'one.rawBytesAnEvent * keptDays.value',
    caughtBy: 'test/dev/docs/scale-arithmetic.test.ts',
  },
  {
    name: 'onboarding: npm run dev does not see changes in folders below src',
    file: 'dev/watched-process.ts',
    find: '{ recursive: true }',
    replace: '{ recursive: false }',
    caughtBy: 'test/dev/tutorial.test.ts',
  },
  {
    name: 'onboarding: npm run dev ends the old process and starts no new one',
    file: 'dev/watched-process.ts',
    find: '    await end(child)\n    child = start()\n',
    replace: '    await end(child)\n',
    caughtBy: 'test/dev/tutorial.test.ts',
  },
  {
    name: 'house: a record of a decision has no date',
    file: 'docs/decisions/D-71-closed-days-are-rolled-up.md',
    find: ' · Date: ',
    replace: ' · ',
    caughtBy: 'test/house/decisions.test.ts',
  },
  {
    name: 'house: a decision is missing from the metrics',
    file: 'docs/metrics.md',
    find: '### Session (D-4)',
    replace: '### Session',
    caughtBy: 'test/house/decisions.test.ts',
  },
  {
    name: 'invalidation: today is never invalidated, even when it is rolled up',
    file: 'test/support/world.ts',
    find: '    await invalidateDays(postgres, events)\n',
    replace:
      '    const today = Temporal.Instant.fromEpochMilliseconds(now()).toZonedDateTimeISO(zone).toPlainDate().toString()\n    await invalidateDays(postgres, events.filter(({ day }) => day < today))\n',
    caughtBy: 'test/rollups/zones.test.ts',
  },
]
