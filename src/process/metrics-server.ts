import { createServer } from 'node:http'
import type { Registry } from 'prom-client'
import { closeServer, type ListenAddress, listen } from './listening.ts'

/** Shows the metrics of a process on a port of their own. Returns what closes it. */
export async function serveMetrics(
  registry: Registry,
  address: ListenAddress,
  onScrape: () => void = () => {},
): Promise<() => void> {
  const server = createServer(async (_request, response) => {
    onScrape()
    response.setHeader('Content-Type', registry.contentType)
    response.end(await registry.metrics())
  })
  await listen(server, address)
  return () => closeServer(server)
}
