import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readTracker } from './script.ts'

const everySite = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
  Vary: 'Accept-Encoding',
} as const

/** The address whose content never changes, and may therefore be named with its hash. */
export const trackerPath = (version: number): string => `/js/footfall-${version}.js`

/** The script, under the name that follows upgrades and under the one of its version (decision D-119). */
export function trackerRoutes(app: FastifyInstance): void {
  const { version, body, gzipped, integrity } = readTracker()
  const etag = `"${integrity}"`
  const answer = (caching: string) => async (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers({ ...everySite, 'Cache-Control': caching, ETag: etag })
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
    if (!/\bgzip\b/.test(String(request.headers['accept-encoding']))) return reply.send(body)
    return reply.header('Content-Encoding', 'gzip').send(gzipped)
  }
  app.get('/js/footfall.js', answer('public, max-age=3600, stale-while-revalidate=86400'))
  app.get(trackerPath(version), answer('public, max-age=31536000, immutable'))
}
