import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { Unavailable } from '../../stores/breaker.ts'
import type { Connections } from './connections.ts'
import { type EventServices, postEvent } from './event-route.ts'
import { Refusal, type RefusalCode, refusals } from './refusals.ts'
import { sendEmpty, sendJson } from './responses.ts'
import { trackerRoutes } from './tracker-routes.ts'

export interface CollectorServices extends EventServices {
  log: Logger
  connections: Connections
  onAnswered(status: number): void
  onRefused(code: RefusalCode): void
  isEnding(): boolean
}

interface Route {
  /** A GET route also serves HEAD. */
  method: 'GET' | 'POST'
  handle(request: IncomingMessage, response: ServerResponse): Promise<void> | void
}

const eventPath = '/api/event'

/** For outages of unknown length: a restart of PostgreSQL or a stalled disk takes some seconds. */
const retryAfterSeconds = 5

export interface CollectorHandler {
  /** Whether the collector answers this path. On a port of its own it gets every request. */
  answers(path: string): boolean
  handle(request: IncomingMessage, response: ServerResponse): void
}

export function buildCollector(services: CollectorServices): CollectorHandler {
  const { log, connections, onAnswered, onRefused, isEnding } = services
  const routes: Readonly<Record<string, Route>> = {
    ...trackerRoutes(),
    [eventPath]: { method: 'POST', handle: (request, response) => postEvent(request, response, services) },
    '/livez': { method: 'GET', handle: (_request, response) => sendJson(response, 200, '{"status":"alive"}') },
    '/readyz': {
      method: 'GET',
      handle: (_request, response) =>
        isEnding() ? sendJson(response, 503, '{"status":"ending"}') : sendJson(response, 200, '{"status":"ready"}'),
    },
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isEnding()) response.shouldKeepAlive = false
    try {
      if (request.method === 'OPTIONS') preflight(response)
      else await routeOf(request).handle(request, response)
    } catch (error) {
      // Nothing was stored, so the sender should try again. The circuit breaker logs an outage once.
      if (!(error instanceof Refusal) && !(error instanceof Unavailable)) {
        log.error({ err: error }, 'An event could not be accepted')
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

  return {
    answers: (path) => path === eventPath || path.startsWith('/js/'),
    handle: (request, response) => void handle(request, response),
  }
}

function refuse(request: IncomingMessage, response: ServerResponse, { code, waitSeconds }: Refusal): void {
  if (response.headersSent) return void response.destroy()
  const { status, message } = refusals[code]
  const more = ['Cache-Control', 'no-store']
  if (status === 503 || status === 429) more.push('Retry-After', `${waitSeconds}`)
  if (status === 405) more.push('Allow', 'POST, OPTIONS')
  // The rest of the body is not read, so the connection cannot be reused.
  if (!request.complete) more.push('Connection', 'close')
  sendJson(response, status, JSON.stringify({ error: { code, message } }), more)
}

const preflight = (response: ServerResponse) =>
  sendEmpty(response, 204, [
    'Access-Control-Allow-Methods',
    'GET, HEAD, POST, OPTIONS',
    'Access-Control-Allow-Headers',
    'Content-Type',
    'Access-Control-Max-Age',
    '86400',
  ])
