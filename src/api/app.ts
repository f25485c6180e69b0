import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply } from 'fastify'
import { ApiError, errorBody } from '../errors.ts'
import { compress, encodingOf } from '../process/compression.ts'
import { limitConnections, type SharedPort, shareRequests } from '../process/shared-port.ts'
import { countryRoutes } from './country-routes.ts'
import { allowedMethods, commonHeaders, preflight } from './cross-origin.ts'
import { type EventRouteServices, eventRoute } from './event-route.ts'
import { goalRoutes } from './goal-routes.ts'
import { liveRoute } from './live-route.ts'
import { type McpRouteServices, mcpRoutes } from './mcp-routes.ts'
import type { Metrics } from './metrics.ts'
import { questionRoutes } from './question-routes.ts'
import { referenceRoutes } from './reference-routes.ts'
import { sitesRoutes } from './sites-routes.ts'
import { statsRoutes } from './stats-routes.ts'
import { refuseUnparsedRequests } from './unparsed-requests.ts'

export interface ApiServices extends EventRouteServices, Pick<McpRouteServices, 'mcpOrigins'> {
  log: FastifyBaseLogger
  metrics: Metrics
  /** Whether the process is shutting down. It still answers, and tells clients and load balancers to use another process. */
  isEnding(): boolean
  /** Other processes that answer on the port of the API. */
  sharedPort?: SharedPort | undefined
}

const eventPath = '/api/v2/events/:id'

declare module 'fastify' {
  interface FastifyRequest {
    /** Milliseconds of performance.now(). */
    startedAt: number
  }
}

export function buildApp({ log, metrics, isEnding, sharedPort, ...services }: ApiServices): FastifyInstance {
  const unparsed = refuseUnparsedRequests()
  const knownPaths = new Set<string>()
  const app = Fastify({
    // With a logger, Fastify makes a child logger and three more listeners for every request. Our own hooks log instead.
    logger: false,
    genReqId: () => randomUUID(),
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Otherwise a long id of an event would be an unknown path, before its key is looked at.
    routerOptions: { maxParamLength: 8_192 },
    serverFactory(handler) {
      const server = createServer(
        {
          // We refuse a request without Host in the error envelope; Node would refuse it without one.
          requireHostHeader: false,
          maxHeaderSize: 8_192,
          headersTimeout: 5_000,
          // The collector gives slow phones more time to send their events.
          requestTimeout: sharedPort ? 10_000 : 6_000,
          connectionsCheckingInterval: 1_000,
          keepAliveTimeout: sharedPort ? 15_000 : 72_000,
        },
        sharedPort ? shareRequests(sharedPort, handler) : handler,
      )
      if (sharedPort) limitConnections(server, sharedPort)
      return server
    },
    clientErrorHandler: unparsed.refuse,
    frameworkErrors: (_error, request, reply) => {
      reply.headers({ ...commonHeaders, 'X-Request-Id': request.id })
      refuse(reply, new ApiError('invalid_parameter', 'The address of the request cannot be read.'))
    },
  })
  unparsed.attach(app.server)

  app.addHook('onRoute', ({ url }) => void knownPaths.add(url))
  // Synchronous hooks take a callback: one promise per hook would take a tenth of the time of a short request.
  app.decorateRequest('startedAt', 0)
  app.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now()
    reply.headers(commonHeaders).header('x-request-id', request.id)
    if (request.method === 'OPTIONS') return void preflight(request, reply)
    if (request.is404) return done(unknownRoute(knownPaths, request.url, reply))
    done(ambiguity(request.raw))
  })
  app.addHook('onSend', (request, reply, body, done) => {
    const encoding = typeof body === 'string' ? encodingOf(request.headers['accept-encoding'], body) : undefined
    if (!encoding) return done(null, body)
    reply.header('Content-Encoding', encoding)
    const compressed = compress(body as string, encoding)
    if (compressed instanceof Promise) compressed.then((bytes) => done(null, bytes), done)
    else done(null, compressed)
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (isEnding()) reply.header('connection', 'close')
    const path = pathOf(request.url)
    const known = knownPathOf(path)
    const route = knownPaths.has(known) ? known : 'unknown' // request.routeOptions would copy twenty fields
    metrics.answered(route, reply.statusCode, performance.now() - request.startedAt)
    if (log.level === 'debug') log.debug({ requestId: request.id, route, status: reply.statusCode }, 'answered')
    done()
  })
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof ApiError) return refuse(reply, error)
    if (reply.raw.destroyed) return refuse(reply, new ApiError('internal_error')) // the client is gone
    // A bug or a broken dependency: logged once with the request's id. Its message is not sent to the client.
    log.error({ requestId: request.id, route: request.routeOptions.url, err: error }, 'request failed')
    reply.header('Retry-After', 1)
    return refuse(reply, new ApiError('internal_error'))
  })
  app.setNotFoundHandler(() => {
    throw new ApiError('not_found') // never reached: unknownRoute refuses before a body could be read
  })

  app.get('/livez', async () => ({ status: 'alive' }))
  app.get('/readyz', async (_request, reply) => {
    if (isEnding()) reply.code(503)
    return { status: isEnding() ? 'ending' : 'ready' }
  })
  app.register(async (scope) => statsRoutes(scope, services), { prefix: '/api/v1/stats' })
  app.register(async (scope) => sitesRoutes(scope, services), { prefix: '/api/v1' })
  app.register(async (scope) => countryRoutes(scope, services.now), { prefix: '/api/v1' })
  app.register(async (scope) => questionRoutes(scope, services), { prefix: '/api/v2/stats' })
  app.register(async (scope) => goalRoutes(scope, services), { prefix: '/api/v2' })
  app.register(async (scope) => eventRoute(scope, services), { prefix: '/api/v2' })
  app.register(async (scope) => liveRoute(scope, { ...services, log, isEnding }), { prefix: '/api/v2' })
  app.register(async (scope) => referenceRoutes(scope, 'v1'), { prefix: '/api/v1' })
  app.register(async (scope) => referenceRoutes(scope, 'v2'), { prefix: '/api/v2' })
  app.register(async (scope) => mcpRoutes(scope, { ...services, log, metrics }))
  return app
}

