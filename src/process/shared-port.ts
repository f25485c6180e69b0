// Several processes behind one port, for `footfall serve`: the path of a request decides which of them answers it.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { mayTakeLong } from './long-bodies.ts'

/** The requests that one process answers on the port of another. */
export interface PortShare {
  answers(path: string): boolean
  handle(request: IncomingMessage, response: ServerResponse): void
}

/** Limits open connections; it must know which of them wait for a complete request. */
interface ConnectionLimits {
  opened(socket: Socket): void
  complete(socket: Socket): void
  answered(socket: Socket): void
}

/** Time limit for a request body. The share that reports its own requests has its own limit. */
const maxBodyMs = 6_000

export interface SharedPort {
  /** The first share that answers a path gets its requests; the owner of the port gets the rest. */
  shares: readonly PortShare[]
  /** Limits for all connections of the port. A share may report its own requests; the port reports those of all others. */
  connections: ConnectionLimits & { reportedBy: PortShare }
}

/** The listener for the requests of a shared port. */
export function shareRequests({ shares, connections }: SharedPort, owner: RequestListener): RequestListener {
  return (request, response) => {
    const path = pathOf(request.url ?? '')
    const share = shares.find(({ answers }) => answers(path))
    if (share !== connections.reportedBy) {
      reportTo(connections, request, response)
      boundBody(request)
    }
    if (share) share.handle(request, response)
    else owner(request, response)
  }
}

export const limitConnections = (server: Server, { connections }: SharedPort): void =>
  void server.on('connection', connections.opened)

function reportTo({ complete, answered }: ConnectionLimits, request: IncomingMessage, response: ServerResponse): void {
  const { socket, method } = request
  // No handler reads the body of a GET, so `end` may never be emitted.
  if (method === 'GET' || method === 'HEAD') complete(socket)
  else request.once('end', () => complete(socket))
  response.once('close', () => answered(socket))
}

function boundBody(request: IncomingMessage): void {
  const { headers, socket } = request
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
  const timer = setTimeout(() => request.complete || mayTakeLong(socket) || socket.destroy(), maxBodyMs).unref()
  request.once('close', () => clearTimeout(timer))
}

function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}
