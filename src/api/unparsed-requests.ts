// Refuses requests that never reach a route, because Node would refuse them without the error envelope. The envelope is written by
// hand here, because Fastify has no request to reply to (decision D-58).
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, errorBody } from '../errors.ts'
import { isExceptedTimeout } from '../process/long-bodies.ts'
import { commonHeaders } from './cross-origin.ts'

const notHttp = 'The request is not valid HTTP, or its headers are too large.'

const tooSlow = 'The body of the request did not arrive in time.'

export interface UnparsedRequests {
  /** Refuses a request that the HTTP parser could not read. */
  refuse(error: Error & { code?: string }, socket: Socket): void
  /** Makes this server refuse Expect headers and CONNECT requests. */
  attach(server: Server): void
}

export function refuseUnparsedRequests(): UnparsedRequests {
  const connections = new WeakMap<Socket, Connection>()

  function note(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const connection = connections.get(socket) ?? { running: 0, last: request, refusal: undefined }
    connections.set(socket, connection)
    connection.last = request
    connection.running++
    response.on('close', () => {
      connection.running--
      if (connection.running === 0 && connection.refusal) {
        refuseNow(socket, !connection.last.complete, connection.refusal)
      }
    })
  }

  /** A refusal waits for the responses to earlier requests on the same connection. */
  function refuseInOrder(socket: Socket, message: string): void {
    const connection = connections.get(socket)
    if (connection && connection.running > 0) connection.refusal = message
    else refuseNow(socket, connection !== undefined && !connection.last.complete, message)
  }

  return {
    refuse(error, socket) {
      if (isExceptedTimeout(error, socket)) return
      const { code } = error
      const connection = connections.get(socket)
      // On a shared port the collector waits for the body, so it will never answer this request.
      if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection?.running === 1 && !connection.last.complete) {
        return refuseNow(socket, false, tooSlow)
      }
      refuseInOrder(
        socket,
        code === 'HPE_INVALID_URL'
          ? 'The address of the request holds a character that needs percent-encoding: ü is sent as %C3%BC.'
          : notHttp,
      )
    },
    attach(server) {
      server.on('request', note)
      // Node writes "100 Continue" at once. When it queues that behind the response to an earlier request, it later puts the headers
      // of this response in front of it. So this request waits for its turn on the connection.
      server.on('checkContinue', (request, response) => {
        const handle = () => {
          response.writeContinue()
          server.emit('request', request, response)
        }
        if (response.socket) handle()
        else response.once('socket', handle)
      })
      server.on('checkExpectation', (request, response) => {
        note(request, response)
        const { status, headers, body } = refusalOf(notHttp)
        response.writeHead(status, headers).end(body)
      })
      server.on('connect', (_request, socket) => refuseInOrder(socket as Socket, notHttp))
    },
  }
}

interface Connection {
  /** Requests that have no complete response yet. */
  running: number
  last: IncomingMessage
  /** The message of a refusal that waits. */
  refusal: string | undefined
}

function refuseNow(socket: Socket, isAnswered: boolean, message: string): void {
  if (!socket.writable || isAnswered) return void socket.destroySoon()
  const { status, headers, body } = refusalOf(message)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`, () =>
    socket.destroy(),
  )
}

function refusalOf(message: string) {
  const error = new ApiError('invalid_parameter', message)
  const body = JSON.stringify(errorBody(error))
  const headers = {
    ...commonHeaders,
    'X-Request-Id': randomUUID(),
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  return { status: error.status, headers, body }
}
