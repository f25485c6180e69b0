// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
// Deliberate breakages, each of which some test must notice: a check counts once it was seen to fail. `run.ts` makes them one
// by one in a copy of the tree. Add one with every new rule.
import { checkMutations } from './check-mutations.ts'
import { collectorMutations } from './collector-mutations.ts'
import { contractMutations } from './contract-mutations.ts'
import { erasureMutations } from './erasure-mutations.ts'
import { faultMutations } from './fault-mutations.ts'
import { foldingMutations } from './folding-mutations.ts'
import { ledgerMutations } from './ledger-mutations.ts'
import { limiterMutations } from './limiter-mutations.ts'
import { limitsMutations } from './limits-mutations.ts'
import { openDaysMutations } from './open-days-mutations.ts'
import { operationsMutations } from './operations-mutations.ts'
import { outageMutations } from './outage-mutations.ts'
import { retentionMutations } from './retention-mutations.ts'
import { scaleMutations } from './scale-mutations.ts'
import { shipperMutations } from './shipper-mutations.ts'
import { smallBoxMutations } from './small-box-mutations.ts'
import { trackerMutations } from './tracker-mutations.ts'
import { valuesMutations } from './values-mutations.ts'

export interface Mutation {
  name: string
  file: string
  /** Occurs exactly once in the file. */
  find: string
  replace: string
  /** The test file that must go red, or the check: `check:sqli -- --n 5000`. */
  caughtBy: string
}

const status = (name: string) => `test/contract/status/${name}.test.ts`
const report = (name: string) => `test/contract/reports/${name}.test.ts`
const contract = (name: string) => `test/contract/${name}.test.ts`
const unit = (name: string) => `test/unit/${name}.test.ts`
const house = (name: string) => `test/house/${name}.test.ts`

const gate: Mutation[] = [
  {
    name: 'gate: a key still works at the instant it expires',
    file: 'src/api/access.ts',
    find: 'now() >= key.expiresAt',
    replace: 'now() > key.expiresAt',
    caughtBy: contract('keys'),
  },
  {
    name: 'gate: expired outranks disabled',
    file: 'src/api/access.ts',
    find: "  if (key.disabled) throw new ApiError('key_disabled')\n",
    replace:
      "  if (key.disabled && !(key.expiresAt !== null && now() > key.expiresAt)) throw new ApiError('key_disabled')\n",
    caughtBy: contract('order-of-checks'),
  },
  {
    name: 'gate: the plan is checked before the state of the key',
    file: 'src/api/access.ts',
    find: "  if (key.disabled) throw new ApiError('key_disabled')\n",
    replace:
      "  if (!plans[key.plan]) throw new ApiError('plan_required')\n  if (key.disabled) throw new ApiError('key_disabled')\n",
    caughtBy: contract('order-of-checks'),
  },
  {
    name: 'gate: plan_required carries rate limit headers',
    file: 'src/api/access.ts',
    find: "  if (!plan) throw new ApiError('plan_required')\n",
    replace: "  if (!plan) {\n    reply.header('X-RateLimit-Limit', 0)\n    throw new ApiError('plan_required')\n  }\n",
    caughtBy: contract('headers'),
  },
  {
    name: 'gate: the headers of the rate limit come only with what is allowed',
    file: 'src/api/access.ts',
    find: "  reply.headers({ 'X-RateLimit-Limit'",
    replace: "  if (allowed) reply.headers({ 'X-RateLimit-Limit'",
    caughtBy: status('429-rate-limit-exceeded'),
  },
  {
    name: 'gate: any scheme will do',
    file: 'src/api/access.ts',
    find: '/^bearer +',
    replace: '/^[a-z]+ +',
    caughtBy: status('401-unauthorized'),
  },
  {
    name: "gate: a site of somebody else's account is open",
    file: 'src/api/access.ts',
    find: 'if (site?.accountId !== key.accountId)',
    replace: 'if (!site)',
    caughtBy: status('403-forbidden'),
  },
  {
    name: 'gate: a site key reads every site of its account',
    file: 'src/api/access.ts',
    find: '(key.siteId !== null && id !== key.siteId)',
    replace: 'false',
    caughtBy: status('403-forbidden'),
  },
  {
    name: 'gate: a bug tells its message',
    file: 'src/api/app.ts',
    find: "reply.header('Retry-After', 1)\n    return refuse(reply, new ApiError('internal_error'))",
    replace: "return refuse(reply, new ApiError('internal_error', (error as Error).message))",
    caughtBy: status('500-internal-error'),
  },
  {
    name: 'gate: 401 does not name the scheme',
    file: 'src/api/app.ts',
    find: "if (error.status === 401) reply.header('WWW-Authenticate', 'Bearer')",
    replace: '',
    caughtBy: contract('headers'),
  },
]

