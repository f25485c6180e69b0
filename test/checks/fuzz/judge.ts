// Conditions on every response to any request: docs/contract.md 2, 5 and 7, decisions D-38, D-44, D-58 to D-61.
import type { FuzzWorld } from './accounts.ts'
import type { Answer } from './answers.ts'
import { endpoints, type Verdict } from './oracle.ts'

/** Status by code: docs/contract.md 7 and our two additions (D-58). */
const statusOf: Readonly<Record<string, number>> = {
  unauthorized: 401,
  invalid_key: 401,
  key_disabled: 401,
  key_expired: 401,
  site_required: 400,
  invalid_parameter: 400,
  invalid_date: 400,
  invalid_filter: 400,
  unsupported_filter: 400,
  plan_required: 403,
  forbidden: 403,
  rate_limit_exceeded: 429,
  internal_error: 500,
  not_found: 404,
  method_not_allowed: 405,
}

/** Headers of every response (D-59). */
const everywhere: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['access-control-allow-origin', /^\*$/],
  [
    'access-control-expose-headers',
    /X-RateLimit-Reset.*Retry-After.*X-Request-Id.*ETag.*Stats-Total-Rows.*Stats-Warning/,
  ],
  ['x-content-type-options', /^nosniff$/],
  ['x-request-id', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
]

const rateHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
const uncounted = new Set([
  'unauthorized',
  'invalid_key',
  'key_disabled',
  'key_expired',
  'plan_required',
  'not_found',
  'method_not_allowed',
])

/** The code in the error envelope; undefined for a success or a response without a body. */
export function codeOf({ body }: Answer): string | undefined {
  try {
    return JSON.parse(body).error?.code
  } catch {
    return undefined
  }
}

/** Faults of a response to any request. `withBody` is false for HEAD; `isOutside` means that the contract does not define the body. */
export function wrongsOf(answer: Answer, withBody: boolean, isOutside = false): string[] {
  const { status, headers } = answer
  const wrongs = everywhere
    .filter(([name, pattern]) => !pattern.test(headers.get(name) ?? ''))
    .map(([name]) => `header ${name}`)
  if (status >= 500) wrongs.push('5xx')
  const rates = rateHeaders.filter((name) => headers.has(name)).length
  if (rates !== 0 && rates !== 3) wrongs.push('only some rate limit headers')
  if (rates === 3 && !areRatesSound(headers)) wrongs.push('rate limit values')
  const code = codeOf(answer)
  if (
    rates > 0 &&
    (status === 401 || status === 404 || status === 405 || status === 204 || uncounted.has(code ?? ''))
  ) {
    wrongs.push('rate limit headers before the count')
  }
  if (rates === 0 && (status === 429 || status === 304)) wrongs.push('no rate limit headers after the count')
  if (status === 401 && headers.get('www-authenticate') !== 'Bearer') wrongs.push('401 without WWW-Authenticate')
  if (status === 405 && headers.get('allow') !== 'GET, HEAD, OPTIONS') wrongs.push('405 without Allow')
  const wait = Number(/^[1-9]\d*$/.exec(headers.get('retry-after') ?? '')?.[0] ?? Number.NaN)
  if (status === 429 && !(wait <= 3600)) wrongs.push('429 without a Retry-After of at most an hour')
  if (status === 204) return [...wrongs, ...wrongsOfPreflight(answer)]
  if (status === 304) return answer.body === '' ? wrongs : [...wrongs, '304 with a body']
  if (isOutside && status === 200) return rates === 0 ? wrongs : [...wrongs, 'rate limit headers outside the gate']
  if (headers.get('content-type') !== 'application/json; charset=utf-8') wrongs.push('content type')
  if (status >= 400 && headers.get('cache-control') !== 'no-store') wrongs.push('an error that may be cached')
  return withBody ? [...wrongs, ...wrongsOfBody(answer)] : wrongs
}

