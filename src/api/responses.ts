// Shared by all endpoints with a key, after the gate: the deadline of a request, and the headers of its answer.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { deadlineFactor } from '../stores/deadline.ts'

/** The maximum time of a request. Then its signal aborts everything that is still running. */
const requestDeadlineMs = 5_000 * deadlineFactor

/** Runs the work with a signal that aborts when the client disconnects or the deadline of the request passes. */
export async function withinDeadline<Value>(
  { startedAt }: Pick<FastifyRequest, 'startedAt'>,
  { raw: response }: FastifyReply,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController()
  const leftMs = startedAt + requestDeadlineMs - performance.now()
  const timer = setTimeout(() => controller.abort(new Error('The request took too long')), leftMs)
  const leave = () => controller.abort(new Error('The client went away'))
  response.on('close', leave)
  if (response.destroyed) leave()
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    response.off('close', leave)
  }
}

interface Content {
  /** Becomes the ETag: equal for equal numbers of the same query. */
  identity: string
  /** Headers besides Authorization and Accept-Encoding that the answer depends on. */
  vary?: string
  warnings: readonly string[]
  /** Set if an earlier answer is repeated: its age in milliseconds. */
  staleMs?: number | undefined
  type?: string
  body(): string
}

/** A 200, or a 304 if the client already has this answer (decision D-61). */
export function sendContent(request: FastifyRequest, reply: FastifyReply, content: Content): FastifyReply {
  const { identity, vary, warnings, staleMs, type = 'application/json; charset=utf-8', body } = content
  const etag = `W/"${identity}"`
  reply.headers({
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    Vary: vary ? `Authorization, ${vary}, Accept-Encoding` : 'Authorization, Accept-Encoding',
  })
  const all = staleMs === undefined ? warnings : [...warnings, stale(staleMs)]
  if (all.length > 0) reply.header('Stats-Warning', all.join('; '))
  if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.type(type).send(body())
}

export const stale = (ageMs: number): string =>
  `this is the last known answer, ${Math.max(0, Math.round(ageMs / 1000))} seconds old, because the statistics cannot be read now`

const matches = (header: string | undefined, tag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^(W\/)?/, 'W/') === tag))
