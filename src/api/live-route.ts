// GET /api/v2/live: who is on a site now, as server-sent events (decision D-241).
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { compressMessages } from '../process/compression.ts'
import { createEventStreams, type EventStream, eventStreamHeaders, eventStreamType } from '../process/event-streams.ts'
import type { LiveReading } from '../stats/live.ts'
import { maxParameters, parameterNames, refuseVariants, warningsOf } from '../stats/parameters.ts'
import type { StatsService } from '../stats/service.ts'
import { Unavailable } from '../stores/breaker.ts'
import { type Gatekeepers, guardSite, identify, resolveSite } from './access.ts'

export interface LiveRouteServices extends Gatekeepers {
  stats: Pick<StatsService, 'live'>
  log: FastifyBaseLogger
  isEnding(): boolean
}

const maxPerKey = 10
/** Another stream of the key may have ended by then. */
const retryAfterSeconds = 5
/** It has neither a period nor filters. */
const unused = parameterNames.filter((name) => name !== 'site_id')

export function liveRoute(app: FastifyInstance, { stats, log, isEnding, ...gatekeepers }: LiveRouteServices): void {
  const { directory } = gatekeepers
  guardSite(app, gatekeepers)
  const streams = createEventStreams<FastifyRequest>({
    maxPerOwner: maxPerKey,
    isEnding,
    async stillAllowed(requests) {
      const checked = await Promise.all(requests.map(async (request) => ((await isAllowed(request)) ? [request] : [])))
      return new Set(checked.flat())
    },
  })
  // An open stream would keep the server from closing.
  app.addHook('preClose', async () => streams.endAll())

  /** By the gate that has let it in. The directory knows of every change within a second, and asks PostgreSQL only after one. */
  async function isAllowed(request: FastifyRequest): Promise<boolean> {
    try {
      await resolveSite(await identify(request, gatekeepers), request.queryString, directory)
      return true
    } catch {
      return false
    }
  }

  app.get('/live', async (request, reply) => {
    const { key, site, queryString } = request
    refuseVariants(queryString, ['site_id'])
    if (queryString.size > maxParameters)
      throw new ApiError('invalid_parameter', `At most ${maxParameters} parameters may be sent.`)
    const warnings = warningsOf(queryString, { range: { name: '30d' } }, unused)
    if (warnings.length > 0) reply.header('Stats-Warning', warnings.join('; '))
    reply.headers({ ...eventStreamHeaders, Vary: 'Authorization, Accept-Encoding' }).type(eventStreamType)
    if (request.method === 'HEAD') return reply.send('')
    let end = () => {}
    const stream = streams.open(key.id, request, () => end())
    if (!stream) {
      reply.header('Retry-After', retryAfterSeconds)
      throw new ApiError('too_many_streams')
    }
    end = stats.live.watch(site.id, {
      site: () => directory.site(site.id),
      ...sendingTo(stream, (error) => log.error({ site: site.id, err: error }, 'a site could not be read live')),
    })
    const { body, encoding } = compressMessages(stream.body, request.headers['accept-encoding'])
    if (encoding) reply.header('Content-Encoding', encoding)
    return reply.send(body)
  })
}

/** Sends what is new. What cannot be read is said once. */
function sendingTo(stream: EventStream, unexpected: (error: unknown) => void) {
  let sent: string | undefined
  return {
    show({ state, site, at }: LiveReading): void {
      const data = JSON.stringify(state)
      if (data === sent) return
      sent = data
      const meta = { site_id: site.id, generated_at: new Date(at).toISOString() }
      stream.send(`{"data":${data},"meta":${JSON.stringify(meta)}}`)
    },
    fail(error: unknown): void {
      if (sent === '') return
      sent = ''
      stream.send('{}', 'unavailable')
      if (!(error instanceof Unavailable)) unexpected(error)
    },
  }
}
