// The headers that let a browser read responses across origins.
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Every response carries these, including refusals of the HTTP parser (docs/contract.md 1, decision D-59). */
export const commonHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, ETag, Stats-Period, Stats-Previous-Period, Stats-Total-Rows, Stats-Source, Stats-Warning',
  'X-Content-Type-Options': 'nosniff',
} as const

/** MCP uses only POST, and the API only GET. */
export const allowedMethods = (path: string): string => (path === mcpPath ? 'POST, OPTIONS' : 'GET, HEAD, OPTIONS')

export const mcpPath = '/mcp'

/** `*` does not include Authorization, so the response names these headers and all that the page requests (decision D-60). */
const alwaysAllowed = ['Authorization', 'If-None-Match']
const headerNames = /^[!#$%&'*+.^_`|~\w-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~\w-]+)*$/

/** A preflight needs no key, and the rate limit does not count it. */
export function preflight({ headers, url }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const methods = allowedMethods(url)
  const requested = headers['access-control-request-headers'] ?? ''
  const names = headerNames.test(requested) ? requested.split(/[ \t]*,[ \t]*/) : []
  const more = names.filter((name) => !alwaysAllowed.some((one) => one.toLowerCase() === name.toLowerCase()))
  return reply
    .code(204)
    .headers({
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': [...alwaysAllowed, ...more].join(', '),
      'Access-Control-Max-Age': '86400',
      Allow: methods,
    })
    .send()
}
