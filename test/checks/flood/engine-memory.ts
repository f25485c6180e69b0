// Stands between folding and ClickHouse and writes down the most memory that a statement took, as ClickHouse says in its answers.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Check } from '../fuzz/runner.ts'

export interface MemoryGauge {
  /** The engine's address through here. */
  url: string
  /** Bytes, since the last time it was asked. */
  peak(): number
}

export async function watchMemory(check: Check, engineUrl: string): Promise<MemoryGauge> {
  const engine = new URL(engineUrl)
  let peak = 0
  const server = createServer((asked, response) => {
    const { method, url, headers } = asked
    const forwarded = request({ host: engine.hostname, port: engine.port, method, path: url, headers }, (answer) => {
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
    url: Object.assign(new URL(engineUrl), { port: `${(server.address() as AddressInfo).port}` }).href,
    peak() {
      const taken = peak
      peak = 0
      return taken
    },
  }
}