const parameters: Mutation[] = [
  {
    name: 'parameters: limit goes to 999',
    file: 'src/api/parameters.ts',
    find: '|| Number(text) > 100',
    replace: '|| Number(text) > 999',
    caughtBy: unit('parameters'),
  },
  {
    name: 'parameters: of a repeated one the first is taken',
    file: 'src/api/parameters.ts',
    find: "  if (values.length > 1) throw new ApiError('invalid_parameter', `${name} may be sent only once.`)\n",
    replace: '',
    caughtBy: unit('parameters'),
  },
  {
    name: 'parameters: dates are checked before the other parameters',
    file: 'src/api/parameters.ts',
    find: "  const range = one(query, 'range', readRange)",
    replace: "  oneDate(query, 'start')\n  const range = one(query, 'range', readRange)",
    caughtBy: contract('order-of-checks'),
  },
  {
    name: 'parameters: unsupported filters are told after invalid ones',
    file: 'src/api/parameters.ts',
    find: 'readParameters(query: QueryString): Parameters {\n  refuseUnsupportedFilters(query)\n',
    replace:
      "readParameters(query: QueryString): Parameters {\n  one(query, 'limit', readLimit)\n  refuseUnsupportedFilters(query)\n",
    caughtBy: contract('order-of-checks'),
  },
  {
    name: 'parameters: an unknown one is not warned of',
    file: 'src/api/parameters.ts',
    find: '.filter((name) => !(parameterNames as readonly string[]).includes(name))',
    replace: '.filter(() => false)',
    caughtBy: unit('parameters'),
  },
  {
    name: 'query string: a broken escape is an empty value',
    file: 'src/api/query-string.ts',
    find: 'return null',
    replace: "return ''",
    caughtBy: unit('query-string'),
  },
]

const periods: Mutation[] = [
  {
    name: 'period: 7d is eight days',
    file: 'src/stats/period.ts',
    find: 'today.subtract({ days: days - 1 })',
    replace: 'today.subtract({ days })',
    caughtBy: unit('period'),
  },
  {
    name: 'period: the previous window is one day too near',
    file: 'src/stats/period.ts',
    find: 'now, { days })',
    replace: 'now, { days: days - 1 })',
    caughtBy: unit('period'),
  },
  {
    name: 'period: 12m holds one date twice',
    file: 'src/stats/period.ts',
    find: 'today.subtract({ months: 12 }).add({ days: 1 })',
    replace: 'today.subtract({ months: 12 })',
    caughtBy: unit('period'),
  },
  {
    name: 'period: the last date of a custom range is not in it',
    file: 'src/stats/period.ts',
    find: 'const stop = startOf(lastDay.add({ days: 1 }), now.timeZoneId)',
    replace: 'const stop = startOf(lastDay, now.timeZoneId)',
    caughtBy: contract('ranges'),
  },
  {
    name: 'period: a custom range is not cut at now',
    file: 'src/stats/period.ts',
    find: 'isBefore(now, stop) ? { ...touched(start, now), firstDay } : ',
    replace: '',
    caughtBy: unit('period'),
  },
  {
    name: 'period: windows overlap where a zone skipped a day',
    file: 'src/stats/period.ts',
    find: 'end: earlier(wallClock, earlier(nextDay, start)),',
    replace: 'end: wallClock,',
    caughtBy: unit('period'),
  },
  {
    name: 'period: 24h is a calendar day',
    file: 'src/stats/period.ts',
    find: 'const start = now.subtract({ hours: 24 })',
    replace: 'const start = now.subtract({ days: 1 })',
    caughtBy: unit('period'),
  },
]

const scope: Mutation[] = [
  {
    name: 'scope: every site',
    file: 'src/stats/query.ts',
    find: 'sql`site_id = ${text(siteId)}`',
    replace: "sql`${text(siteId)} != ''`",
    caughtBy: house('statements'),
  },
  {
    name: 'scope: a single excluded country stays in',
    file: 'src/stats/query.ts',
    find: 'if (excludedCountries.length > 0)',
    replace: 'if (excludedCountries.length > 1)',
    caughtBy: contract('exclusions'),
  },
  {
    name: 'scope: the exclusion yields to a filter',
    file: 'src/stats/query.ts',
    find: 'if (excludedCountries.length > 0)',
    replace: 'if (excludedCountries.length > 0 && filters.country === undefined)',
    caughtBy: contract('exclusions'),
  },
  {
    name: 'scope: the first instant is outside',
    file: 'src/stats/query.ts',
    find: '${time} >= ${instant(from)}',
    replace: '${time} > ${instant(from)}',
    caughtBy: contract('range-edges'),
  },
  {
    name: 'scope: now is inside',
    file: 'src/stats/query.ts',
    find: '${time} < ${instant(until)}',
    replace: '${time} <= ${instant(until)}',
    caughtBy: contract('range-edges'),
  },
  {
    name: 'scope: the titles of every site',
    file: 'src/stats/reports/pages.ts',
    find: '    ? sql`site_id = ${text(siteId)} AND',
    replace: "    ? sql`${text(siteId)} != '' AND",
    caughtBy: house('statements'),
  },
]

