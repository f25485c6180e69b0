// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
import type { Mutation } from './mutations.ts'

const parameters = 'test/unit/parameters.test.ts'
const effects = 'test/contract/parameters-in-effect.test.ts'
const preflight = 'test/contract/status/204-preflight.test.ts'
const pages = 'test/contract/reports/pages.test.ts'
const totals = 'test/contract/total-rows.test.ts'
const compression = 'test/contract/compression.test.ts'
const upgrade = 'test/integration/upgrade.test.ts'

/** Breakages of what the contract leaves open and an audit found wanting. */
export const contractMutations: Mutation[] = [
  {
    name: 'contract: a preflight allows only the headers we thought of',
    file: 'src/api/app.ts',
    find: '[...alwaysAllowed, ...more].join',
    replace: 'alwaysAllowed.join',
    caughtBy: 'test/e2e/cross-origin.test.ts',
  },
  {
    name: 'contract: a preflight repeats what is no list of names',
    file: 'src/api/app.ts',
    find: 'headerNames.test(asked) ? ',
    replace: 'asked && headerNames ? ',
    caughtBy: preflight,
  },
  {
    name: 'contract: a preflight names a header twice',
    file: 'src/api/app.ts',
    find: 'one.toLowerCase() === name.toLowerCase()',
    replace: 'one === name',
    caughtBy: preflight,
  },
  {
    name: 'contract: a hostname with a port is taken as it is',
    file: 'src/api/hostname.ts',
    find: '  if (foreign.test(text)) return undefined\n',
    replace:
      "  if (foreign.test(text.replace(/:\\d+$/, ''))) return undefined\n  if (text.includes(':')) return text\n",
    caughtBy: 'test/contract/status/400-invalid-parameter.test.ts',
  },
  {
    name: 'contract: an international host name is only lower-cased',
    file: 'src/api/hostname.ts',
    find: 'outsideAscii.test(text) ? domainToASCII(text) : text.toLowerCase()',
    replace: 'outsideAscii.test(domainToASCII(text)) ? text : text.toLowerCase()',
    caughtBy: effects,
  },
  {
    name: 'contract: the dot at the end of a host name stays',
    file: 'src/api/hostname.ts',
    find: "ascii.replace(/\\.$/, '')",
    replace: 'ascii',
    caughtBy: parameters,
  },
  {
    name: 'contract: a refused hostname is not told what to send',
    file: 'src/api/hostname.ts',
    find: 'const bare = hostOf(hostInAddress(text))',
    replace: 'const bare = hostOf(hostInAddress(text) && text)',
    caughtBy: parameters,
  },
  {
    name: 'contract: a parameter in brackets is ignored',
    file: 'src/api/parameters.ts',
    find: "name.endsWith(']') ? name.indexOf('[') : -1",
    replace: "name.endsWith('[') ? name.indexOf('[') : -1",
    caughtBy: parameters,
  },
  {
    name: 'contract: a parameter in another case is ignored',
    file: 'src/api/parameters.ts',
    find: 'name.slice(0, bracket)).toLowerCase()',
    replace: 'name.slice(0, bracket))',
    caughtBy: parameters,
  },
  {
    name: 'contract: a value that does not decode is missing',
    file: 'src/api/parameters.ts',
    find: '  if (value === null) {\n',
    replace: '  if (value === null && !name) {\n',
    caughtBy: parameters,
  },
  {
    name: 'contract: a time of day without effect is not told',
    file: 'src/api/parameters.ts',
    find: 'else if (value && dateTime.test(value))',
    replace: "else if (value && dateTime.test(value) && name === '')",
    caughtBy: effects,
  },
  {
    name: 'contract: a date needs its hyphens',
    file: 'src/api/parameters.ts',
    find: '-\\d{2}-\\d{2}|\\d{8})$/',
    replace: '-\\d{2}-\\d{2})$/',
    caughtBy: parameters,
  },
  {
    name: 'contract: visitors of an excluded country name a page',
    file: 'src/stats/reports/pages.ts',
    find: '  excludedCountries.length > 0\n',
    replace: '  excludedCountries.length > 999\n',
    caughtBy: pages,
  },
  {
    name: 'contract: titles are recorded without their country',
    file: 'src/traffic/recording.ts',
    find: '  pathname,\n  country,\n',
    replace: "  pathname,\n  country: country && '',\n",
    caughtBy: pages,
  },
  {
    name: 'contract: demo titles are recorded without their country',
    file: 'src/demo/statement.ts',
    find: 'SELECT site_id, pathname, country, max(',
    replace: "SELECT site_id, pathname, '' AS country, max(",
    caughtBy: 'test/demo/generate.test.ts',
  },
  {
    name: 'contract: a title without a country outranks one with',
    file: 'src/stats/reports/pages.ts',
    find: "max((country != '', latest))",
    replace: "max((country = '', latest))",
    caughtBy: upgrade,
  },
  {
    name: 'contract: the total is told of lists that are whole',
    file: 'src/api/stats-routes.ts',
    find: 'totalRows > parameters.limit',
    replace: 'totalRows >= parameters.limit',
    caughtBy: totals,
  },
  {
    name: 'contract: the total of countries is that of the limit',
    file: 'src/stats/reports/geo.ts',
    find: 'totalRows: rows.length',
    replace: 'totalRows: data.length',
    caughtBy: totals,
  },
  {
    name: 'contract: small bodies are compressed',
    file: 'src/api/compression.ts',
    find: 'const leastBytes = 1_000',
    replace: 'const leastBytes = 10',
    caughtBy: compression,
  },
  {
    name: 'contract: an encoding that the client refuses is sent',
    file: 'src/api/compression.ts',
    find: 'weight(best) > 0 && ',
    replace: '',
    caughtBy: compression,
  },
  {
    name: 'contract: a compressed body does not say so',
    file: 'src/api/app.ts',
    find: "    reply.header('Content-Encoding', encoding)\n",
    replace: '',
    caughtBy: compression,
  },
  {
    name: 'contract: a repeated answer carries no mark',
    file: 'src/api/stats-routes.ts',
    find: '[...warnings, repeated(now() - last.generatedAt)]',
    replace: '[...warnings, repeated(now() - last.generatedAt)].slice(0, warnings.length)',
    caughtBy: 'test/contract/answers-again.test.ts',
  },
  {
    name: 'contract: Retry-After counts whole seconds of the clock',
    file: 'src/api/rate-limit.ts',
    find: 'secondsLeft: Math.ceil((endsAt - now) / 1000),',
    replace: 'secondsLeft: Math.ceil(endsAt / 1000) - Math.floor(now / 1000),',
    caughtBy: 'test/contract/status/429-rate-limit-exceeded.test.ts',
  },
  {
    name: 'contract: Retry-After follows the clock of the process',
    file: 'src/api/rate-limit.ts',
    find: '{ count, endsAt }, redisNow)',
    replace: '{ count, endsAt }, redisNow && now())',
    caughtBy: 'test/checks/limit/schedules.test.ts',
  },
  {
    name: 'contract: a raw character in the address gets no hint',
    file: 'src/api/app.ts',
    find: "code === 'HPE_INVALID_URL'",
    replace: "code === 'HPE_URL'",
    caughtBy: 'test/contract/status/400-unparsed.test.ts',
  },
  {
    name: 'contract: a country is abbreviated',
    file: 'src/traffic/country.ts',
    find: "'Saint Lucia'",
    replace: "'St. Lucia'",
    caughtBy: 'test/unit/country.test.ts',
  },
  {
    name: 'contract: a page puts its title last',
    file: 'src/stats/reports/pages.ts',
    find: "({ pathname, title: titleOf.get(pathname) ?? '', ...counts })",
    replace: "({ pathname, ...counts, title: titleOf.get(pathname) ?? '' })",
    caughtBy: 'test/e2e/generated-docs.test.ts',
  },
]
