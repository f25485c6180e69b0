// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const relation = 'src/stats/daily-totals-of-sites.ts'
const summaries = 'test/stats/site-summaries.test.ts'
const overview = 'test/stats/sites-overview.test.ts'
const contract = 'test/contract/sites.test.ts'

/** Breakages of the numbers of many sites, and of the endpoints about them. */
export const statsSites: readonly Mutation[] = [
  {
    name: 'sites: a period that ends within a day before 1970 cannot be read',
    file: relation,
    find: '${ints(periods.map((period) => partialEnd(period)',
    replace: '${uints(periods.map((period) => partialEnd(period)',
    caughtBy: overview,
  },
  {
    name: 'summaries: days of a version that is no longer readable are counted',
    file: relation,
    find: '      AND day BETWEEN first AND last\n',
    replace: '',
    caughtBy: summaries,
  },
  {
    name: 'summaries: excluded countries are added',
    file: relation,
    find: 'if(subtracts = 1, -${column}, ${column})',
    replace: 'if(subtracts = 2, -${column}, ${column})',
    caughtBy: summaries,
  },
  {
    name: 'summaries: events of excluded countries are counted',
    file: relation,
    find: ' AND NOT ${isExcluded(sites)}',
    replace: '',
    caughtBy: summaries,
  },
  {
    name: 'summaries: the previous period is compared with whole days',
    file: relation,
    find: '${ints(periods.map((period) => partialEnd(period) ?? Number.MAX_SAFE_INTEGER))} AS ends',
    replace: '${ints(sites.map((site) => partialEnd(site.current) ?? Number.MAX_SAFE_INTEGER))} AS ends',
    caughtBy: summaries,
  },
  {
    name: 'summaries: today is counted in UTC for those who are there now',
    file: 'src/stats/site-summaries.ts',
    find: 'AND day BETWEEN ${date(utcDay(start, -1))} AND ${date(utcDay(now, 1))}',
    replace: 'AND day BETWEEN ${date(utcDay(start, 0))} AND ${date(utcDay(now, 0))}',
    caughtBy: summaries,
  },
  {
    name: 'summaries: rollups of today are left out',
    file: relation,
    find: '    ...storedTotals(queries, sql`today_rollups`, ({ today }) => today),\n',
    replace: '',
    caughtBy: summaries,
  },
  {
    name: 'sites: a partial first day is counted from midnight',
    file: relation,
    find: 'partialStart(period) ?? 0',
    replace: '(partialStart(period) ?? 0) * 0',
    caughtBy: overview,
  },
  {
    name: 'sites: the host filter has no effect on events',
    file: relation,
    find: 'hostname === undefined ? sql`true` : sql`hostname = ${text(hostname)}`',
    replace: 'sql`true`',
    caughtBy: overview,
  },
  {
    name: 'sites: the source filter has no effect',
    file: relation,
    find: '  if (utmSource !== undefined) conditions.push(sql`utm_source = ${text(utmSource)}`)\n',
    replace: '',
    caughtBy: overview,
  },
  {
    name: 'sites: rollups by country are subtracted although they leave out excluded countries',
    file: relation,
    find: " || has(set, 'country')",
    replace: '',
    caughtBy: overview,
  },
  {
    name: 'sites: the numbers of one site are shown for another',
    file: 'src/stats/sites-overview.ts',
    find: '...overviewOf(bySite.get(siteId) ?? [])',
    replace: '...overviewOf(rows)',
    caughtBy: overview,
  },
  {
    name: 'sites: an account key reads the sites of all accounts',
    file: 'src/accounts/sites.ts',
    find: 'FROM sites WHERE account_id = ${accountId}`',
    replace: 'FROM sites WHERE ${accountId}::text IS NOT NULL`',
    caughtBy: contract,
  },
  {
    name: 'sites: a site key reads all sites of its account',
    file: 'src/api/access.ts',
    find: "if (key.siteId === null && !query.has('site_id'))",
    replace: "if (!query.has('site_id'))",
    caughtBy: contract,
  },
  {
    name: 'sites: a page begins with the last site of the page before it',
    file: 'src/api/sites-routes.ts',
    find: 'domain > after',
    replace: 'domain >= after',
    caughtBy: contract,
  },
  {
    name: 'sites: a full last page has a next one',
    file: 'src/api/sites-routes.ts',
    find: 'rest.length > limit ?',
    replace: 'rest.length >= limit ?',
    caughtBy: contract,
  },
  {
    name: 'sites: any cursor is accepted',
    file: 'src/stats/cursor.ts',
    find: ' || cursorAfter(domain) !== text',
    replace: '',
    caughtBy: contract,
  },
  {
    name: 'sites: a new page does not change the tag',
    file: 'src/api/sites-routes.ts',
    find: 'identityOf(`${result.identity} ${JSON.stringify(paging)}`)',
    replace: 'result.identity',
    caughtBy: contract,
  },
  {
    name: 'sites: the tag changes with the time',
    file: 'src/stats/service.ts',
    find: '({ ...row, start: period.start })',
    replace: '({ ...row, period })',
    caughtBy: overview,
  },
  {
    name: 'sites: only the first of several statements is read',
    file: relation,
    find: 'return rows.flat()',
    replace: 'return rows.slice(0, 1).flat()',
    caughtBy: overview,
  },
  {
    name: 'tenant: a statement about several sites names others',
    file: relation,
    find: 'site_id IN ${texts(group.map(({ siteId }) => siteId))}',
    replace: "site_id IN ${texts([...group.map(({ siteId }) => siteId), 'site_aaaaaaaaaaaaaaaa'])}",
    caughtBy: 'check:tenant -- --only statements --queries 2000',
  },
  {
    name: 'tenant: an account key reads the sites of all accounts',
    file: 'src/accounts/sites.ts',
    find: 'FROM sites WHERE account_id = ${accountId}`',
    replace: 'FROM sites WHERE ${accountId}::text IS NOT NULL`',
    caughtBy: 'check:tenant -- --only traffic --requests 1000',
  },
  {
    name: 'oracle: a session of many sites counts in every period that it touches',
    file: relation,
    find: 'hits > 0 AND ${inWindow(sql`started`, (column) => sql`any(${column})`)} AS counted',
    replace: 'hits > 0 AS counted',
    caughtBy: 'check:oracle -- --worlds 40 --requests 40',
  },
  {
    name: 'fuzz: the list of sites takes a limit of 999',
    file: 'src/stats/parameters.ts',
    find: 'limit: { usual: 200, most: 200 }',
    replace: 'limit: { usual: 200, most: 999 }',
    caughtBy: 'check:fuzz -- --n 30000',
  },
  {
    name: 'countries: a key is needed',
    file: 'src/api/app.ts',
    find: '  app.register(async (scope) => countryRoutes(scope, services.now)',
    replace:
      "  app.addHook('preHandler', async ({ url, headers }) => {\n    if (url.includes('countries') && !headers.authorization) throw new ApiError('unauthorized')\n  })\n  app.register(async (scope) => countryRoutes(scope, services.now)",
    caughtBy: 'test/contract/countries.test.ts',
  },
]
