// An HTTP proxy to ClickHouse that returns ClickHouse errors on demand: errors that the real server returns only with another
// configuration or under heavy load.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FaultyClickHouse {
  port: number
  /** Returns this code and status for the next `times` requests; all others are forwarded. */
  refuse(error: { code: number; status: number; times: number }): void
  /** The number of requests so far. */
  asked(): number
  close(): void
}

export async function startFaultyClickHouse(clickhousePort: number): Promise<FaultyClickHouse> {
  let refusal = { code: 0, status: 200, times: 0 }
  let asked = 0
  const server = createServer((incoming, outgoing) => {
    asked++
    if (refusal.times-- > 0) {
      incoming.resume()
      outgoing.writeHead(refusal.status, { 'X-ClickHouse-Exception-Code': refusal.code })
      return void outgoing.end(`Code: ${refusal.code}. DB::Exception: Refused. (REFUSED) (version 26.7.2.1)\n`)
    }
    const { method, url, headers } = incoming
    const passed = request({ host: '127.0.0.1', port: clickhousePort, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode as number, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    refuse(next) {
      refusal = next
    },
    asked: () => asked,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