function refuse(reply: FastifyReply, error: ApiError): FastifyReply {
  reply.code(error.status).header('Cache-Control', 'no-store')
  if (error.status === 401) reply.header('WWW-Authenticate', 'Bearer')
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(errorBody(error)))
}

/** Node keeps the first of two such headers, but a proxy in front of us may have used the second. So we refuse both. */
function ambiguity({ rawHeaders, httpVersion }: IncomingMessage): ApiError | undefined {
  let hosts = 0
  let authorizations = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    return new ApiError('invalid_parameter', 'A request needs exactly one Host header.')
  }
  return authorizations > 1 ? new ApiError('unauthorized') : undefined
}

/** As the route has it: one path names what it is about. */
const knownPathOf = (path: string): string => path.replace(/^\/api\/v2\/events\/[^/]*$/, eventPath)

function decodeOr(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

function unknownRoute(knownPaths: ReadonlySet<string>, url: string, reply: FastifyReply): ApiError {
  const sent = (url.split(/[?#]/, 1)[0] as string).replace(/^https?:\/\/[^/]*/i, '')
  // Before and after decoding: an escaped slash is a part of an id.
  const path = knownPathOf(decodeOr(knownPathOf(sent)))
  const withoutSlash = path.replace(/\/+$/, '')
  if (withoutSlash !== path && knownPaths.has(knownPathOf(withoutSlash)))
    return new ApiError('not_found', `There is nothing here. Leave out the slash at the end: ${withoutSlash}.`)
  if (!knownPaths.has(path)) return new ApiError('not_found')
  const methods = allowedMethods(path)
  reply.header('Allow', methods)
  return new ApiError('method_not_allowed', `Only ${methods.replace(/, (\w+)$/, ' and $1')} are allowed here.`)
}
