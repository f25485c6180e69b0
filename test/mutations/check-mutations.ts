// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are pieces of source text
// What the long checks must notice, in their short forms.
import type { Mutation } from './mutations.ts'

const fuzz = 'check:fuzz -- --n 30000'
const canary = 'check:canary'
const sqli = 'check:sqli -- --n 5000'
const tenant = 'check:tenant -- --queries 4000 --requests 800 --sites 10'

export const checkMutations: Mutation[] = [
  {
    name: 'fuzz: a 401 does not say how to authenticate',
    file: 'src/api/app.ts',
    find: "if (error.status === 401) reply.header('WWW-Authenticate', 'Bearer')",
    replace: '',
    caughtBy: fuzz,
  },
  {
    name: 'fuzz: an unsupported filter without a value is let through',
    file: 'src/api/parameters.ts',
    find: 'if (unsupported.includes(plainName(name)))',
    replace: 'if (unsupported.includes(plainName(name)) && query.get(name)?.[0])',
    caughtBy: fuzz,
  },
  {
    name: 'fuzz: of two values the first is taken',
    file: 'src/api/parameters.ts',
    find: "  if (values.length > 1) throw new ApiError('invalid_parameter', `${name} may be sent only once.`)\n",
    replace: '',
    caughtBy: fuzz,
  },
  {
    name: 'fuzz: what cannot be decoded is taken as it is written',
    file: 'src/api/query-string.ts',
    find: '    return null\n',
    replace: '    return text\n',
    caughtBy: fuzz,
  },
  {
    name: 'fuzz: a refusal by the parser has no request id',
    file: 'src/api/app.ts',
    find: "    'X-Request-Id': randomUUID(),\n",
    replace: '',
    caughtBy: fuzz,
  },
  {
    name: 'fuzz: a plan without access is told a rate limit',
    file: 'src/api/access.ts',
    find: "  if (!plan) throw new ApiError('plan_required')\n",
    replace: "  if (!plan) {\n    reply.header('X-RateLimit-Limit', 0)\n    throw new ApiError('plan_required')\n  }\n",
    caughtBy: fuzz,
  },
  {
    name: 'fuzz: a parameter that nobody foresaw is a bug of ours',
    file: 'src/api/parameters.ts',
    find: 'if (!ascii.test(text) || !isCountryCode(code)) {',
    replace: "if (text.includes('%')) throw new Error('percent')\n  if (!ascii.test(text) || !isCountryCode(code)) {",
    caughtBy: fuzz,
  },
  {
    name: 'slowloris: slow connections are looked for every half a minute, as by default',
    file: 'src/api/app.ts',
    find: 'connectionsCheckingInterval: 1_000',
    replace: 'connectionsCheckingInterval: 30_000',
    caughtBy: 'check:slowloris -- --sockets 200',
  },
  {
    name: 'canary: metrics are labelled with what was asked for',
    file: 'src/api/app.ts',
    find: "knownPaths.has(path) ? path : 'unknown'",
    replace: 'request.url',
    caughtBy: canary,
  },
  {
    name: 'canary: headers are logged with a failure',
    file: 'src/api/app.ts',
    find: 'log.error({ requestId: request.id,',
    replace: 'log.error({ headers: request.headers, requestId: request.id,',
    caughtBy: canary,
  },
  {
    name: 'canary: half of a key is stored to recognise it by',
    file: 'src/accounts/key-text.ts',
    find: 'text.slice(0, 9)',
    replace: 'text.slice(0, 24)',
    caughtBy: canary,
  },
  {
    name: 'sqli: a value is tidied up on its way',
    file: 'src/stores/clickhouse-sql.ts',
    find: "export const text = (value: string) => typed('String', value)",
    replace: "export const text = (value: string) => typed('String', value.trim())",
    caughtBy: sqli,
  },
  {
    name: 'sqli: a hostname is a pattern',
    file: 'src/stats/query.ts',
    find: 'sql`hostname = ${text(filters.hostname)}`',
    replace: 'sql`hostname LIKE ${text(filters.hostname)}`',
    caughtBy: sqli,
  },
  {
    name: 'sqli: sources are compared without case',
    file: 'src/stats/query.ts',
    find: 'sql`utm_source = ${text(filters.utmSource)}`',
    replace: 'sql`lower(utm_source) = lower(${text(filters.utmSource)})`',
    caughtBy: sqli,
  },
  {
    name: 'tenant: a key may ask for any site that exists',
    file: 'src/api/access.ts',
    find: "if (site?.accountId !== key.accountId) throw new ApiError('forbidden')",
    replace: "if (!site) throw new ApiError('forbidden')",
    caughtBy: tenant,
  },
  {
    name: 'tenant: a question is about every site',
    file: 'src/stats/query.ts',
    find: 'sql`site_id = ${text(siteId)}`',
    replace: 'sql`site_id >= ${text(siteId)}`',
    caughtBy: tenant,
  },
  {
    name: 'tenant: tallies of every site are read',
    file: 'src/stats/cells.ts',
    find: 'sql`site_id = ${text(query.siteId)}`',
    replace: 'sql`site_id >= ${text(query.siteId)}`',
    caughtBy: tenant,
  },
  {
    name: 'tenant: a filter on a host reads another one',
    file: 'src/stats/places.ts',
    find: '` ${Buffer.byteLength(value)}:${value}`',
    replace: '` ${Buffer.byteLength(value)}:${value.toUpperCase()}`',
    caughtBy: tenant,
  },
  {
    name: 'tenant: a foreign site is told from an unknown one',
    file: 'src/api/access.ts',
    find: "if (site?.accountId !== key.accountId) throw new ApiError('forbidden')",
    replace:
      "if (site?.accountId !== key.accountId) throw new ApiError('forbidden', site ? 'Not your site.' : undefined)",
    caughtBy: tenant,
  },
]
