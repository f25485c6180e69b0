// The gate: who asks, whether they may, and for which site, in the contract's order (docs/contract.md 5, decision D-38). What
// is refused before the request is counted carries no rate limit headers; everything after it does.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Directory } from '../accounts/directory.ts'
import { isKeyText } from '../accounts/key-text.ts'
import type { ApiKey } from '../accounts/keys.ts'
import type { LastUse } from '../accounts/last-use.ts'
import { plans } from '../accounts/plans.ts'
import type { Site } from '../accounts/sites.ts'
import { ApiError } from '../errors.ts'
import { refuseUnsupportedFilters } from './parameters.ts'
import type { QueryString } from './query-string.ts'
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
  { directory, limiter, lastUse, now }: Gatekeepers,
): Promise<ApiKey> {
  const token = bearerToken(request.headers.authorization)
  if (!token) throw new ApiError('unauthorized')
  if (!isKeyText(token)) throw new ApiError('invalid_key')
  const key = await directory.key(token)
  if (!key) throw new ApiError('invalid_key')
  if (key.disabled) throw new ApiError('key_disabled')
  if (key.expiresAt !== null && now() >= key.expiresAt) throw new ApiError('key_expired')
  const plan = plans[key.plan]
  if (!plan) throw new ApiError('plan_required')

  const { allowed, limit, remaining, reset, secondsLeft } = await limiter.spend(key.id, plan.requestsPerHour)
  reply.headers({ 'X-RateLimit-Limit': limit, 'X-RateLimit-Remaining': remaining, 'X-RateLimit-Reset': reset })
  if (!allowed) {
    reply.header('Retry-After', secondsLeft)
    throw new ApiError('rate_limit_exceeded')
  }
  lastUse.note(key.id)
  return key
}

/** Exactly one token after a scheme that may be written in any case (decision D-39). */
const bearerToken = (header: string | undefined): string | undefined => /^bearer +([^\s,]+) *$/i.exec(header ?? '')?.[1]

/** The site a request is about. Unknown, foreign and malformed ids are refused alike, so none can be found by trying. */
export async function resolveSite(key: ApiKey, query: QueryString, directory: Directory): Promise<Site> {
  const [asked, ...more] = query.get('site_id') ?? []
  const isMissing = asked === undefined || asked === ''
  if (key.siteId === null && isMissing && more.length === 0) throw new ApiError('site_required')
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
