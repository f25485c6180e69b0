import type { FastifyInstance } from 'fastify'
import { parameterNames, warningsOf } from '../stats/parameters.ts'
import { readQueryString } from '../stats/query-string.ts'
import { countries } from './endpoints.ts'

/** The codes that `country` takes, with the names that geo returns. No key is needed, and no request is counted (decision D-62). */
export function countryRoutes(app: FastifyInstance, now: () => number): void {
  app.get('/countries', async (request, reply) => {
    const warnings = warningsOf(readQueryString(request.url), { range: { name: '30d' } }, parameterNames)
    reply.headers({
      'Cache-Control': 'public, max-age=300',
      Vary: 'Accept-Encoding',
      ...(warnings.length > 0 && { 'Stats-Warning': warnings.join('; ') }),
    })
    return reply
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ data: countries, meta: { generated_at: new Date(now()).toISOString() } }))
  })
}
