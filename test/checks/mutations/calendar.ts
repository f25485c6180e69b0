import type { Mutation } from './mutations.ts'

/** Breakages of days and periods. */
export const calendar: readonly Mutation[] = [
  {
    name: 'plan: a month is read for a part of it',
    file: 'src/calendar/days.ts',
    find: "const from = first.endsWith('-01') ? first : firstOfNextMonth(first)",
    replace: 'const from = firstOfMonth(first)',
    caughtBy: 'test/rollups/plan.test.ts',
  },
  {
    name: 'loop: a day closes at midnight',
    file: 'src/calendar/days.ts',
    find: 'const graceMs = 30 * 60_000',
    replace: 'const graceMs = 0',
    caughtBy: 'test/rollups/loop.test.ts',
  },
  {
    name: 'period: 7d is eight days',
    file: 'src/calendar/periods.ts',
    find: 'today.subtract({ days: days - 1 })',
    replace: 'today.subtract({ days })',
    caughtBy: 'test/calendar/periods.test.ts',
  },
  {
    name: 'period: the previous window is one day too late',
    file: 'src/calendar/periods.ts',
    find: 'now, { days })',
    replace: 'now, { days: days - 1 })',
    caughtBy: 'test/calendar/periods.test.ts',
  },
  {
    name: 'period: 12m contains one date twice',
    file: 'src/calendar/periods.ts',
    find: 'today.subtract({ months: 12 }).add({ days: 1 })',
    replace: 'today.subtract({ months: 12 })',
    caughtBy: 'test/calendar/periods.test.ts',
  },
  {
    name: 'period: a custom range excludes its last date',
    file: 'src/calendar/periods.ts',
    find: 'const stop = startOf(lastDay.add({ days: 1 }), now.timeZoneId)',
    replace: 'const stop = startOf(lastDay, now.timeZoneId)',
    caughtBy: 'test/contract/ranges.test.ts',
  },
  {
    name: 'period: a custom range is not cut at now',
    file: 'src/calendar/periods.ts',
    find: 'isBefore(now, stop) ? { ...touched(start, now), firstDay } : ',
    replace: '',
    caughtBy: 'test/calendar/periods.test.ts',
  },
  {
    name: 'period: windows overlap where a zone skipped a day',
    file: 'src/calendar/periods.ts',
    find: 'end: earlier(wallClock, earlier(nextDay, start)),',
    replace: 'end: wallClock,',
    caughtBy: 'test/calendar/periods.test.ts',
  },
  {
    name: 'period: 24h is a calendar day',
    file: 'src/calendar/periods.ts',
    find: 'const start = now.subtract({ hours: 24 })',
    replace: 'const start = now.subtract({ days: 1 })',
    caughtBy: 'test/calendar/periods.test.ts',
  },
]
