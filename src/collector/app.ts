import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { Unavailable } from '../stores/breaker.ts'
import { answerEmpty, answerJson } from './answer.ts'
import type { Connections } from './connections.ts'
import { type EventServices, postEvent } from './event-route.ts'
import { Refusal, type RefusalCode, refusals } from './refusals.ts'
import { trackerRoutes } from './tracker/routes.ts'

export interface CollectorServices extends EventServices {
  log: Logger
  connections: Connections
  onAnswered(status: number): void
  onRefused(code: RefusalCode): void
  isEnding(): boolean
}

interface Route {
  /** HEAD works as GET. */
  method: 'GET' | 'POST'
  handle(request: IncomingMessage, response: ServerResponse): Promise<void> | void
}

/** When it is not known how long: a restart of PostgreSQL or of a disk's file system takes some seconds. */
const retryAfterSeconds = 5

export function buildCollector(services: CollectorServices): Server {
  const { log, connections, onAnswered, onRefused, isEnding } = services
  const routes: Readonly<Record<string, Route>> = {
    ...trackerRoutes(),
    '/api/event': { method: 'POST', handle: (request, response) => postEvent(request, response, services) },
    '/livez': { method: 'GET', handle: (_request, response) => answerJson(response, 200, '{"status":"alive"}') },
    '/readyz': {
      method: 'GET',
      handle: (_request, response) =>
        isEnding() ? answerJson(response, 503, '{"status":"ending"}') : answerJson(response, 200, '{"status":"ready"}'),
    },
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isEnding()) response.shouldKeepAlive = false
    try {
      if (request.method === 'OPTIONS') preflight(response)
      else await routeOf(request).handle(request, response)
    } catch (error) {
      // Whatever it was, nothing was stored: the sender is to try again. An outage is told by its breaker, once.
      if (!(error instanceof Refusal) && !(error instanceof Unavailable)) {
        log.error({ err: error }, 'An event could not be taken')
      }
      const refusal = error instanceof Refusal ? error : new Refusal('unavailable', retryAfterSeconds)
      refuse(request, response, refusal)
      onRefused(refusal.code)
    }
    connections.answered(request.socket)
    onAnswered(response.statusCode)
  }

  function routeOf({ url = '', method }: IncomingMessage): Route {
    const end = url.indexOf('?')
    const path = end === -1 ? url : url.slice(0, end)
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined
    if (!route) throw new Refusal('not_found')
    if (method !== route.method && !(method === 'HEAD' && route.method === 'GET')) {
      throw new Refusal('method_not_allowed')
    }
    return route
  }

  const server = createServer(
    {
      maxHeaderSize: 8_192,
      headersTimeout: 5_000,
      requestTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 15_000,
    },
    (request, response) => void handle(request, response),
  )
  server.on('connection', connections.opened)
  return server
}

function refuse(request: IncomingMessage, response: ServerResponse, { code, waitSeconds }: Refusal): void {
  if (response.headersSent) return void response.destroy()
  const { status, message } = refusals[code]
  const more = ['Cache-Control', 'no-store']
  if (status === 503 || status === 429) more.push('Retry-After', `${waitSeconds}`)
  if (status === 405) more.push('Allow', 'POST, OPTIONS')
  // What is left of the body is not read, so the connection cannot be used again.
  if (!request.complete) more.push('Connection', 'close')
  answerJson(response, status, JSON.stringify({ error: { code, message } }), more)
}

const preflight = (response: ServerResponse) =>
  answerEmpty(response, 204, [
    'Access-Control-Allow-Methods',
    'GET, HEAD, POST, OPTIONS',
    'Access-Control-Allow-Headers',
    'Content-Type',
    'Access-Control-Max-Age',
    '86400',
  ])
