// The gate: checks the key, its plan, its rate limit and the site, in the contract's order (docs/contract.md 5, decision D-38). Refusals
// before the rate limit have no rate limit headers; all later responses have them.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Directory } from '../accounts/directory.ts'
import { isKeyText } from '../accounts/key-text.ts'
import type { ApiKey } from '../accounts/keys.ts'
import type { LastUse } from '../accounts/last-use.ts'
import { plans } from '../accounts/plans.ts'
import type { ListedSite, Site } from '../accounts/sites.ts'
import { ApiError } from '../errors.ts'
import { refuseUnsupportedFilters } from '../stats/parameters.ts'
import { type QueryString, readQueryString } from '../stats/query-string.ts'
import type { Limiter } from './rate-limit.ts'

export interface Gatekeepers {
  directory: Directory
  limiter: Limiter
  lastUse: LastUse
  now: () => number
}

export async function authenticate(
  request: FastifyRequest,
  reply: FastifyReply,
  gatekeepers: Gatekeepers,
): Promise<ApiKey> {
  const key = await identify(request, gatekeepers)
  await countRequest(key, reply, gatekeepers)
  return key
}

/** The key of the request. Refuses a key that is invalid or whose plan has no API access. */
export async function identify(request: FastifyRequest, { directory, now }: Gatekeepers): Promise<ApiKey> {
  const token = bearerToken(request.headers.authorization)
  if (!token) throw new ApiError('unauthorized')
  if (!isKeyText(token)) throw new ApiError('invalid_key')
  const key = await directory.key(token)
  if (!key) throw new ApiError('invalid_key')
  if (key.disabled) throw new ApiError('key_disabled')
  if (key.expiresAt !== null && now() >= key.expiresAt) throw new ApiError('key_expired')
  if (!plans[key.plan]) throw new ApiError('plan_required')
  return key
}

/** Counts one request of a key that `identify` has returned, or refuses it. */
export async function countRequest(key: ApiKey, reply: FastifyReply, { limiter, lastUse }: Gatekeepers): Promise<void> {
  const perHour = plans[key.plan]?.requestsPerHour ?? 0
  const { allowed, limit, remaining, reset, secondsLeft } = await limiter.spend(key.id, perHour)
  reply.headers({ 'X-RateLimit-Limit': limit, 'X-RateLimit-Remaining': remaining, 'X-RateLimit-Reset': reset })
  if (!allowed) {
    reply.header('Retry-After', secondsLeft)
    throw new ApiError('rate_limit_exceeded')
  }
  lastUse.note(key.id)
}

/** The header must hold exactly one token; the scheme may be in upper or lower case (decision D-39). */
const bearerToken = (header: string | undefined): string | undefined => /^bearer +([^\s,]+) *$/i.exec(header ?? '')?.[1]

export async function resolveSite(key: ApiKey, query: QueryString, directory: Directory): Promise<Site> {
  const [siteId, ...more] = query.get('site_id') ?? []
  const isMissing = siteId === undefined || siteId === ''
  if (key.siteId === null && isMissing && more.length === 0) throw new ApiError('site_required')
  return allowedSite(key, query, directory)
}

/** The site that the request names, or all sites that its key may read, by domain (decision D-190). */
export async function resolveSites(
  key: ApiKey,
  query: QueryString,
  directory: Directory,
): Promise<readonly ListedSite[]> {
  if (key.siteId === null && !query.has('site_id')) return directory.sitesOf(key.accountId)
  return [await allowedSite(key, query, directory)]
}

/** Refuses unknown, foreign and malformed ids in the same way, so that nobody can find an id by trying. */
async function allowedSite(key: ApiKey, query: QueryString, directory: Directory): Promise<Site> {
  const [siteId, ...more] = query.get('site_id') ?? []
  if (more.length > 0 || siteId === '') {
    refuseUnsupportedFilters(query) // comes before invalid_parameter
    throw new ApiError('invalid_parameter', 'site_id may be sent only once, with a value.')
  }
  const id = siteId === undefined ? key.siteId : siteId
  if (id === null || (key.siteId !== null && id !== key.siteId) || !/^site_[a-z2-7]{16}$/.test(id)) {
    throw new ApiError('forbidden')
  }
  const site = await directory.site(id)
  if (site?.accountId !== key.accountId) throw new ApiError('forbidden')
  return site
}

/** The gate of a scope about one site, as hooks, so that a route added inside cannot miss it. Handlers find `key`, `site` and `queryString`. */
export function guardSite(app: FastifyInstance, gatekeepers: Gatekeepers): void {
  app.addHook('onRequest', async (request, reply) => {
    request.key = await authenticate(request, reply, gatekeepers)
  })
  app.addHook('preHandler', async (request) => {
    request.queryString = readQueryString(request.url)
    request.site = await resolveSite(request.key, request.queryString, gatekeepers.directory)
  })
}
