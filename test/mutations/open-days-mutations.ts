// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const caughtBy = 'test/folding/open-days.test.ts'

/** Breakages of counting and reading the open days of busy sites. */
export const openDaysMutations: Mutation[] = [
  {
    name: 'open days: a count of any age is read',
    file: 'src/stats/plan.ts',
    find: ' && now - open.asOf <= oldestMs',
    replace: '',
    caughtBy,
  },
  {
    name: 'open days: an answer tells the moment it was asked for',
    file: 'src/api/stats-routes.ts',
    find: 'open?.asOf ?? askedAt',
    replace: 'askedAt',
    caughtBy,
  },
  {
    name: 'open days: yesterday is read from the events until it is closed',
    file: 'src/folding/open-days.ts',
    find: 'dayAfter(lastClosedDay(zone, asOf))',
    replace: 'dayOf(zone, asOf)',
    caughtBy,
  },
  {
    name: 'open days: today is read twice',
    file: 'src/stats/plan.ts',
    find: 'without([all], [...folded, ...counted])',
    replace: 'without([all], folded)',
    caughtBy,
  },
  {
    name: 'parts of days: one is read although events for its day have come since',
    file: 'src/stats/plan.ts',
    find: 'fold.version === part.version',
    replace: 'fold.version > 0',
    caughtBy,
  },
  {
    name: 'parts of days: one of another instant is read',
    file: 'src/stats/plan.ts',
    find: 'one.day === day && one.until === partialEnd(period)',
    replace: 'one.day === day',
    caughtBy: 'test/folding/plan.test.ts',
  },
  {
    name: 'parts of days: sessions that began later count too',
    file: 'src/folding/statements.ts',
    find: 'sql` HAVING ${begunInTime}`',
    replace: 'sql``',
    caughtBy,
  },
  {
    name: 'parts of days: a session counts for hosts that it saw later',
    file: 'src/folding/statements.ts',
    find: 'groupUniqArrayIf(hostname, ${inTime})',
    replace: 'groupUniqArray(hostname)',
    caughtBy,
  },
  {
    name: 'open days: every site is busy',
    file: 'src/folding/open-days.ts',
    find: 'last_day_events >= ${least} AND',
    replace: 'true OR ${least} = 0 AND',
    caughtBy,
  },
]
