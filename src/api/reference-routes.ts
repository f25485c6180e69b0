import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { baseStyles, icon } from '../web/look.ts'
import { describeApi, describeQuestions } from './openapi.ts'
import type { Examples } from './openapi-text.ts'
import { guidesOfReports } from './reference/guides.ts'
import { referencePage } from './reference/page.ts'
import { guidesOfQuestions } from './reference/question-guides.ts'

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

const versions = {
  v1: { describe: describeApi, examples: 'reference/examples.json', guides: guidesOfReports },
  v2: { describe: describeQuestions, examples: 'reference/question-examples.json', guides: guidesOfQuestions },
}
type Version = keyof typeof versions

const made = new Map<Version, Record<Path, string>>()

/**
 * Made once per process, with the first request for one of them. Making them at the start took more than half of the CPU of a start, and
 * most processes never get such a request.
 */
function bodiesOf(version: Version): Record<Path, string> {
  const known = made.get(version)
  if (known) return known
  const { describe, examples, guides } = versions[version]
  const api = describe(JSON.parse(read(examples)) as Examples)
  const bodies = {
    '/openapi.json': JSON.stringify(api),
    '/docs': referencePage(api, guides),
    '/docs/reference.css': baseStyles + read('reference/reference.css'),
    '/docs/reference.js': read('reference/reference.js'),
    '/docs/icon.svg': icon,
  }
  made.set(version, bodies)
  return bodies
}

/**
 * The reference page of a version and the OpenAPI description behind it. They need no key, and the rate limit does not count them
 * (decision D-62).
 */
export function referenceRoutes(app: FastifyInstance, version: Version): void {
  for (const [path, type] of Object.entries(types) as [Path, string][]) {
    app.get(path, async (_request, reply) =>
      reply
        .headers({
          'Content-Type': `${type}; charset=utf-8`,
          'Cache-Control': 'public, max-age=300',
          Vary: 'Accept-Encoding',
          'Content-Security-Policy': contentPolicy,
        })
        .send(bodiesOf(version)[path]),
    )
  }
}
