// The right status and code for a well-formed request, from docs/contract.md and decisions D-38 to D-62 alone. Nothing of src is used
// here: query string, calendar and order of checks are deliberately implemented a second time.
import { checksumOf, type FuzzKey, type FuzzWorld } from './accounts.ts'
import { isCountry, todayIn } from './calendar.ts'
import {
  areDatesValid,
  decoded,
  hasControls,
  hasVariants,
  isHostName,
  nameMeant,
  ours,
  type Query,
  ranges,
  readQuery,
} from './query.ts'
import {
  type AnsweredQuestion,
  goalsPath,
  isEventPath,
  judgeEvent,
  judgeGoals,
  judgeQuestion,
  version2Paths,
} from './question-oracle.ts'

export interface Sent {
  method: string
  /** The bytes on the wire. */
  target: string
  /** Every Authorization header, as on the wire. */
  authorization: readonly string[]
  ifNoneMatch: string
  /** HTTP/1.1 without exactly one Host header, or HTTP/1.0 with several: the target host is unclear (RFC 9112, 3.2). */
  isHostUnclear: boolean
}

export interface Verdict {
  status: number
  code?: string
  /** The key whose quota counts the request; the response then has rate limit headers. */
  counted?: FuzzKey
  /** Health and reference: no site data, and other bodies (D-62). */
  isOutside?: boolean
  /** The expected `meta` of a 200. */
  meta?: { report: string; site_id: string; range: string; limit: number }
  /** What a 200 of /api/v2 answers. */
  question?: AnsweredQuestion & { siteId: string; goals: readonly string[] }
  /** The expected sites of a 200 about all sites, by domain; with a range if it is their overview. */
  sites?: { ids: string[]; next: boolean; limit: number | null; range?: string }
}

/** The nine endpoints, and whether `limit` applies to them (docs/contract.md 4 and 8.2). */
export const endpoints: Readonly<Record<string, { limited: boolean }>> = {
  overview: { limited: false },
  timeseries: { limited: false },
  pages: { limited: true },
  referrers: { limited: true },
  channels: { limited: false },
  devices: { limited: true },
  geo: { limited: true },
  events: { limited: true },
  utm: { limited: true },
}

/** About all sites of a key (docs/contract.md 4.2). */
export const sitesPaths = ['/api/v1/sites', '/api/v1/sites/overview']

const unsupported = ['browser', 'os', 'channel']

/** Need no key and are not counted (D-62). */
export const outside = [
  '/livez',
  '/readyz',
  '/api/v1/countries',
  '/api/v1/openapi.json',
  '/api/v1/docs',
  '/api/v1/docs/reference.css',
  '/api/v1/docs/reference.js',
  '/api/v1/docs/icon.svg',
  '/api/v2/openapi.json',
  '/api/v2/docs',
]

/** All responses that the contract allows: one, except for a key whose quota runs out and where the contract is silent. */
export function verdictsOf(sent: Sent, world: FuzzWorld): Verdict[] {
  const verdicts = clearVerdictsOf(sent, world)
  if (!sent.isHostUnclear) return verdicts
  // Refused like an unparsable request. Where the route comes first in the order of checks (D-38), its response is allowed too.
  const refused = refuse(400, 'invalid_parameter')
  return [204, 404, 405].includes(verdicts[0]?.status ?? 0) ? [...verdicts, refused] : [refused]
}

function clearVerdictsOf({ method, target, authorization, ifNoneMatch }: Sent, world: FuzzWorld): Verdict[] {
  const at = target.indexOf('?')
  const path = decodedPath(at === -1 ? target : target.slice(0, at))
  // The contract says "any path" for OPTIONS, and nothing about a path with invalid escapes: both readings are allowed.
  if (method === 'OPTIONS') return path ? [{ status: 204 }] : [{ status: 204 }, refuse(400, 'invalid_parameter')]
  if (!path) return [refuse(400, 'invalid_parameter')]
  const isOneOf = (paths: readonly string[]) =>
    paths.includes(`/${path.join('/')}`) && path.every((segment) => !segment.includes('/'))
  const [isOutside, isSites] = [isOneOf(outside), isOneOf(sitesPaths)]
  const [api, version, stats, report = '', ...rest] = path
  const isStats =
    rest.length === 0 && api === 'api' && version === 'v1' && stats === 'stats' && Object.hasOwn(endpoints, report)
  const isVersion2 = isOneOf(version2Paths) || isEventPath(path)
  if (!isOutside && !isStats && !isSites && !isVersion2) return [refuse(404, 'not_found')]
  if (method !== 'GET' && method !== 'HEAD') return [refuse(405, 'method_not_allowed')]
  // No key is needed there. Two keys are too many elsewhere, and the contract does not say whether they are too many here.
  if (isOutside) return [{ status: 200, isOutside }, ...(authorization.length > 1 ? [refuse(401, 'unauthorized')] : [])]
  const key = keyOf(authorization, world)
  if (Array.isArray(key)) return key
  const text = at === -1 ? '' : target.slice(at + 1)
  const query = readQuery(text)
  const verdict = isVersion2
    ? judgeVersion2(path, key, text, world)
    : isSites
      ? judgeSites(path.at(-1) === 'overview', key, query, world)
      : judge(report, key, query, world)
  const known = verdict.status === 200 && ifNoneMatch === '*' ? { status: 304 } : {}
  const counted = [{ ...verdict, counted: key, ...known }]
  return key.scarce ? [...counted, { status: 429, code: 'rate_limit_exceeded', counted: key }] : counted
}

