// A proxy between the rollup and ClickHouse that records the peak memory of a statement, from ClickHouse's response headers.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Check } from '../runner.ts'

export interface MemoryGauge {
  /** The URL of ClickHouse through this proxy. */
  url: string
  /** The peak in bytes since the last call. */
  peak(): number
}

export async function watchMemory(check: Check, clickhouseUrl: string): Promise<MemoryGauge> {
  const target = new URL(clickhouseUrl)
  let peak = 0
  const server = createServer((asked, response) => {
    const { method, url, headers } = asked
    const forwarded = request({ host: target.hostname, port: target.port, method, path: url, headers }, (answer) => {
      const summary = JSON.parse(`${answer.headers['x-clickhouse-summary'] ?? '{}'}`) as { memory_usage?: string }
      peak = Math.max(peak, Number(summary.memory_usage ?? 0))
      response.writeHead(answer.statusCode as number, answer.headers)
      answer.pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    asked.pipe(forwarded)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  check.onEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: Object.assign(new URL(clickhouseUrl), { port: `${(server.address() as AddressInfo).port}` }).href,
    peak() {
      const taken = peak
      peak = 0
      return taken
    },
  }
}