const wrongsOfPreflight = ({ headers, body }: Answer): string[] => [
  ...(/^Authorization, If-None-Match(, [!#$%&'*+.^_`|~\w-]+)*$/.test(headers.get('access-control-allow-headers') ?? '')
    ? []
    : ['preflight without Authorization and If-None-Match, or with something that is no name']),
  ...(headers.get('access-control-max-age') === '86400' ? [] : ['preflight that is not for a day']),
  ...(body === '' && !headers.has('content-type') ? [] : ['204 with a body']),
]

function areRatesSound(headers: ReadonlyMap<string, string>): boolean {
  const [limit = 0, remaining = 0, reset = 0] = rateHeaders.map((name) =>
    Number(/^\d+$/.exec(headers.get(name) ?? '')?.[0] ?? Number.NaN),
  )
  const now = Date.now() / 1000
  return (
    [1000, 2000, 3000, 5000].includes(limit) &&
    remaining >= 0 &&
    remaining < limit &&
    reset > now - 2 &&
    reset < now + 3605
  )
}

const hasExactly = (value: unknown, ...names: string[]): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).join() === names.join()

/** The body must be exactly the success or the error envelope, with its fields in order. */
function wrongsOfBody({ status, body }: Answer): string[] {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    return ['the body is not JSON']
  }
  if (status === 200) {
    const isHealth = hasExactly(json, 'status') && (json.status === 'alive' || json.status === 'ready')
    return isHealth || hasExactly(json, 'data', 'meta') ? [] : ['not the success envelope']
  }
  if (!hasExactly(json, 'error') || !hasExactly(json.error, 'code', 'message')) return ['not the error envelope']
  const { code, message } = json.error
  if (typeof message !== 'string' || message.length < 10) return ['no message']
  return statusOf[code as string] === status ? [] : [`code ${code} with status ${status}`]
}

/** The allowed verdict that the response matches, or undefined. A HEAD has no code to compare. */
export function match(answer: Answer, verdicts: readonly Verdict[], withBody: boolean): Verdict | undefined {
  const code = withBody ? codeOf(answer) : undefined
  return verdicts.find((verdict) => verdict.status === answer.status && (!withBody || verdict.code === code))
}

/** Faults of a response with the right status and code. */
export function wrongsOfMatch(
  answer: Answer,
  { counted, meta, sites, question, status }: Verdict,
  withBody: boolean,
): string[] {
  const wrongs: string[] = []
  if (Boolean(counted) !== answer.headers.has('x-ratelimit-limit')) {
    wrongs.push(counted ? 'no rate limit headers after the count' : 'rate limit headers before the count')
  }
  if (counted && Number(answer.headers.get('x-ratelimit-limit')) !== counted.limit)
    wrongs.push('the limit does not fit the plan')
  if (status === 200 && meta && withBody) wrongs.push(...wrongsOfReport(answer, meta))
  if (status === 200 && sites && withBody) wrongs.push(...wrongsOfSites(answer, sites))
  if (status === 200 && question && withBody) wrongs.push(...wrongsOfQuestion(answer, question))
  return wrongs
}

const recordFields: Readonly<Record<string, string>> = {
  timeseries: 'date,visitors,pageviews',
  pages: 'pathname,title,views,visitors',
  referrers: 'referrer,views,visitors',
  channels: 'channel,visitors,percentage',
  devices: 'name,visitors',
  geo: 'name,visitors',
  events: 'name,count,visitors',
  utm: 'name,visitors',
}

function wrongsOfReport({ body, headers }: Answer, meta: NonNullable<Verdict['meta']>): string[] {
  const json = JSON.parse(body) as { data: unknown; meta: Record<string, unknown> }
  const limited = endpoints[meta.report]?.limited
  const expected = { site_id: meta.site_id, range: meta.range, ...(limited && { limit: meta.limit }) }
  const { generated_at: generatedAt, ...rest } = json.meta
  const wrongs: string[] = []
  if (JSON.stringify(rest) !== JSON.stringify(expected)) wrongs.push(`meta is not ${JSON.stringify(expected)}`)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(generatedAt))) wrongs.push('generated_at')
  if (!headers.has('stats-period') || !/^W\/"[\w-]+"$/.test(headers.get('etag') ?? ''))
    wrongs.push('Stats-Period or ETag')
  if (headers.get('cache-control') !== 'private, no-cache') wrongs.push('the cache control of a 200')
  const total = headers.get('stats-total-rows')
  if (
    total !== undefined &&
    !(limited && Array.isArray(json.data) && json.data.length === meta.limit && Number(total) > meta.limit)
  )
    wrongs.push('Stats-Total-Rows of a list that was not cut')
  const isSound =
    meta.report === 'overview'
      ? hasExactly(json.data, 'current', 'previous', 'change')
      : Array.isArray(json.data) &&
        (!limited || json.data.length <= meta.limit) &&
        json.data.every((row) => hasExactly(row, ...(recordFields[meta.report] ?? '').split(',')))
  return isSound ? wrongs : [...wrongs, 'the shape of data']
}

