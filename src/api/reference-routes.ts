import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { describeApi } from './openapi.ts'
import type { Examples } from './openapi-text.ts'
import { referencePage } from './reference/page.ts'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')

/** The reference and the description it is made from: outside the gate, uncounted (decision D-62). */
export function referenceRoutes(app: FastifyInstance): void {
  const api = describeApi(JSON.parse(read('reference/examples.json')) as Examples)
  const files = [
    { path: '/openapi.json', type: 'application/json; charset=utf-8', body: JSON.stringify(api) },
    { path: '/docs', type: 'text/html; charset=utf-8', body: referencePage(api) },
    { path: '/docs/reference.css', type: 'text/css; charset=utf-8', body: read('reference/reference.css') },
    { path: '/docs/reference.js', type: 'text/javascript; charset=utf-8', body: read('reference/reference.js') },
  ]
  for (const { path, type, body } of files) {
    app.get(path, async (_request, reply) =>
      reply
        .headers({
          'Content-Type': type,
          'Cache-Control': 'public, max-age=300',
          Vary: 'Accept-Encoding',
          'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
        })
        .send(body),
    )
  }
}
