import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { Unavailable } from '../stores/breaker.ts'
import { type EventServices, postEvent } from './event-route.ts'
import { Refusal, type RefusalCode, refusals } from './refusals.ts'

export interface CollectorServices extends EventServices {
  log: Logger
  onAnswered(status: number): void
  isEnding(): boolean
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

interface Route {
  method: 'GET' | 'POST'
  handle: Handler
}

const retryAfterSeconds = 5

/** Pages of any site send their events here, so everything may be read from anywhere. */
const everywhere = [
  ['Access-Control-Allow-Origin', '*'],
  ['X-Content-Type-Options', 'nosniff'],
] as const

export function buildCollector(services: CollectorServices): Server {
  const { log, onAnswered, isEnding } = services
  const routes: Readonly<Record<string, Route>> = {
    '/api/event': { method: 'POST', handle: (request, response) => postEvent(request, response, services) },
    '/livez': { method: 'GET', handle: (_request, response) => say(response, 200, { status: 'alive' }) },
    '/readyz': {
      method: 'GET',
      handle: (_request, response) =>
        isEnding() ? say(response, 503, { status: 'ending' }) : say(response, 200, { status: 'ready' }),
    },
  }

  const server = createServer(
    {
      maxHeaderSize: 8_192,
      headersTimeout: 5_000,
      requestTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 15_000,
    },
    async (request, response) => {
      for (const [name, value] of everywhere) response.setHeader(name, value)
      if (isEnding()) response.setHeader('Connection', 'close')
      try {
        await answer(request, response)
      } catch (error) {
        if (error instanceof Refusal) refuse(request, response, error.code)
        else {
          // Whatever it was, nothing was stored: the sender is to try again. An outage is told by its breaker, once.
          if (!(error instanceof Unavailable)) log.error({ err: error }, 'An event could not be taken')
          refuse(request, response, 'unavailable')
        }
      }
      onAnswered(response.statusCode)
    },
  )

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? ''
    const end = url.indexOf('?')
    const path = end === -1 ? url : url.slice(0, end)
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined
    if (request.method === 'OPTIONS') return preflight(response)
    if (!route) throw new Refusal('not_found')
    if (request.method !== route.method && !(route.method === 'GET' && request.method === 'HEAD')) {
      response.setHeader('Allow', `${route.method}, OPTIONS`)
      throw new Refusal('method_not_allowed')
    }
    await route.handle(request, response)
  }

  return server
}

function say(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status
  response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.end(JSON.stringify(body))
}

function refuse(request: IncomingMessage, response: ServerResponse, code: RefusalCode): void {
  if (response.headersSent) return void response.destroy()
  const { status, message } = refusals[code]
  response.setHeader('Cache-Control', 'no-store')
  if (status === 503) response.setHeader('Retry-After', retryAfterSeconds)
  // What is left of the body is not read, so the connection cannot be used again.
  if (!request.complete) response.setHeader('Connection', 'close')
  say(response, status, { error: { code, message } })
}

function preflight(response: ServerResponse): void {
  response.statusCode = 204
  response.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST, OPTIONS')
  response.setHeader('Access-Control-Allow-Headers', 'Content-Type')
  response.setHeader('Access-Control-Max-Age', '86400')
  response.end()
}
