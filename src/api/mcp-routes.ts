// MCP over HTTP: /mcp, without sessions (docs/mcp.md). It uses the same keys and gate as the API. Every call of a tool counts as one request;
// other messages of the protocol do not count (decision D-198).
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKey } from '../accounts/keys.ts'
import { ApiError } from '../errors.ts'
import { version } from '../process/build-info.ts'
import { limits, readFields } from '../stats/questions/parameters.ts'
import { questionAnswer, type StatsSource } from '../stats/source.ts'
import { countRequest, identify, resolveSite, resolveSites } from './access.ts'
import { mcpPath } from './cross-origin.ts'
import type { Metrics } from './metrics.ts'
import { stale, withinDeadline } from './responses.ts'
import type { StatsRouteServices } from './stats-routes.ts'

export interface McpRouteServices extends StatsRouteServices {
  log: FastifyBaseLogger
  metrics: Pick<Metrics, 'toolCalled'>
  /** Origins of the web pages that may call it. */
  mcpOrigins: readonly string[]
}

/** Useful calls have less than 4 kB. */
const maxBodyBytes = 65_536

/** The headers that the protocol reads. No other header gets through, so no answer depends on a cookie. */
const protocolHeaders = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

export function mcpRoutes(app: FastifyInstance, services: McpRouteServices): void {
  app.addHook('onRequest', async (request) => {
    refuseForeignOrigin(request.headers.origin, services.mcpOrigins)
    request.key = await identify(request, services)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: maxBodyBytes }, (_request, body, done) =>
    done(null, body),
  )
  app.setErrorHandler((error: Error & { code?: string; statusCode?: number }, _request, reply) => {
    if (!error.code?.startsWith('FST_ERR_CTP_')) throw error
    return refuseMessage(reply, error.statusCode ?? 400, `${error.message}: at most ${maxBodyBytes} bytes of JSON.`)
  })
  app.post(mcpPath, async (request, reply) => {
    const text = typeof request.body === 'string' ? request.body : ''
    const message = parsed(text)
    // Batches were removed from the protocol. One of them could call a tool a thousand times.
    if (Array.isArray(message)) return refuseMessage(reply, 400, 'Send one message per request, not a list of them.')
    const { status, type, body } = await answer({ request, reply, text, message }, services)
    reply.code(status).header('Cache-Control', 'no-store')
    return type === null ? reply.send() : reply.type(type).send(body)
  })
}

/** Browsers send the origin of the page. Without this check, any page could reach an installation that only listens on this machine. */
function refuseForeignOrigin(origin: string | undefined, allowed: readonly string[]): void {
  if (origin === undefined || allowed.includes(origin)) return
  throw new ApiError(
    'forbidden',
    'Pages of this origin may not call /mcp. Its operator can allow them with MCP_ORIGINS.',
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the protocol says how to refuse it
  }
}

function refuseMessage(reply: FastifyReply, status: number, message: string): FastifyReply {
  reply.code(status).header('Cache-Control', 'no-store').type('application/json; charset=utf-8')
  return reply.send(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } }))
}

interface Exchange {
  request: FastifyRequest
  reply: FastifyReply
  text: string
  /** The parsed text; undefined if it is not JSON. */
  message: unknown
}

async function answer({ request, reply, text, message }: Exchange, services: McpRouteServices) {
  const { log, metrics, now } = services
  const { key } = request
  // Loaded with the first call, because loading would delay the start of every process by 0.2 s of CPU.
  const [{ createMcpHandler }, { createMcpServer }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('../mcp/server.ts'),
  ])
  const handler = createMcpHandler(
    () =>
      createMcpServer({
        openSource: () => sourceOf(key, reply, services),
        version,
        now,
        admit: () => admit(key, reply, services),
        onFailure(error) {
          if (!reply.raw.destroyed) log.error({ requestId: request.id, route: mcpPath, err: error }, 'request failed')
          return 'The statistics cannot be read at the moment. Try again in a minute.'
        },
        onOutcome: metrics.toolCalled,
      }),
    // No subscriptions: a stream would stay open, and there are no changes to send to a client.
    { maxSubscriptions: 0, keepAliveMs: 0 },
  )
  const headers = protocolHeaders.flatMap((name): [string, string][] => {
    const value = request.headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  const protocolRequest = new Request(`http://localhost${mcpPath}`, { method: 'POST', headers, body: text })
  const response = await handler.fetch(protocolRequest, message === undefined ? {} : { parsedBody: message })
  // Answers to older clients are a stream of one message, which ends when the tool has answered.
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() }
}

/** An assistant sees no headers, so the message says how long to wait. */
async function admit(key: ApiKey, reply: FastifyReply, services: McpRouteServices): Promise<void> {
  try {
    await countRequest(key, reply, services)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const minutes = Math.ceil(Number(reply.getHeader('Retry-After')) / 60)
    throw new ApiError(error.code, `The rate limit of this key is reached. Try again in ${minutes} minutes.`)
  }
}

/** The sites and statistics that a key may read. Each question has the time of a request, because an account asks one at a time (D-235). */
function sourceOf(key: ApiKey, reply: FastifyReply, { directory, stats }: McpRouteServices): StatsSource {
  return {
    sites: async () => [...(await resolveSites(key, new Map(), directory))],
    async ask(kind, siteId, fields, signal) {
      const site = await resolveSite(key, new Map([['site_id', [siteId]]]), directory)
      const { question, warnings } = readFields(fields, { kind, goals: site.goals, maxLimit: limits.json })
      const result = await withinDeadline({ startedAt: performance.now() }, reply, (deadline) =>
        stats.ask({ site, question, queueKey: key.accountId }, signal ? AbortSignal.any([deadline, signal]) : deadline),
      )
      return questionAnswer(result, result.staleMs === undefined ? warnings : [stale(result.staleMs), ...warnings])
    },
  }
}
