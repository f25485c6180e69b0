import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { isExceptedTimeout } from '../process/long-bodies.ts'

/** What Node cannot read as a request, or what comes too slowly. */
export function refuseUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (isExceptedTimeout(error, socket) || socket.destroyed) return
  const statuses: Record<string, number> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 }
  const status = statuses[error.code ?? ''] ?? 400
  if (socket.writable)
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  socket.destroy(error)
}