const numbers: Mutation[] = [
  {
    name: 'numbers: a session with a custom event is a bounce',
    file: 'src/stats/facts.ts',
    find: 'session_events = 1 AND session_views = 1',
    replace: 'session_views = 1',
    caughtBy: report('overview'),
  },
  {
    name: 'numbers: pages count custom events',
    file: 'src/stats/dimensions.ts',
    find: "value: sql`pathname`,\n    hits: sql`name = 'pageview'`",
    replace: 'value: sql`pathname`,\n    hits: sql`true`',
    caughtBy: report('pages'),
  },
  {
    name: 'numbers: pageview is listed as an event',
    file: 'src/stats/dimensions.ts',
    find: "hits: sql`name != 'pageview'`",
    replace: 'hits: sql`true`',
    caughtBy: report('events'),
  },
  {
    name: 'rounding: down instead of half up',
    file: 'src/stats/rounding.ts',
    find: 'Math.floor((2 * numerator + denominator) / (2 * denominator))',
    replace: 'Math.floor(numerator / denominator)',
    caughtBy: unit('rounding'),
  },
  {
    name: 'rounding: a change may be -0',
    file: 'src/stats/rounding.ts',
    find: 'return tenths === 0 ? 0 : (Math.sign',
    replace: 'return (Math.sign',
    caughtBy: unit('rounding'),
  },
  {
    name: 'rounding: from nothing to something is 100 %',
    file: 'src/stats/rounding.ts',
    find: 'if (previous === 0) return null',
    replace: 'if (previous === 0) return current === 0 ? null : 100',
    caughtBy: report('overview'),
  },
  {
    name: 'order: pages with equal views are not ordered by visitors',
    file: 'src/stats/reports/pages.ts',
    find: 'ORDER BY views DESC, visitors DESC, pathname',
    replace: 'ORDER BY views DESC, pathname',
    caughtBy: report('pages'),
  },
  {
    name: 'order: ties of geo go by code',
    file: 'src/stats/reports/geo.ts',
    find: '.map(({ code, visitors }) => ({ name: countryNames[code], visitors }))\n      .sort((one, other) => other.visitors - one.visitors || (one.name < other.name ? -1 : 1))',
    replace:
      '.sort((one, other) => other.visitors - one.visitors || (one.code < other.code ? -1 : 1))\n      .map(({ code, visitors }) => ({ name: countryNames[code], visitors }))',
    caughtBy: report('geo'),
  },
]

const limiter: Mutation[] = [
  {
    name: 'limiter: a refused request is counted, in memory',
    file: 'src/api/rate-limit.ts',
    find: 'if (allowed) window.count++',
    replace: 'window.count++',
    caughtBy: unit('rate-limit'),
  },
  {
    name: 'limiter: one too many is let through, in Redis',
    file: 'src/api/rate-limit.ts',
    find: 'local allowed = count < limit',
    replace: 'local allowed = count <= limit',
    caughtBy: unit('rate-limit'),
  },
  {
    name: 'limiter: every request moves the window, in Redis',
    file: 'src/api/rate-limit.ts',
    find: 'if held_end <= now then count, window_end = 0, now + ${windowMs} end',
    replace: 'window_end = now + ${windowMs} if held_end <= now then count = 0 end',
    caughtBy: unit('rate-limit'),
  },
  {
    name: 'limiter: a refused request is counted, in Redis',
    file: 'src/api/rate-limit.ts',
    find: 'if allowed then count = count + 1 end',
    replace: 'count = count + 1',
    caughtBy: unit('rate-limit'),
  },
  {
    name: 'limiter: an emptied Redis hands out a second quota',
    file: 'src/api/rate-limit.ts',
    find: '[limit, seen.count, seen.endsAt]',
    replace: '[limit, 0, 0]',
    caughtBy: unit('rate-limit'),
  },
]

