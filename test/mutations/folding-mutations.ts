// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const folding = (name: string) => `test/folding/${name}.test.ts`
const again = 'test/contract/answers-again.test.ts'

/** Breakages of folding, of reading what is folded, and of answers that are given again. */
export const foldingMutations: Mutation[] = [
  {
    name: 'plan: a partial last day is read folded',
    file: 'src/stats/plan.ts',
    find: 'partialEnd(period) === null ? all[1] : dayBefore(all[1])',
    replace: 'all[1]',
    caughtBy: folding('plan'),
  },
  {
    name: 'plan: a month is read for a part of it',
    file: 'src/stats/plan.ts',
    find: "const from = first.endsWith('-01') ? first : nextMonth(first)",
    replace: 'const from = `${first.slice(0, 8)}01`',
    caughtBy: folding('plan'),
  },
  {
    name: 'plan: months in a timeseries',
    file: 'src/stats/plan.ts',
    find: 'const months = byDay\n    ? []\n    : ',
    replace: 'const months = ',
    caughtBy: folding('plan'),
  },
  {
    name: 'cells: a filter on a source reads every source',
    file: 'src/stats/cells.ts',
    find: '  if (utmSource !== undefined) conditions.push(sql`utm_source = ${text(utmSource)}`)\n',
    replace: '',
    caughtBy: folding('answers'),
  },
  {
    name: 'cells: an excluded country is not taken off',
    file: 'src/stats/cells.ts',
    find: '{ sign: sql`-1`,',
    replace: '{ sign: sql`0`,',
    caughtBy: folding('answers'),
  },
  {
    name: 'facts: every version of a day counts',
    file: 'src/stats/facts.ts',
    find: ' AND version = ${uint(version)} AND ',
    replace: ' AND ',
    caughtBy: folding('ledger'),
  },
  {
    name: 'fold: a session counts for one host only',
    file: 'src/folding/statements.ts',
    find: "arrayMap(one -> (4, one, ''), hosts)",
    replace: "arrayMap(one -> (4, one, ''), arraySlice(arraySort(hosts), -1))",
    caughtBy: folding('answers'),
  },
  {
    name: 'fold: a custom event alone is a bounce',
    file: 'src/folding/statements.ts',
    find: "count() = 1 AND any(name) = 'pageview' AS bounced",
    replace: 'count() <= 3 AS bounced',
    caughtBy: folding('answers'),
  },
  {
    name: 'ledger: a fold is written under a version that its days had before',
    file: 'src/folding/ledger.ts',
    find: 'AND NOT ${transaction(written)} && ${asked}::text::datemultirange),',
    replace: '),',
    caughtBy: folding('ledger'),
  },
  {
    name: 'fold: a month is summed up although one of its days is not there',
    file: 'src/folding/fold.ts',
    find: 'if (lengthOf(readable.flatMap(({ days }) => days)) < lengthOf(months)) return undefined',
    replace: '',
    caughtBy: folding('ledger'),
  },
  {
    name: 'late days: a fold under way is not told',
    file: 'src/traffic/late-days.ts',
    find: 'pending_days = pending_days - ${kept.days}::text::datemultirange,',
    replace: 'pending_days = pending_days,',
    caughtBy: folding('ledger'),
  },
  {
    name: 'late days: the month stays',
    file: 'src/traffic/late-days.ts',
    find: '            months = months - ${kept.months}::text::datemultirange,\n',
    replace: '',
    caughtBy: folding('ledger'),
  },
  {
    name: 'loop: a day closes at midnight',
    file: 'src/folding/loop.ts',
    find: 'const graceMs = 30 * 60_000',
    replace: 'const graceMs = 0',
    caughtBy: folding('loop'),
  },
  {
    name: 'loop: nobody asks for the lock',
    file: 'src/folding/loop.ts',
    find: 'if (!row.locked) return undefined',
    replace: '',
    caughtBy: folding('loop'),
  },
  {
    name: 'answers: an open day is given again for a minute',
    file: 'src/api/answers.ts',
    find: 'const freshMs = 5_000',
    replace: 'const freshMs = 60_000',
    caughtBy: again,
  },
  {
    name: 'answers: other folds, same answer',
    file: 'src/api/answers.ts',
    find: 'if (!answer || answer.state !== state) return undefined',
    replace: 'if (!answer) return undefined',
    caughtBy: again,
  },
  {
    name: 'answers: an event for a settled day that is looked at again is not noticed',
    file: 'src/traffic/late-days.ts',
    find: '::text::date - 1, late = late + 1',
    replace: '::text::date - 1',
    caughtBy: again,
  },
  {
    name: 'answers: titles are kept with a closed window',
    file: 'src/api/stats-routes.ts',
    find: "name !== 'pages' && !readsOpenDays",
    replace: '!readsOpenDays',
    caughtBy: again,
  },
  {
    name: 'answers: whoever leaves ends the question for all',
    file: 'src/api/answers.ts',
    find: 'if (shared.waiting === 0 && signal.aborted) {',
    replace: 'if (signal.aborted) {',
    caughtBy: again,
  },
]
