import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { baseStyles, icon } from '../web/look.ts'
import { describeApi } from './openapi.ts'
import type { Examples } from './openapi-text.ts'
import { referencePage } from './reference/page.ts'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

/** No inline code, nothing from another origin, and no form that a browser could send by itself. */
const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

const types = {
  '/openapi.json': 'application/json',
  '/docs': 'text/html',
  '/docs/reference.css': 'text/css',
  '/docs/reference.js': 'text/javascript',
  '/docs/icon.svg': 'image/svg+xml',
}
type Path = keyof typeof types

let made: Record<Path, string> | undefined

/**
 * Made once per process, with the first request for one of them. Making them at the start took more than half of the CPU of a start, and
 * most processes never get such a request.
 */
function bodies(): Record<Path, string> {
  if (made) return made
  const api = describeApi(JSON.parse(read('reference/examples.json')) as Examples)
  made = {
    '/openapi.json': JSON.stringify(api),
    '/docs': referencePage(api),
    '/docs/reference.css': baseStyles + read('reference/reference.css'),
    '/docs/reference.js': read('reference/reference.js'),
    '/docs/icon.svg': icon,
  }
  return made
}

/** The reference page and the OpenAPI description behind it. They need no key, and the rate limit does not count them (decision D-62). */
export function referenceRoutes(app: FastifyInstance): void {
  for (const [path, type] of Object.entries(types) as [Path, string][]) {
    app.get(path, async (_request, reply) =>
      reply
        .headers({
          'Content-Type': `${type}; charset=utf-8`,
          'Cache-Control': 'public, max-age=300',
          Vary: 'Accept-Encoding',
          'Content-Security-Policy': contentPolicy,
        })
        .send(bodies()[path]),
    )
  }
}
