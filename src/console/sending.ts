import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { compressMessages, compressPieces, encodingOfLong } from '../process/compression.ts'
import { eventStreamHeaders, eventStreamType } from '../process/event-streams.ts'
import type { Html } from '../web/html.ts'
import type { Reply } from './route.ts'

/** Sends the answer of a handler. */
export function send(
  reply: FastifyReply,
  { status, body, pieces, events, file, json, location, cookies = [], headers = {} }: Reply,
  newCookies: string[],
): FastifyReply {
  reply.code(status).headers({ 'Cache-Control': 'no-store', Vary: 'Accept-Encoding, Cookie', ...headers })
  const all = [...newCookies, ...cookies]
  if (all.length > 0) reply.header('Set-Cookie', all)
  if (location !== undefined) return reply.header('Location', location).send()
  if (json !== undefined) return reply.send(json)
  if (events) return sendEvents(reply, events)
  if (file) {
    reply.header('Content-Disposition', `attachment; filename="${file.name}"`)
    return reply.type(file.type).send(file.text)
  }
  reply.type('text/html; charset=utf-8')
  return pieces ? sendPieces(reply, pieces) : reply.send(body?.text ?? '')
}

function sendEvents(reply: FastifyReply, events: Readable): FastifyReply {
  reply.headers(eventStreamHeaders).type(eventStreamType)
  if (reply.request.method === 'HEAD') {
    events.destroy()
    return reply.send('')
  }
  const { body, encoding } = compressMessages(events, reply.request.headers['accept-encoding'])
  if (encoding) reply.header('Content-Encoding', encoding)
  return reply.send(body)
}

function sendPieces(reply: FastifyReply, pieces: NonNullable<Reply['pieces']>): FastifyReply {
  const leaving = new AbortController()
  reply.raw.on('close', () => leaving.abort(new Error('The browser went away')))
  const encoding = encodingOfLong(reply.request.headers['accept-encoding'])
  if (encoding) reply.header('Content-Encoding', encoding)
  return reply.send(compressPieces(textsOf(pieces(leaving.signal)), encoding))
}

async function* textsOf(pieces: AsyncIterable<Html>): AsyncGenerator<string> {
  for await (const { text } of pieces) yield text
}
