import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { ApiError, errorBody } from '../errors.ts'
import type { ClickHouseReader } from '../stores/clickhouse.ts'
import type { Gatekeepers } from './access.ts'
import { createAnswers } from './answers.ts'
import { compress, encodingOf } from './compression.ts'
import type { Metrics } from './metrics.ts'
import { referenceRoutes } from './reference-routes.ts'
import { statsRoutes } from './stats-routes.ts'
import { createTurns } from './turns.ts'

export interface ApiServices extends Gatekeepers {
  clickhouse: ClickHouseReader
  log: FastifyBaseLogger
  metrics: Metrics
  /** What answers that are given again may take; 0 for none. */
  answerBytes: number
  /** It still answers, and says that nobody new should come. */
  isEnding(): boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Milliseconds of performance.now(). */
    startedAt: number
  }
}

/** On every response there is, refusals of the HTTP parser included (docs/contract.md 1, decision D-59). */
const everywhere = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, ETag, Stats-Period, Stats-Previous-Period, Stats-Total-Rows, Stats-Warning',
  'X-Content-Type-Options': 'nosniff',
} as const

const allowedMethods = 'GET, HEAD, OPTIONS'

export function buildApp({ log, metrics, answerBytes, isEnding, ...services }: ApiServices): FastifyInstance {
  const queue = answersInOrder()
  const knownPaths = new Set<string>()
  const app = Fastify({
    // Given a logger, Fastify makes a child of it and three more listeners for every request; ours says what there is to say.
    logger: false,
    genReqId: () => randomUUID(),
    exposeHeadRoutes: true,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestTimeout: 6_000, // at the top: Fastify overwrites what http below says
    http: {
      // A request without Host is refused by us, in the envelope, not by Node outside it.
      requireHostHeader: false,
      maxHeaderSize: 8_192,
      headersTimeout: 5_000,
      connectionsCheckingInterval: 1_000,
    },
    clientErrorHandler: (error, socket) => queue.refuse(socket, unparsedMessage(error)),
    frameworkErrors: (_error, request, reply) => {
      reply.headers({ ...everywhere, 'X-Request-Id': request.id })
      refuse(reply, new ApiError('invalid_parameter', 'The address of the request cannot be read.'))
    },
  })

  app.addHook('onRoute', ({ url }) => void knownPaths.add(url))
  // Hooks that wait for nothing take a callback: a promise for each of them would be a tenth of a short request.
  app.decorateRequest('startedAt', 0)
  app.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now()
    reply.headers(everywhere).header('x-request-id', request.id)
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
    const route = knownPaths.has(path) ? path : 'unknown' // request.routeOptions would copy twenty fields to tell
    metrics.answered(route, reply.statusCode, performance.now() - request.startedAt)
    if (log.level === 'debug') log.debug({ requestId: request.id, route, status: reply.statusCode }, 'answered')
    done()
  })
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof ApiError) return refuse(reply, error)
    if (reply.raw.destroyed) return refuse(reply, new ApiError('internal_error')) // the client is gone
    // A bug or a broken neighbour: logged once with the request's id; its message stays inside.
    log.error({ requestId: request.id, route: request.routeOptions.url, err: error }, 'request failed')
    reply.header('Retry-After', 1)
    return refuse(reply, new ApiError('internal_error'))
  })
  app.setNotFoundHandler(() => {
    throw new ApiError('not_found') // never reached: unknownRoute refuses before a body could be read
  })

  app.get('/livez', async () => ({ status: 'alive' }))
  // A process that is about to end says so: to whoever balances load, and to clients that would use their connection again.
  app.get('/readyz', async (_request, reply) => {
    if (isEnding()) reply.code(503)
    return { status: isEnding() ? 'ending' : 'ready' }
  })
  const stats = { ...services, turns: createTurns(), answers: createAnswers(answerBytes) }
  app.register(async (scope) => statsRoutes(scope, stats), { prefix: '/api/v1/stats' })
  app.register(async (scope) => referenceRoutes(scope), { prefix: '/api/v1' })

  // What Node would answer by itself, outside the envelope.
  app.server.on('request', queue.note)
  app.server.on('checkExpectation', (request, response) => {
    queue.note(request, response)
    const { status, headers, body } = unparsed()
    response.writeHead(status, headers).end(body)
  })
  app.server.on('connect', (_request, socket) => queue.refuse(socket as Socket))
  return app
}

function refuse(reply: FastifyReply, error: ApiError): FastifyReply {
  reply.code(error.status).header('Cache-Control', 'no-store')
  if (error.status === 401) reply.header('WWW-Authenticate', 'Bearer')
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(errorBody(error)))
}

/** Node keeps the first of two such headers and a proxy before us may have taken the second: whose request is it? */
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
  const path = decodeOr((url.split(/[?#]/, 1)[0] as string).replace(/^https?:\/\/[^/]*/i, ''))
  if (!knownPaths.has(path)) return new ApiError('not_found')
  reply.header('Allow', allowedMethods)
  return new ApiError('method_not_allowed')
}

/** `*` would not cover Authorization, so headers are named: these, and all that a page asks for (decision D-60). */
const alwaysAllowed = ['Authorization', 'If-None-Match']
const headerNames = /^[!#$%&'*+.^_`|~\w-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~\w-]+)*$/

/** Without key and uncounted. */
function preflight({ headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asked = headers['access-control-request-headers'] ?? ''
  const named = headerNames.test(asked) ? asked.split(/[ \t]*,[ \t]*/) : []
  const more = named.filter((name) => !alwaysAllowed.some((one) => one.toLowerCase() === name.toLowerCase()))
  return reply
    .code(204)
    .headers({
      'Access-Control-Allow-Methods': allowedMethods,
      'Access-Control-Allow-Headers': [...alwaysAllowed, ...more].join(', '),
      'Access-Control-Max-Age': '86400',
      Allow: allowedMethods,
    })
    .send()
}

const notHttp = 'The request is not valid HTTP, or its headers are too large.'

const unparsedMessage = ({ code }: Error & { code?: string }): string =>
  code === 'HPE_INVALID_URL'
    ? 'The address of the request holds a character that needs percent-encoding: ü is sent as %C3%BC.'
    : notHttp

/** What the HTTP parser refuses gets the envelope too, written by hand: there is no request to reply to (decision D-58). */
function unparsed(message = notHttp) {
  const error = new ApiError('invalid_parameter', message)
  const body = JSON.stringify(errorBody(error))
  const headers = {
    ...everywhere,
    'X-Request-Id': randomUUID(),
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  return { status: error.status, headers, body }
}

/** A refusal by the parser waits for the answers to the requests before it on the same connection. */
function answersInOrder() {
  const open = new WeakMap<Socket, { under: number; last: IncomingMessage; refusal: string | undefined }>()

  function refuseNow(socket: Socket, isAnswered: boolean, message: string): void {
    if (!socket.writable || isAnswered) return void socket.destroySoon()
    const { status, headers, body } = unparsed(message)
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`, () =>
      socket.destroy(),
    )
  }

  return {
    note(request: IncomingMessage, response: ServerResponse): void {
      const { socket } = request
      const state = open.get(socket) ?? { under: 0, last: request, refusal: undefined }
      open.set(socket, state)
      state.last = request
      state.under++
      response.on('close', () => {
        state.under--
        if (state.under === 0 && state.refusal) refuseNow(socket, !state.last.complete, state.refusal)
      })
    },
    refuse(socket: Socket, message = notHttp): void {
      const state = open.get(socket)
      if (state && state.under > 0) state.refusal = message
      else refuseNow(socket, state !== undefined && !state.last.complete, message)
    },
  }
}
