import type { FastifyInstance } from 'fastify'
import { countries } from './endpoints.ts'

/** The codes that `country` takes, with the names that geo returns. No key is needed, and no request is counted (decision D-62). */
export function countryRoutes(app: FastifyInstance, now: () => number): void {
  app.get('/countries', async (_request, reply) =>
    reply
      .headers({ 'Cache-Control': 'public, max-age=300', Vary: 'Accept-Encoding' })
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ data: countries, meta: { generated_at: new Date(now()).toISOString() } })),
  )
}
