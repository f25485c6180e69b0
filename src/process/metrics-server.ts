import { createServer } from 'node:http'
import type { Registry } from 'prom-client'
import { closeServer, listen, type Place } from './listening.ts'

/** Shows the metrics of a process on a port of their own. Returns what closes it. */
export async function serveMetrics(
  registry: Registry,
  place: Place,
  onScrape: () => void = () => {},
): Promise<() => void> {
  const server = createServer(async (_request, response) => {
    onScrape()
    response.setHeader('Content-Type', registry.contentType)
    response.end(await registry.metrics())
  })
  await listen(server, place)
  return () => closeServer(server)
}
