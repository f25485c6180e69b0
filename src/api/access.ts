// The gate: checks who is asking, whether they may, and for which site, in the contract's order (docs/contract.md 5, decision D-38). A
// refusal before the rate limit counts the request carries no rate limit headers; every later response does.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Directory } from '../accounts/directory.ts'
import { isKeyText } from '../accounts/key-text.ts'
import type { ApiKey } from '../accounts/keys.ts'
import type { LastUse } from '../accounts/last-use.ts'
import { plans } from '../accounts/plans.ts'
import type { ListedSite, Site } from '../accounts/sites.ts'
import { ApiError } from '../errors.ts'
import { refuseUnsupportedFilters } from '../stats/parameters.ts'
import type { QueryString } from '../stats/query-string.ts'
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

/** Who is asking, and whether their plan allows it. */
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

/** The site a request is about. */
export async function resolveSite(key: ApiKey, query: QueryString, directory: Directory): Promise<Site> {
  const [asked, ...more] = query.get('site_id') ?? []
  const isMissing = asked === undefined || asked === ''
  if (key.siteId === null && isMissing && more.length === 0) throw new ApiError('site_required')
  return allowedSite(key, query, directory)
}

/** The sites a request is about, by domain: the one that it names, or all that its key may read (decision D-190). */
export async function resolveSites(
  key: ApiKey,
  query: QueryString,
  directory: Directory,
): Promise<readonly ListedSite[]> {
  if (key.siteId === null && !query.has('site_id')) return directory.sitesOf(key.accountId)
  return [await allowedSite(key, query, directory)]
}

/** Unknown, foreign and malformed ids get the same refusal, so nobody can find an id by trying. */
async function allowedSite(key: ApiKey, query: QueryString, directory: Directory): Promise<Site> {
  const [asked, ...more] = query.get('site_id') ?? []
  if (more.length > 0 || asked === '') {
    refuseUnsupportedFilters(query) // comes before invalid_parameter
    throw new ApiError('invalid_parameter', 'site_id may be sent only once, with a value.')
  }
  const id = asked === undefined ? key.siteId : asked
  if (id === null || (key.siteId !== null && id !== key.siteId) || !/^site_[a-z2-7]{16}$/.test(id)) {
    throw new ApiError('forbidden')
  }
  const site = await directory.site(id)
  if (site?.accountId !== key.accountId) throw new ApiError('forbidden')
  return site
}
