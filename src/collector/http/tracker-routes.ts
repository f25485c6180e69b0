import type { IncomingMessage, ServerResponse } from 'node:http'
import { readTracker } from '../../tracker/script.ts'
import { latestTrackerPath, trackerPath } from '../../tracker/tag.ts'

export interface TrackerRoute {
  method: 'GET'
  handle(request: IncomingMessage, response: ServerResponse): void
}

/** Serves the script under a name that follows upgrades and under the name of its version (decision D-119). */
export function trackerRoutes(): Record<string, TrackerRoute> {
  const { version, body, gzipped, integrity } = readTracker()
  const etag = `"${integrity}"`
  const serve = (caching: string): TrackerRoute => ({
    method: 'GET',
    handle({ headers, method }, response) {
      const headersOfAll = {
        'Content-Type': 'text/javascript; charset=utf-8',
        'Access-Control-Allow-Origin': '*',
        'Cross-Origin-Resource-Policy': 'cross-origin',
        'X-Content-Type-Options': 'nosniff',
        Vary: 'Accept-Encoding',
        'Cache-Control': caching,
        ETag: etag,
      }
      if (headers['if-none-match']?.includes(etag)) return void response.writeHead(304, headersOfAll).end()
      const isGzipped = /\bgzip\b/.test(String(headers['accept-encoding']))
      const content = isGzipped ? gzipped : body
      response.writeHead(200, {
        ...headersOfAll,
        ...(isGzipped && { 'Content-Encoding': 'gzip' }),
        'Content-Length': content.length,
      })
      response.end(method === 'HEAD' ? undefined : content)
    },
  })
  return {
    [latestTrackerPath]: serve('public, max-age=3600, stale-while-revalidate=86400'),
    [trackerPath(version)]: serve('public, max-age=31536000, immutable'),
  }
}