const refuse = (status: number, code: string): Verdict => ({ status, code })

/** The decoded segments of a path; undefined when it cannot be decoded. The absolute form names the same path (RFC 9112). */
function decodedPath(target: string): string[] | undefined {
  if (target === '*') return ['*']
  const segments = target
    .replace(/^https?:\/\/[^/]*/i, '')
    .split('/')
    .slice(1)
    .map(decoded)
  return segments.some((segment) => segment === undefined) ? undefined : (segments as string[])
}

/** The active key of a request, or the allowed refusals (docs/contract.md 5, decisions D-39 to D-41). */
function keyOf(authorization: readonly string[], world: FuzzWorld): FuzzKey | Verdict[] {
  const unauthorized = [refuse(401, 'unauthorized')]
  const [header, ...more] = authorization
  if (header === undefined || more.length > 0) return unauthorized
  const [, scheme = '', token = ''] = /^[ \t]*([^ ]*) *(.*?)[ \t]*$/s.exec(header) ?? []
  if (scheme.toLowerCase() !== 'bearer' || token === '' || /[ \t,]/.test(token)) return unauthorized
  // No key has such characters. The contract leaves open whether the header or the key is malformed.
  if (/[^\x21-\x7e]/.test(token)) return [...unauthorized, refuse(401, 'invalid_key')]
  const isWellFormed = /^ff_[sa]_[0-9A-Za-z]{36}$/.test(token) && checksumOf(token.slice(0, -6)) === token.slice(-6)
  const key = isWellFormed ? world.keys.get(token) : undefined
  if (!key) return [refuse(401, 'invalid_key')]
  if (key.state !== 'active') return [refuse(401, `key_${key.state}`)]
  return key.limit === 0 ? [refuse(403, 'plan_required')] : key
}

/** The site that is asked for, or the refusal. */
function siteOf(key: FuzzKey, query: Query, world: FuzzWorld): Verdict | { siteId: string; isSiteUnclear: boolean } {
  const asked = query.get('site_id') ?? []
  const isOne = asked.length === 1
  if (!key.siteId && (asked.length === 0 || (isOne && asked[0] === ''))) return refuse(400, 'site_required')
  const siteId = asked.length === 0 ? (key.siteId as string) : (asked[0] ?? 'undecodable')
  const isSiteUnclear = asked.length > 1 || siteId === ''
  const isAllowed = key.siteId ? siteId === key.siteId : world.sites.get(siteId)?.accountId === key.accountId
  return isSiteUnclear || isAllowed ? { siteId, isSiteUnclear } : refuse(403, 'forbidden')
}

/** /api/v2: the same gate, then the parameters of a question (docs/api-v2.md). */
function judgeVersion2(path: readonly string[], key: FuzzKey, text: string, world: FuzzWorld): Verdict {
  const query = readQuery(text)
  const asked = siteOf(key, query, world)
  if ('status' in asked) return asked
  const { siteId, isSiteUnclear } = asked
  // The gate is that of v1, which names such filters before any other fault.
  const meant = [...query.keys()].map(nameMeant)
  if (isSiteUnclear)
    return refuse(400, unsupported.some((name) => meant.includes(name)) ? 'unsupported_filter' : 'invalid_parameter')
  const { zone = 'UTC', goals = [] } = world.sites.get(siteId) ?? {}
  const named = `/${path.join('/')}`
  const answer = isEventPath(path)
    ? judgeEvent(path.at(-1) as string, query)
    : named === goalsPath
      ? judgeGoals(query)
      : judgeQuestion(named, query, text, { zone, goals })
  if (typeof answer === 'string') return refuse(400, answer)
  return { status: 200, question: { ...answer, siteId, goals } }
}

