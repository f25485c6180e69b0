// Visitors of a site: many connections, one event per request. Each event has its own id and is sent until it is acknowledged. The ledger
// of acknowledged events is compared with everything else.
import { randomUUID } from 'node:crypto'
import { browserAgent } from '../../support/collector-process.ts'
import { type Connection, openConnection } from '../../support/connection.ts'
import { pause } from '../runner.ts'

export interface Ledger {
  acknowledged: Set<string>
  visitors: Set<string>
  /** Milliseconds until each 202 response. */
  latencies: number[]
  /** Responses with 503, requests without a response, and all others. */
  refused: number
  broken: number
  odd: string[]
}

export interface LoadOptions {
  url: string
  domain: string
  lanes: number
  /** How often each request is sent, whatever the response. */
  times?: number
  /** Milliseconds between two events of a lane. */
  pauseMs?: number
}

const maxVisitors = 2_000

export interface Load {
  ledger: Ledger
  stop(): Promise<Ledger>
}

export function startLoad({ url, domain, lanes, times = 1, pauseMs = 0 }: LoadOptions): Load {
  const ledger: Ledger = {
    acknowledged: new Set(),
    visitors: new Set(),
    latencies: [],
    refused: 0,
    broken: 0,
    odd: [],
  }
  let stopped = false
  let sent = 0

  async function lane(): Promise<void> {
    let connection: Connection | undefined
    while (!stopped) {
      const id = randomUUID()
      const visitor = sent++ % maxVisitors
      const request = requestOf(domain, id, `198.18.${visitor >> 8}.${visitor & 255}`, visitor)
      for (let time = 0; time < times; time++) {
        for (;;) {
          connection = await sendOnce(connection, request, id, visitor)
          if (ledger.acknowledged.has(id)) break
          await pause(50)
        }
      }
      if (pauseMs > 0) await pause(pauseMs)
    }
    connection?.close()
  }

  async function sendOnce(
    open: Connection | undefined,
    request: string,
    id: string,
    visitor: number,
  ): Promise<Connection | undefined> {
    const began = performance.now()
    let connection = open
    try {
      connection ??= await openConnection(url)
      const answer = await connection.send(request)
      const status = answer.toString('latin1', 9, 12)
      if (status === '202' && answer.includes('{"accepted":1}')) {
        ledger.acknowledged.add(id)
        ledger.visitors.add(`${visitor}`)
        ledger.latencies.push(performance.now() - began)
        return connection
      }
      if (status === '503') ledger.refused++
      else ledger.odd.push(answer.toString())
    } catch {
      ledger.broken++
    }
    connection?.close()
    return undefined
  }

  const running = Promise.all(Array.from({ length: lanes }, lane))
  return {
    ledger,
    /** When this returns, every event is acknowledged. */
    async stop(): Promise<Ledger> {
      stopped = true
      await running
      return ledger
    },
  }
}

function requestOf(domain: string, id: string, ip: string, page: number): string {
  const body = JSON.stringify({
    n: 'pageview',
    u: `https://${domain}/page/${page % 50}?utm_source=news`,
    d: domain,
    r: 'https://www.google.com/',
    t: `Page ${page % 50}`,
    id,
  })
  return [
    'POST /api/event HTTP/1.1',
    'Host: collector.example',
    `User-Agent: ${browserAgent}`,
    `X-Forwarded-For: ${ip}`,
    'Content-Type: text/plain',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}