function wrongsOfSites(
  { body, headers }: Answer,
  { ids, next, limit, range }: NonNullable<Verdict['sites']>,
): string[] {
  const { data, meta } = JSON.parse(body) as { data: { site_id: string }[]; meta: Record<string, unknown> }
  const fields = range
    ? ['site_id', 'domain', 'period', 'current', 'previous', 'change']
    : ['site_id', 'domain', 'time_zone']
  const wrongs: string[] = []
  if (data.map(({ site_id }) => site_id).join() !== ids.join()) wrongs.push('other sites')
  if (!data.every((row) => hasExactly(row, ...fields))) wrongs.push('the shape of data')
  const metaFields = [...(range ? ['range'] : []), 'limit', 'next_cursor', 'generated_at']
  if (!hasExactly(meta, ...metaFields)) wrongs.push('the shape of meta')
  if (meta.range !== range || meta.limit !== limit) wrongs.push('range or limit in meta')
  if ((meta.next_cursor !== null) !== next) wrongs.push('next_cursor')
  if (!/^W\/"[\w-]+"$/.test(headers.get('etag') ?? '')) wrongs.push('ETag')
  if (headers.get('cache-control') !== 'private, no-cache') wrongs.push('the cache control of a 200')
  return wrongs
}

function wrongsOfQuestion(
  { body, headers }: Answer,
  { kind, fields, meta: expected, siteId, goals }: NonNullable<Verdict['question']>,
): string[] {
  const { data, meta } = JSON.parse(body) as { data: Record<string, unknown>[]; meta: Record<string, unknown> }
  const { site_id, generated_at: _generatedAt, ...rest } = meta
  const wrongs: string[] = []
  if (site_id !== siteId) wrongs.push('the site in meta')
  if (JSON.stringify(rest) !== JSON.stringify(expected ?? {})) wrongs.push(`meta is not ${JSON.stringify(expected)}`)
  if (kind === 'goals' && data.map(({ name }) => name).join() !== goals.toSorted().join()) wrongs.push('other goals')
  const hasRightRows =
    kind === 'totals' || kind === 'event'
      ? hasExactly(data, ...fields)
      : Array.isArray(data) && data.every((row) => kind === 'goals' || hasExactly(row, ...fields))
  if (!hasRightRows) wrongs.push('the shape of data')
  // Nothing is recorded.
  if (kind === 'breakdown' && data.length > 0) wrongs.push('rows of another site')
  if (kind === 'event' && (data as unknown as { state: string }).state !== 'unknown') wrongs.push('an event of nobody')
  if (kind !== 'goals' && kind !== 'event' && !/^(rollups|sessions|events)$/.test(headers.get('stats-source') ?? ''))
    wrongs.push('Stats-Source')
  if (!/^W\/"[\w-]+"$/.test(headers.get('etag') ?? '')) wrongs.push('ETag')
  if (headers.get('cache-control') !== 'private, no-cache') wrongs.push('the cache control of a 200')
  return wrongs
}

/** For each key, every counted request used exactly one of the quota, and none beyond it succeeded. */
export function wrongsOfQuota(world: FuzzWorld, spent: ReadonlyMap<string, Spent>): string[] {
  return [...world.plenty, ...world.scarce].flatMap((key) => {
    const { counted, refused, least } = spent.get(key.id) ?? { counted: 0, refused: 0, least: key.limit }
    const faults: string[] = []
    if (key.limit - counted !== least)
      faults.push(`${key.id}: ${counted} counted, but X-RateLimit-Remaining fell to ${least}`)
    if (refused > 0 && counted !== key.limit) faults.push(`${key.id}: refused after ${counted} of ${key.limit}`)
    return faults
  })
}

export interface Spent {
  counted: number
  refused: number
  /** The lowest X-RateLimit-Remaining seen. */
  least: number
}
