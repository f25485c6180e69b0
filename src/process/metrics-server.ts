import { createServer } from 'node:http'
import type { Registry } from 'prom-client'
import { closeServer, type ListenAddress, listen } from './listening.ts'

/** Serves the metrics of a process on their own port. Returns the function that closes it. */
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
