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

/** The reference page and the OpenAPI description behind it. They need no key, and the rate limit does not count them (decision D-62). */
export function referenceRoutes(app: FastifyInstance): void {
  const api = describeApi(JSON.parse(read('reference/examples.json')) as Examples)
  const files = [
    { path: '/openapi.json', type: 'application/json', body: JSON.stringify(api) },
    { path: '/docs', type: 'text/html', body: referencePage(api) },
    { path: '/docs/reference.css', type: 'text/css', body: baseStyles + read('reference/reference.css') },
    { path: '/docs/reference.js', type: 'text/javascript', body: read('reference/reference.js') },
    { path: '/docs/icon.svg', type: 'image/svg+xml', body: icon },
  ]
  for (const { path, type, body } of files) {
    app.get(path, async (_request, reply) =>
      reply
        .headers({
          'Content-Type': `${type}; charset=utf-8`,
          'Cache-Control': 'public, max-age=300',
          Vary: 'Accept-Encoding',
          'Content-Security-Policy': contentPolicy,
        })
        .send(body),
    )
  }
}
