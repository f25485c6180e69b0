// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const folding = (name: string) => `test/folding/${name}.test.ts`
const again = 'test/contract/answers-again.test.ts'

const report = (name: string) => `test/contract/reports/${name}.test.ts`

/** Written by a reader, and the same by the engine: only both together are taken for another. */
const lengths = [
  '` ${Buffer.byteLength(value)}:${value}` : ` ${value}`',
  '',
  '/** The same in the engine: the part of a column, which may be any expression. */',
  'const partIn = (column: Narrowing, value: Sql): Sql =>',
  "  column === 'hostname' || column === 'utmSource'",
  "    ? sql`concat(' ', toString(length(${value}))",
].join('\n')

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
    find: 'const months = byMonth\n',
    replace: 'const months = folds\n',
    caughtBy: folding('plan'),
  },
  {
    name: 'cells: a filter on a source reads every source',
    file: 'src/stats/cells.ts',
    find: '(value === undefined ? []',
    replace: "(value === undefined || column === 'utmSource' ? []",
    caughtBy: folding('answers'),
  },
  {
    name: 'cells: an excluded country is not taken off',
    file: 'src/stats/cells.ts',
    find: 'read(sql`-`, {',
    replace: 'read(sql`0 * `, {',
    caughtBy: folding('answers'),
  },
  {
    name: 'cells: an excluded country stays in the list of countries',
    file: 'src/stats/cells.ts',
    find: "shows === 'country') return [read(sql``, named, true)]",
    replace: "shows === 'country') return [read(sql``, named, !shows)]",
    caughtBy: folding('answers'),
  },
  {
    name: 'cells: of what a place leaves open, everything counts',
    file: 'src/stats/cells.ts',
    find: 'columns.slice(open + 1).filter((column) => chosen[column])',
    replace: '[]',
    caughtBy: 'test/house/tallies.test.ts',
  },
  {
    name: 'places: a place forgets its version',
    file: 'src/stats/places.ts',
    find: '`${span} ${version} ${dimension} ${cell}`',
    replace: '`${span} 1 ${dimension} ${cell}`',
    caughtBy: folding('answers'),
  },
  {
    name: 'places: a question is about another version',
    file: 'src/stats/cells.ts',
    find: 'placeOf(span, version, name, cell)',
    replace: 'placeOf(span, segments[0]?.version ?? version, name, cell)',
    caughtBy: 'test/house/tallies.test.ts',
  },
  {
    name: 'places: a host or source does not tell its length',
    file: 'src/stats/places.ts',
    find: lengths,
    replace: lengths.replace('${Buffer.byteLength(value)}:', '0:').replace('toString(length(${value}))', "'0'"),
    caughtBy: folding('places'),
  },
  {
    name: 'channels: the total is counted as a channel',
    file: 'src/stats/reports/channels.ts',
    find: "      .filter(({ channel }) => channel !== '')\n",
    replace: '',
    caughtBy: report('channels'),
  },
  {
    name: 'erasure: pages and referrers of a site stay',
    file: 'src/traffic/erasure.ts',
    find: 'sql`long_tallies`, ',
    replace: '',
    caughtBy: folding('erasure'),
  },
  {
    name: 'sweep: pages and referrers stay',
    file: 'src/folding/fold.ts',
    find: '  await clickhouse.run(sql`DELETE FROM long_tallies WHERE ${rowsOf(some)}`)\n',
    replace: '',
    caughtBy: folding('ledger'),
  },
  {
    name: 'fold: months of a cell hold those of the cells whose number begins with its own',
    file: 'src/folding/statements.ts',
    find: 'startsWith(place, ${text(`${place} `)})) AND ${onDays(one.days)})`',
    replace: 'startsWith(place, ${text(place)})) AND ${onDays(one.days)})`',
    caughtBy: folding('answers'),
  },
  {
    name: 'migration: tallies of days whose events are gone are left behind',
    file: 'migrations/clickhouse/0013_long_tallies.sql',
    find: "WHERE has(['page', 'referrer']",
    replace: "WHERE NOT has(['page', 'referrer']",
    caughtBy: 'test/integration/upgrade.test.ts',
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
    name: 'fold: a month is summed up although one of its days is not there',
    file: 'src/folding/fold.ts',
    find: 'if (lengthOf(readable.flatMap(({ days }) => days)) < lengthOf(months)) return undefined',
    replace: '',
    caughtBy: folding('ledger'),
  },
  {
    name: 'loop: a day closes at midnight',
    file: 'src/folding/calendar.ts',
    find: 'const graceMs = 30 * 60_000',
    replace: 'const graceMs = 0',
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
    name: 'answers: titles are kept with a closed window',
    file: 'src/api/stats-routes.ts',
    find: "        name !== 'pages' &&\n",
    replace: '',
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
