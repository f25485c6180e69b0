import type { Mutation } from './mutations.ts'

/** Breakages of the reports by e-mail: when they are due, their numbers, and texts of strangers in them. */
export const emailReports: readonly Mutation[] = [
  {
    name: 'report: due before the last of its sites has finished the period',
    file: 'src/email-reports/due.ts',
    find: 'Math.max(',
    replace: 'Math.min(',
    caughtBy: 'test/email-reports/due.test.ts',
  },
  {
    name: 'report: due at the second of two equal hours',
    file: 'src/email-reports/due.ts',
    find: "'compatible'",
    replace: "'later'",
    caughtBy: 'test/email-reports/due.test.ts',
  },
  {
    name: 'report: an hour that the clock skips is due too early',
    file: 'src/email-reports/due.ts',
    find: "'compatible'",
    replace: "'earlier'",
    caughtBy: 'test/email-reports/due.test.ts',
  },
  {
    name: 'report: it counts visitors of excluded countries',
    file: 'src/email-reports/site-rows.ts',
    find: 'stats.read({ report, site,',
    replace: 'stats.read({ report, site: { ...site, excludedCountries: [] },',
    caughtBy: 'check:reports -- --reports 40',
  },
  {
    name: 'report: the bars of the week before are those of another day',
    file: 'src/email-reports/numbers.ts',
    find: 'seriesBefore[index]?.visitors',
    replace: 'seriesBefore[(index + 1) % 7]?.visitors',
    caughtBy: 'test/email-reports/numbers.test.ts',
  },
  {
    name: 'report: the text part swaps two numbers',
    file: 'src/email-reports/site-text.ts',
    find: '          now,\n          before,',
    replace: '          before,\n          now,',
    caughtBy: 'test/email-reports/numbers.test.ts',
  },
  {
    name: 'report: one that comes hours late does not say so',
    file: 'src/email-reports/period.ts',
    find: 'now - dueAt <= lateMs',
    replace: 'now - dueAt <= 24 * lateMs',
    caughtBy: 'test/email-reports/letters.test.ts',
  },
  {
    name: 'mail: a name with a line break begins another header',
    file: 'src/mail/letter.ts',
    find: ".replace(breaks, ' ')",
    replace: '',
    caughtBy: 'test/mail/layout.test.ts',
  },
  {
    name: 'report: bidi characters of a path reach the reader',
    file: 'src/mail/letter.ts',
    find: ".replace(invisible, '')",
    replace: '',
    caughtBy: 'test/email-reports/strangers.test.ts',
  },
  {
    name: 'report: long paths make a letter that mail programs cut',
    file: 'src/email-reports/numbers.ts',
    find: 'const maxName = 80',
    replace: 'const maxName = 800',
    caughtBy: 'test/email-reports/strangers.test.ts',
  },
  {
    name: 'report: one with filters has the numbers of all visits',
    file: 'src/email-reports/site-rows.ts',
    find: '...filters.map(',
    replace: '...filters.slice(1).map(',
    caughtBy: 'test/email-reports/filters.test.ts',
  },
]
