// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const page = 'test/console/dashboard.test.ts'
const hours = 'test/console/dashboard-hours.test.ts'
const faults = 'test/console/dashboard-faults.test.ts'
const browser = 'test/console/dashboard-browser.test.ts'
const csv = 'test/contract/csv.test.ts'
const instant = 'test/stats/instant.test.ts'

/** Breakages of the dashboard, of lists as CSV, and of the instant that the numbers of a page share. */
export const consoleDashboard: readonly Mutation[] = [
  {
    name: 'dashboard: shares of pages are of visitors',
    file: 'src/console/dashboard/lists.ts',
    find: 'halfUp(Number(row.views) * 100, pageviews)',
    replace: 'halfUp(Number(row.visitors) * 100, pageviews)',
    caughtBy: page,
  },
  {
    name: 'dashboard: the arrow says whether a change is good, not where it goes',
    file: 'src/console/dashboard/numbers.ts',
    find: "const arrow = change > 0 ? '▲' : '▼'",
    replace: "const arrow = isGood ? '▲' : '▼'",
    caughtBy: hours,
  },
  {
    name: 'dashboard: panels leave out a filter',
    file: 'src/console/dashboard/answers.ts',
    find: '{ ...parameters, limit: limitOf(state, report) }',
    replace: '{ ...parameters, filters: {}, limit: limitOf(state, report) }',
    caughtBy: page,
  },
  {
    name: 'dashboard: the dotted line has the days of the previous period until now, without the last',
    file: 'src/console/dashboard/answers.ts',
    find: "range: { name: 'custom', firstDay, lastDay } }",
    replace: "range: { name: 'custom', firstDay, lastDay: lastDay.subtract({ days: 1 }) } }",
    caughtBy: page,
  },
  {
    name: 'dashboard: the hours are one too late',
    file: 'src/stats/recent-events.ts',
    find: 'byAge.get(23 - index)',
    replace: 'byAge.get(24 - index)',
    caughtBy: hours,
  },
  {
    name: 'dashboard: an event exactly an hour ago is in the hour before',
    file: 'src/stats/recent-events.ts',
    find: '(end)}) - 1,',
    replace: '(end)}) - 0,',
    caughtBy: hours,
  },
  {
    name: 'dashboard: now is the last half hour',
    file: 'src/stats/recent-events.ts',
    find: 'const minutesOfNow = 5',
    replace: 'const minutesOfNow = 30',
    caughtBy: hours,
  },
  {
    name: 'dashboard: current visitors are counted with the excluded countries',
    file: 'src/stats/service.ts',
    find: '  filters,\n  excludedCountries,\n})',
    replace: '  filters,\n  excludedCountries: excludedCountries.slice(0, 0),\n})',
    caughtBy: hours,
  },
  {
    name: 'dashboard: a wrong parameter is ignored',
    file: 'src/console/dashboard/state.ts',
    find: "!(values.length === 1 && values[0] === '')",
    replace: "!(values[0] === '' || values[0] === 'XX')",
    caughtBy: faults,
  },
  {
    name: 'dashboard: an empty field of a form is refused',
    file: 'src/console/dashboard/state.ts',
    find: 'const query = withoutEmpty(readQueryString(url))',
    replace: 'const query = withoutEmpty(new Map()).size === 0 ? readQueryString(url) : new Map()',
    caughtBy: faults,
  },
  {
    name: 'dashboard: nothing is sent before everything is there',
    file: 'src/process/compression.ts',
    find: '      compressor.flush()\n',
    replace: '',
    caughtBy: faults,
  },
  {
    name: 'dashboard: a failing panel breaks the page',
    file: 'src/console/dashboard/answers.ts',
    find: "return { fault: 'These numbers",
    replace: "throw error\n      return { fault: 'These numbers",
    caughtBy: faults,
  },
  {
    name: 'dashboard: every range without visitors looks like a new site',
    file: 'src/console/dashboard/view.ts',
    find: '  if (hasEvents.value) {',
    replace: '  if (hasEvents.value && current.visitors > 0) {',
    caughtBy: faults,
  },
  {
    name: 'dashboard: shortcuts work while typing',
    file: 'src/console/assets/dashboard.js',
    find: ' || isTyping(event.target)',
    replace: ' || isTyping(document.body)',
    caughtBy: browser,
  },
  {
    name: 'dashboard: a range chosen on the chart loses the filters',
    file: 'src/console/assets/chart.js',
    find: 'new URL(range, location.href)',
    replace: "new URL(range.split('?')[0], location.href)",
    caughtBy: browser,
  },
  {
    name: 'dashboard: labels below the chart touch on a phone',
    file: 'src/console/dashboard/scale.ts',
    find: 'everyNth(wide, points, narrowPx)',
    replace: 'everyNth(wide, points, widePx)',
    caughtBy: 'test/console/scale.test.ts',
  },
  {
    name: 'csv: a text that looks like a formula stays one',
    file: 'src/stats/csv.ts',
    find: '/^[=+\\-@\\t\\r]/',
    replace: '/^[=\\-@\\t\\r]/',
    caughtBy: csv,
  },
  {
    name: 'csv: quotes inside a text are not doubled',
    file: 'src/stats/csv.ts',
    find: `.replaceAll('"', '""')`,
    replace: '',
    caughtBy: csv,
  },
  {
    name: 'csv: both formats have the same tag',
    file: 'src/api/stats-routes.ts',
    find: 'asCsv ? `${identity}.csv` : identity',
    replace: 'identity',
    caughtBy: csv,
  },
  {
    name: 'csv: a shared cache may answer JSON with CSV',
    file: 'src/api/stats-routes.ts',
    find: "...(isList(report) && { vary: 'Accept' }),\n",
    replace: '',
    caughtBy: csv,
  },
  {
    name: 'csv: a wildcard gets CSV',
    file: 'src/api/accepted-format.ts',
    find: "weights.get('text/csv') ?? 0",
    replace: "weights.get('text/csv') ?? weights.get('text/*') ?? 0",
    caughtBy: csv,
  },
  {
    name: 'instant: a page that began earlier replaces what the API answered later',
    file: 'src/stats/response-cache.ts',
    find: 'known.generatedAt <= response.generatedAt',
    replace: 'known.generatedAt !== response.generatedAt',
    caughtBy: instant,
  },
  {
    name: 'instant: queries for two instants are taken for one',
    file: 'src/stats/answers.ts',
    find: "asked.now ?? ''}`, signal",
    replace: 'state}`, signal',
    caughtBy: instant,
  },
  {
    name: 'instant: a page takes any fresh response',
    file: 'src/stats/response-cache.ts',
    find: 'response.generatedAt === generatedAt',
    replace: 'Math.abs(response.generatedAt - generatedAt) < freshMs',
    caughtBy: instant,
  },
  {
    name: 'meanings: a sentence of the dashboard is not that of the documents',
    file: 'src/stats/meanings.ts',
    find: 'Pages that were looked at.',
    replace: 'Pages that were opened.',
    caughtBy: 'test/stats/meanings.test.ts',
  },
]
