// Requests with files take longer than any other request may. Node's time limit is one for the whole server, so it stays short, and the few
// requests that were admitted are excepted from it one by one.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

const excepted = new WeakSet<Socket>()

/** Call it when it is known who sends the request. A body that stops coming ends the connection. Call what it returns after the body. */
export function allowLongBody(
  { socket }: IncomingMessage,
  { maxMs, maxSilenceMs }: { maxMs: number; maxSilenceMs: number },
): () => void {
  excepted.add(socket)
  const tooLong = setTimeout(() => socket.destroy(), maxMs).unref()
  let before = socket.bytesRead
  const watching = setInterval(() => {
    if (socket.bytesRead === before) socket.destroy()
    before = socket.bytesRead
  }, maxSilenceMs).unref()
  return () => {
    clearTimeout(tooLong)
    clearInterval(watching)
    excepted.delete(socket)
  }
}

export const mayTakeLong = (socket: Socket): boolean => excepted.has(socket)

/** Node reports its time limit as an error of the client, and leaves it to the listener to close the connection. */
export const isExceptedTimeout = (error: { code?: string }, socket: Socket): boolean =>
  error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && excepted.has(socket)
