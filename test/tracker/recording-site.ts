// A site of a test's own with the tracker in its pages, and an endpoint that writes down what arrives. Real HTTP on two ports,
// so that the script comes from another origin than the pages, as it does in the world.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import Fastify from 'fastify'
import { trackerRoutes } from '../../src/collector/tracker/routes.ts'

/** As the tracker sends it. */
export interface Sent {
  n: string
  u: string
  d: string
  r: string
  t: string
  id: string
}

export interface RecordingSite {
  /** Without a slash at the end. */
  origin: string
  /** All that has arrived, and how it arrived, in order. */
  events: Sent[]
  requests: { contentType: string | undefined; cookie: string | undefined; preflight: boolean; id?: string }[]
  /** `name path`, which is what most tests are about. */
  seen(): string[]
  /** Waits until that many events are there, and a little longer for one too many. */
  arrived(count: number): Promise<Sent[]>
  /** The next answers of the endpoint; 202 afterwards. */
  answer(...statuses: number[]): void
  scriptUrl: string
}

export type Pages = Record<string, string>

export async function openRecordingSite(t: TestContext, pagesOf: (scriptUrl: string) => Pages): Promise<RecordingSite> {
  const events: Sent[] = []
  const requests: RecordingSite['requests'] = []
  const statuses: number[] = []
  const collector = Fastify()
  trackerRoutes(collector)
  collector.options('/api/event', async (_request, reply) => {
    requests.push({ contentType: undefined, cookie: undefined, preflight: true })
    return reply.code(204).send()
  })
  collector.post('/api/event', async ({ headers, body }, reply) => {
    const event = JSON.parse(body as string) as Sent
    requests.push({ contentType: headers['content-type'], cookie: headers.cookie, preflight: false, id: event.id })
    const status = statuses.shift() ?? 202
    if (status < 500) events.push(event)
    return reply.code(status).header('Access-Control-Allow-Origin', '*').send()
  })
  await collector.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => {
    collector.server.closeAllConnections()
    return collector.close()
  })
  const scriptUrl = `http://127.0.0.1:${portOf(collector.server)}/js/footfall.js`

  const pages = pagesOf(scriptUrl)
  const site = createServer((request, response) => {
    const path = (request.url as string).split('?')[0] as string
    const page = pages[path] ?? pages['*']
    if (page === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(page)
  })
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  t.after(() => {
    site.closeAllConnections()
    site.close()
  })

  return {
    origin: `http://127.0.0.1:${portOf(site)}`,
    scriptUrl,
    events,
    requests,
    seen: () => events.map(({ n, u }) => `${n} ${new URL(u).pathname}`),
    async arrived(count) {
      const end = Date.now() + 10_000
      while (events.length < count && Date.now() < end) await pause(10)
      await pause(250) // longer than a view waits for its title
      return events
    },
    answer: (...next) => void statuses.push(...next),
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port
