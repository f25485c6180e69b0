// HTTP on bare keep-alive sockets, one request at a time per socket. A full client uses as much CPU as the API itself, so on two cores
// the check would measure the client.
import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'

/** The parts of a response that the check uses. Numbers are NaN where the header is missing or no whole number. */
export interface Answer {
  process: number
  status: number
  limit: number
  remaining: number
  reset: number
  retryAfter: number
  /** Monotonic milliseconds. */
  sentAt: number
  receivedAt: number
}

const answerMs = 10_000

/** Connections to the ports of some processes, as many as there are concurrent requests. */
export function openWires(ports: readonly number[]) {
  const idle: Wire[][] = ports.map(() => [])
  const all = new Set<Wire>()
  return {
    async ask(process: number, target: string, keyText = ''): Promise<Answer> {
      const wire = idle[process]?.pop() ?? (await Wire.open(ports[process] as number))
      all.add(wire)
      const sentAt = performance.now()
      const authorization = keyText && `Authorization: Bearer ${keyText}\r\n`
      const head = await wire.ask(`GET ${target} HTTP/1.1\r\nHost: a\r\n${authorization}\r\n`)
      const receivedAt = performance.now()
      idle[process]?.push(wire)
      return {
        process,
        status: Number(head.slice(9, 12)),
        limit: headerOf(head, 'x-ratelimit-limit'),
        remaining: headerOf(head, 'x-ratelimit-remaining'),
        reset: headerOf(head, 'x-ratelimit-reset'),
        retryAfter: headerOf(head, 'retry-after'),
        sentAt,
        receivedAt,
      }
    },
    close(): void {
      for (const wire of all) wire.close()
    },
  }
}

function headerOf(head: string, name: string): number {
  const begin = head.indexOf(`\r\n${name}: `)
  if (begin === -1) return Number.NaN
  const from = begin + name.length + 4
  const value = head.slice(from, head.indexOf('\r\n', from))
  return /^\d+$/.test(value) ? Number(value) : Number.NaN
}

class Wire {
  static async open(port: number): Promise<Wire> {
    const socket = createConnection({ host: '127.0.0.1', port, noDelay: true })
    await once(socket, 'connect')
    return new Wire(socket)
  }

  readonly #socket: Socket
  #received = ''
  #waiting: { resolve(head: string): void; reject(error: Error): void } | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => this.#take(chunk))
    socket.on('error', () => {}) // 'close' follows
    socket.on('close', () => this.#waiting?.reject(new Error('The API closed the connection without a response')))
  }

  /** Sends a request and returns the head of the response, header names in lower case, without the last empty line. */
  async ask(request: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    this.#waiting = { resolve, reject }
    const late = setTimeout(() => reject(new Error(`The API did not respond within ${answerMs} ms`)), answerMs)
    this.#socket.write(request)
    try {
      return await promise
    } finally {
      clearTimeout(late)
      this.#waiting = undefined
    }
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: string): void {
    this.#received += chunk
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    const head = `${this.#received.slice(0, headEnd).toLowerCase()}\r\n`
    const length = headerOf(head, 'content-length')
    if (this.#received.length < headEnd + 4 + length) return
    this.#received = ''
    if (Number.isNaN(length)) this.#waiting?.reject(new Error(`A response without a length: ${head}`))
    else this.#waiting?.resolve(head)
  }
}
