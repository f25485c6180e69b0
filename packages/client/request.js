// Sends the requests of index.js and v2.js, and turns responses into results and errors.

/** @import { Options, Server } from './request.d.ts' */

/** Thrown when the API refuses a request, or when something other than the API answers. */
export class FootfallError extends Error {
  name = 'FootfallError'

  /** @param {string} code @param {string} message @param {Response} response */
  constructor(code, message, { status, headers }) {
    super(message)
    const { requestId, rateLimit } = fromHeaders(headers)
    this.code = code
    this.status = status
    this.requestId = requestId
    this.rateLimit = rateLimit
    // A proxy may send a date here; nobody knows by which clock.
    const seconds = Number(headers.get('Retry-After'))
    this.retryAfter = seconds > 0 ? seconds : undefined
  }
}

/** @param {Server} server @param {string} path @param {object} [parameters] @param {Options} [options] */
export async function get(server, path, parameters, options) {
  return ask(server, path, parameters, options, async (response) => {
    const body = parsed(await response.text())
    return body?.data && { ...body, ...fromHeaders(response.headers) }
  })
}

/**
 * The messages of a stream, until it ends.
 * @param {Server} server @param {string} path @param {object} [parameters] @param {Options} [options]
 */
export async function* watch(server, path, parameters, options) {
  const body = await ask(server, path, parameters, options, async ({ body, headers }) =>
    headers.get('Content-Type')?.startsWith('text/event-stream') ? body : undefined,
  )
  let rest = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const messages = (rest + text).split('\n\n')
    rest = messages.pop() ?? ''
    for (const message of messages) {
      const [, data] = /^data: (.*)$/m.exec(message) ?? []
      // A message with a name is about the stream itself.
      if (data && !/^event: /m.test(message)) yield JSON.parse(data)
    }
  }
}

/**
 * Sends a request until it is answered. `read` returns undefined for an answer that is not from the API.
 * @param {Server} server @param {string} path @param {object} [parameters] @param {Options} [options]
 * @param {(response: Response) => Promise<any>} [read]
 */
async function ask({ url, key, waitSeconds = 0 }, path, parameters = {}, { signal } = {}, read = async () => {}) {
  const entries = Object.entries(parameters)
  const isInPath = (/** @type {string} */ name) => path.includes(`{${name}}`)
  const filled = entries
    .filter(([name]) => isInPath(name))
    .reduce((whole, [name, value]) => whole.replace(`{${name}}`, () => encodeURIComponent(value)), path)
  const query = new URLSearchParams(
    entries.flatMap(([name, value]) =>
      value == null || isInPath(name) ? [] : [value].flat().map((one) => [name, one]),
    ),
  )
  const address = `${`${url}`.replace(/(\/api\/v[12])?\/*$/, '')}${filled}?${query}`
  const headers = key ? { Authorization: `Bearer ${key}` } : {}
  for (let secondsLeft = waitSeconds; ; ) {
    const response = await fetch(address, { headers, signal: signal ?? null })
    const result = response.ok ? await read(response) : undefined
    if (result) return result
    const body = response.bodyUsed ? undefined : parsed(await response.text())
    const { code = 'unexpected_response', message = `The response with status ${response.status} is not Footfall's.` } =
      body?.error ?? {}
    const error = new FootfallError(code, message, response)
    if (!error.retryAfter || error.retryAfter > secondsLeft) throw error
    secondsLeft -= error.retryAfter
    await delay(error.retryAfter, signal)
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @param {Headers} headers */
function fromHeaders(headers) {
  const text = (/** @type {string} */ name) => headers.get(name) ?? undefined
  const period = (/** @type {string} */ name) => {
    const [start, end] = text(name)?.split('/') ?? []
    return end && { start, end }
  }
  const limit = text('X-RateLimit-Limit')
  const totalRows = text('Stats-Total-Rows')
  return {
    period: period('Stats-Period'),
    previousPeriod: period('Stats-Previous-Period'),
    totalRows: totalRows && Number(totalRows),
    warnings: text('Stats-Warning')?.split('; ') ?? [],
    rateLimit: limit && {
      limit: Number(limit),
      remaining: Number(text('X-RateLimit-Remaining')),
      reset: new Date(Number(text('X-RateLimit-Reset')) * 1000),
    },
    requestId: text('X-Request-Id'),
  }
}

/** @param {number} seconds @param {AbortSignal} [signal] */
async function delay(seconds, signal) {
  signal?.throwIfAborted()
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve(undefined)
    }, seconds * 1000)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
  })
}
