import type { IncomingMessage, ServerResponse } from 'node:http'
import { readTracker, readTrackers, type TrackerScript } from '../../tracker/script.ts'
import { latestTrackerPath, trackerPath } from '../../tracker/tag.ts'

export interface TrackerRoute {
  method: 'GET'
  handle(request: IncomingMessage, response: ServerResponse): void
}

/** Serves the latest script under a name that follows upgrades, and every version under its own name (decision D-119). */
export function trackerRoutes(): Record<string, TrackerRoute> {
  const latest = serve(readTracker(), 'public, max-age=3600, stale-while-revalidate=86400')
  const versions = readTrackers().map((script) => [
    trackerPath(script.version),
    serve(script, 'public, max-age=31536000, immutable'),
  ])
  return { [latestTrackerPath]: latest, ...Object.fromEntries(versions) }
}

function serve({ body, gzipped, integrity }: TrackerScript, caching: string): TrackerRoute {
  const etag = `"${integrity}"`
  return {
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
  }
}