const stores: Mutation[] = [
  {
    name: 'sql: a bare string runs',
    file: 'src/stores/clickhouse-sql.ts',
    find: 'if (!(fragment in Object(hole)) && !(parameter in Object(hole))) {',
    replace: "if (typeof hole === 'undefined') {",
    caughtBy: unit('clickhouse-sql'),
  },
  {
    name: 'sql: equal values of two types share a parameter',
    file: 'src/stores/clickhouse-sql.ts',
    find: '`${type} ${JSON.stringify(value)}`',
    replace: 'String(value)',
    caughtBy: unit('clickhouse-sql'),
  },
  {
    name: 'migrate: an edited file is not noticed',
    file: 'src/stores/migrate.ts',
    find: 'if (known && known !== checksum)',
    replace: 'if (known && !checksum)',
    caughtBy: unit('migrate'),
  },
  {
    name: 'migrate: two processes at once',
    file: 'src/stores/migrate.ts',
    find: 'SELECT pg_advisory_lock(${lock})',
    replace: 'SELECT ${lock}::int',
    caughtBy: unit('migrate'),
  },
  {
    name: 'etag: follows generated_at',
    file: 'src/api/stats-routes.ts',
    find: 'etagOf(question, text)',
    replace: 'etagOf(question, `${text} ${now()}`)',
    caughtBy: status('304-not-modified'),
  },
  {
    name: 'etag: equal data of two questions are one answer',
    file: 'src/api/stats-routes.ts',
    find: '`${question} ${data}`',
    replace: 'question && data',
    caughtBy: status('304-not-modified'),
  },
]

const accounts: Mutation[] = [
  {
    name: 'keys: the checksum is not checked',
    file: 'src/accounts/key-text.ts',
    find: 'return shape.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength)',
    replace: 'return shape.test(text)',
    caughtBy: unit('key-text'),
  },
  {
    name: 'keys: some characters are likelier than others',
    file: 'src/accounts/key-text.ts',
    find: 'byte < 248 && ',
    replace: '',
    caughtBy: unit('key-text'),
  },
  {
    name: 'directory: what changed while it was read is kept',
    file: 'src/accounts/directory.ts',
    find: 'if (generation === begun && ',
    replace: 'if (generation >= begun && ',
    caughtBy: unit('directory'),
  },
  {
    name: 'directory: who asks after a change is given what was read before it',
    file: 'src/accounts/directory.ts',
    find: 'loading.clear() // whoever',
    replace: '// whoever',
    caughtBy: unit('directory'),
  },
  {
    name: 'directory: a lost notice is never found',
    file: 'src/accounts/directory.ts',
    find: 'if (version !== current && !heardMeanwhile) {',
    replace: 'if (version === undefined) {',
    caughtBy: unit('directory'),
  },
  {
    name: 'directory: a counter that went back is no change',
    file: 'src/accounts/directory.ts',
    find: 'if (version !== current && !heardMeanwhile) {',
    replace: 'if ((version === undefined || current > version) && !heardMeanwhile) {',
    caughtBy: unit('directory'),
  },
  {
    name: 'directory: a change of plan drops nothing',
    file: 'src/accounts/directory.ts',
    find: 'subjects: [row.id, row.account_id]',
    replace: 'subjects: [row.id]',
    caughtBy: contract('changes'),
  },
]

const rooms: Mutation[] = [
  {
    name: 'house: stats knows accounts',
    file: 'src/stats/query.ts',
    find: "import type { Device } from '../traffic/device.ts'\n",
    replace: "import type { Device } from '../traffic/device.ts'\nimport '../accounts/plans.ts'\n",
    caughtBy: house('imports'),
  },
  {
    name: 'house: a report reads the environment',
    file: 'src/stats/rounding.ts',
    find: 'if (previous === 0) return null',
    replace: 'if (previous === 0 || process.env.NO_CHANGE) return null',
    caughtBy: house('imports'),
  },
  {
    name: 'house: an error changes its status and the documents do not',
    file: 'src/errors.ts',
    find: 'plan_required: { status: 403',
    replace: 'plan_required: { status: 402',
    caughtBy: house('docs'),
  },
]

export const mutations: readonly Mutation[] = [
  ...gate,
  ...parameters,
  ...periods,
  ...scope,
  ...numbers,
  ...limiter,
  ...limiterMutations,
  ...stores,
  ...accounts,
  ...rooms,
  ...trackerMutations,
  ...collectorMutations,
  ...shipperMutations,
  ...erasureMutations,
  ...limitsMutations,
  ...faultMutations,
  ...operationsMutations,
  ...outageMutations,
  ...foldingMutations,
  ...ledgerMutations,
  ...openDaysMutations,
  ...retentionMutations,
  ...checkMutations,
  ...contractMutations,
  ...scaleMutations,
  ...smallBoxMutations,
  ...valuesMutations,
]
