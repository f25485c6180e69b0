// A receiver of webhooks on this machine, which answers as a test wants.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  path: string
  headers: Record<string, string>
  body: string
}

export interface Receiver {
  url: string
  port: number
  received: Received[]
  connections(): number
  /** `answer` runs when the whole request is there. */
  react(answer: (response: ServerResponse, request: IncomingMessage) => void): void
  close(): Promise<void>
}

const take = (response: ServerResponse) => response.writeHead(204).end()

export async function startReceiver(host = '127.0.0.1'): Promise<Receiver> {
  const received: Received[] = []
  let connections = 0
  let answer: (response: ServerResponse, request: IncomingMessage) => void = take
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = request.headers as Record<string, string>
    received.push({ path: request.url ?? '', headers, body: Buffer.concat(chunks).toString() })
    answer(response, request)
  })
  server.on('connection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host}:${port}/hook`,
    port,
    received,
    connections: () => connections,
    react(next) {
      answer = next
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Bytes instead of an answer of HTTP, and then the end of the connection. */
export const answerBytes =
  (text: string) =>
  (response: ServerResponse): void => {
    response.socket?.end(text)
  }