/** Checks site and parameters in the order of decision D-38. */
function judge(report: string, key: FuzzKey, query: Query, world: FuzzWorld): Verdict {
  const named = siteOf(key, query, world)
  if ('status' in named) return named
  const { siteId, isSiteUnclear } = named
  const meant = [...query.keys()].map(nameMeant)
  if (unsupported.some((name) => meant.includes(name))) return refuse(400, 'unsupported_filter')
  // The limit of 32 parameter names is in no document yet.
  if (isSiteUnclear || query.size > 32 || hasVariants(query) || !areValid(query))
    return refuse(400, 'invalid_parameter')
  const range = query.get('range')?.[0] ?? '30d'
  if (!areDatesValid(query, range, todayIn(world.sites.get(siteId)?.zone ?? 'UTC'))) return refuse(400, 'invalid_date')
  return { status: 200, meta: { report, site_id: siteId, range, limit: Number(query.get('limit')?.[0] ?? 10) } }
}

/** The same order without site_required: a key reads all its sites, unless one is named. */
function judgeSites(isOverview: boolean, key: FuzzKey, query: Query, world: FuzzWorld): Verdict {
  const asked = query.get('site_id') ?? []
  const isSiteUnclear = asked.length > 1 || asked[0] === ''
  const named = asked.length > 0 ? (asked[0] ?? 'undecodable') : key.siteId
  const isAllowed = key.siteId ? named === key.siteId : world.sites.get(named ?? '')?.accountId === key.accountId
  if (!isSiteUnclear && named !== undefined && !isAllowed) return refuse(403, 'forbidden')
  const meant = [...query.keys()].map(nameMeant)
  if (unsupported.some((name) => meant.includes(name))) return refuse(400, 'unsupported_filter')
  const isValid = query.size <= 32 && !hasVariants(query, [...ours, 'cursor']) && areValid(query, sitesValidators)
  if (isSiteUnclear || !isValid) return refuse(400, 'invalid_parameter')
  const range = query.get('range')?.[0] ?? '30d'
  // Only the overview has a period, which may be too long.
  if (!areDatesValid(query, range, todayIn('UTC'), isOverview)) return refuse(400, 'invalid_date')
  const own = [...world.sites].filter(([id, site]) => (named ? id === named : site.accountId === key.accountId))
  const ids = own.map(([id]) => id).sort() // the domain of each site is its id and `.example`
  // The list without a limit has all sites.
  const limit = query.has('limit') ? Number(query.get('limit')?.[0]) : isOverview ? 200 : null
  const cursor = query.get('cursor')?.[0]
  const after = cursor === undefined ? '' : domainAfter(cursor)
  const rest = ids.filter((id) => `${id}.example` > (after as string))
  const page = rest.slice(0, limit ?? rest.length)
  return { status: 200, sites: { ids: page, next: page.length < rest.length, limit, ...(isOverview && { range }) } }
}

/** The domain in a cursor; undefined for a text that is none (D-191). */
function domainAfter(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString()
  const isExact = Buffer.from(text).toString('base64url') === cursor
  return isExact && text.startsWith('after ') && text.length > 6 ? text.slice(6) : undefined
}

/** Decisions D-49 to D-53 and D-55. */
const validators: Readonly<Record<string, (value: string) => boolean>> = {
  range: (value) => ranges.includes(value),
  limit: (value) => /^[1-9][0-9]{0,2}$/.test(value) && Number(value) <= 100,
  country: (value) => isCountry(value),
  device: (value) => /^[a-z]+$/i.test(value) && ['desktop', 'mobile', 'tablet'].includes(value.toLowerCase()),
  hostname: (value) => isHostName(value),
  utm_source: (value) => value.length <= 255 && !hasControls(value),
}

const sitesValidators: typeof validators = {
  ...validators,
  limit: (value) => /^[1-9][0-9]{0,2}$/.test(value) && Number(value) <= 200,
  cursor: (value) => domainAfter(value) !== undefined,
}

const areValid = (query: Query, all = validators): boolean =>
  Object.entries(all).every(([name, isValid]) => {
    const [value, ...more] = query.get(name) ?? [null]
    return value === null || (more.length === 0 && value !== undefined && value !== '' && isValid(value))
  })
