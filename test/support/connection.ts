// A keep-alive connection that sends and reads raw bytes: its measurements contain no time of an HTTP client, and no byte of a response
// is lost.
import { once } from 'node:events'
import { createConnection } from 'node:net'

export interface Connection {
  /** Sends one GET and returns the whole response, including status line and headers. One request at a time. */
  get(path: string, headers?: Record<string, string>): Promise<Buffer>
  send(request: string | Buffer, withoutBody?: boolean): Promise<Buffer>
  close(): void
}

export const requestText = (method: string, path: string, headers: Record<string, string> = {}): string => {
  const lines = Object.entries({ Host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

export async function openConnection(url: string, localAddress?: string): Promise<Connection> {
  const { hostname, port } = new URL(url)
  const socket = createConnection({
    ...{ host: hostname, port: Number(port), noDelay: true },
    ...(localAddress !== undefined && { localAddress }),
  })
  let waiting: PromiseWithResolvers<Buffer> | undefined
  let withoutBody = false
  let got: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    got = got.length === 0 ? chunk : Buffer.concat([got, chunk])
    const length = lengthOf(got, withoutBody)
    if (length === undefined || got.length < length || !waiting) return
    const answer = got.subarray(0, length)
    got = got.subarray(length)
    const { resolve } = waiting
    waiting = undefined
    resolve(answer)
  })
  const fail = () => {
    waiting?.reject(new Error(`The connection to ${url} was closed`))
    waiting = undefined
  }
  await once(socket, 'connect')
  socket.on('error', fail)
  socket.on('close', fail)

  function send(request: string | Buffer, head = false): Promise<Buffer> {
    if (waiting) throw new Error('Only one request at a time is possible')
    waiting = Promise.withResolvers<Buffer>()
    withoutBody = head
    socket.write(request, (error) => error && fail()) // after it was closed between two requests no event tells
    return waiting.promise
  }
  return {
    send,
    get: (path, headers) => send(requestText('GET', path, headers)),
    close: () => void socket.destroy(),
  }
}

/** The length of the first response in these bytes, or undefined until it is known. */
function lengthOf(bytes: Buffer, withoutBody: boolean): number | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = bytes.toString('latin1', 0, end)
  const declared = /\r\ncontent-length: *(\d+)/i.exec(head)
  const hasBody = !withoutBody && !head.startsWith('HTTP/1.1 304') && !head.startsWith('HTTP/1.1 204')
  if (hasBody && !declared) throw new Error(`A response without Content-Length:\n${head}`)
  return end + 4 + (hasBody ? Number(declared?.[1]) : 0)
}
