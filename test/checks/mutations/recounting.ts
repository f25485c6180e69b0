// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

/** Breakages of counting answers again from events. */
export const recounting: readonly Mutation[] = [
  {
    name: 'recounting: an event on its way to PostgreSQL is a difference',
    file: 'src/recounting/visit.ts',
    find: 'await sleep(settleMs, undefined, { signal })',
    replace: 'await sleep(0, undefined, { signal })',
    caughtBy: 'test/recounting/recounting.test.ts',
  },
  {
    name: 'recounting: a day with a difference is not rolled up again',
    file: 'src/recounting/visit.ts',
    find: '  await rebuildDay(stores, siteId, day)\n',
    replace: '',
    caughtBy: 'test/recounting/recounting.test.ts',
  },
  {
    name: 'recounting: a visited day may be visited again in the same round',
    file: 'src/recounting/rounds.ts',
    find: 'visited = visited + ${visited}::text::datemultirange',
    replace: 'visited = ${visited}::text::datemultirange',
    caughtBy: 'test/recounting/recounting.test.ts',
  },
  {
    name: 'recounting: there is no pause after a visit',
    file: 'src/recounting/rounds.ts',
    find: 'due_at = now() + ${`${restMs} milliseconds`}::text::interval',
    replace: 'due_at = now() + ${`${0 * restMs} milliseconds`}::text::interval',
    caughtBy: 'test/recounting/recounting.test.ts',
  },
  {
    name: 'recounting: a visit with one pageview and an event is a bounce',
    file: 'src/recounting/statements.ts',
    find: ' AND countIf(NOT ${isPageview}) = 0)',
    replace: ')',
    caughtBy: 'test/recounting/recounting.test.ts',
  },
  {
    name: 'recounting: the pause is shorter than the work deserves',
    file: 'src/recounting/loop.ts',
    find: 'const restPerWork = 135',
    replace: 'const restPerWork = 2',
    caughtBy: 'test/recounting/cost.test.ts',
  },
  {
    name: 'dashboard: differences of recounted answers are hidden',
    file: 'src/console/dashboard/note.ts',
    find: 'if (differences === 0)',
    replace: 'if (differences >= 0)',
    caughtBy: 'test/console/recounted.test.ts',
  },
  {
    name: 'doctor: an open difference is no failure',
    file: 'src/cli/recount-state.ts',
    find: 'if (open > 0)',
    replace: 'if (open < 0)',
    caughtBy: 'test/cli/recounted.test.ts',
  },
]
