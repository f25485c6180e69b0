// Sends requests that no HTTP client would send, byte for byte.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Answer } from '../support/world.ts'

/**
 * Sends the text as bytes (latin1) and reads until the server closes the connection. A request whose connection the server would keep
 * open needs `Connection: close`.
 */
export async function sendRaw(port: number, request: string): Promise<Answer> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.setTimeout(15_000, () => socket.destroy(new Error('The server neither answered nor closed the connection')))
  socket.write(request, 'latin1')
  const answer = await text(socket)
  socket.destroy()
  return parse(answer)
}

function parse(answer: string): Answer {
  const end = answer.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = answer.slice(0, end).split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trim()]
    }),
  )
  const body = answer.slice(end + 4)
  const isJson = headers.get('content-type')?.includes('json') && body !== ''
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]),
    headers,
    text: body,
    json: isJson ? JSON.parse(body) : undefined,
  }
}
