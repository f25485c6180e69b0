// A test site with the tracker in its pages, and an endpoint that records what arrives. Real HTTP on two ports, so that the script and
// the pages have different origins, as in production.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { trackerRoutes } from '../../../src/collector/http/tracker-routes.ts'

/** An event as the tracker sends it. */
interface Sent {
  n: string
  u: string
  d: string
  r: string
  t: string
  id: string
  /** Properties. */
  p?: Record<string, unknown>
  /** Revenue. */
  $?: Record<string, unknown>
}

export interface RecordingSite {
  /** Without a slash at the end. */
  origin: string
  /** All requests with their headers, in order of arrival. */
  events: Sent[]
  requests: { contentType: string | undefined; cookie: string | undefined; preflight: boolean; id?: string }[]
  /** What follows the question mark of each request. */
  queries: (string | undefined)[]
  /** `name path` of every event, enough for most tests. */
  seen(): string[]
  /** Waits until that many events have arrived, and a little longer in case there is one too many. */
  arrived(count: number): Promise<Sent[]>
  /** The status codes of the next responses; 202 afterwards. */
  answer(...statuses: number[]): void
  /** The body of all further responses. */
  says(sentence: string): void
  scriptUrl: string
}

export type Pages = Record<string, string>

/** For calls before the script has loaded, as docs/tracker.md has it. */
export const queue =
  '<script>window.footfall = window.footfall || ((...given) => (footfall.q = footfall.q || []).push(given))</script>'

export const tag = (src: string, attributes = ''): string =>
  `<script defer src="${src}" data-site="site.example" ${attributes}></script>`

export const page = (title: string, head: string, body = ''): string =>
  `<!doctype html><html><head><title>${title}</title>${head}</head><body>${body}</body></html>`

export async function openRecordingSite(t: TestContext, pagesOf: (scriptUrl: string) => Pages): Promise<RecordingSite> {
  const events: Sent[] = []
  const requests: RecordingSite['requests'] = []
  const statuses: number[] = []
  const queries: RecordingSite['queries'] = []
  let sentence = ''
  const script = trackerRoutes()
  const collector = createServer(async (request, response) => {
    const path = (request.url as string).split('?')[0] as string
    if (script[path]) return script[path].handle(request, response)
    if (path !== '/api/event') return void response.writeHead(404).end()
    if (request.method === 'OPTIONS') {
      requests.push({ contentType: undefined, cookie: undefined, preflight: true })
      return void response.writeHead(204).end()
    }
    const event = (await json(request)) as Sent
    const { 'content-type': contentType, cookie } = request.headers
    requests.push({ contentType, cookie, preflight: false, id: event.id })
    const status = statuses.shift() ?? 202
    queries.push((request.url as string).split('?')[1])
    if (status < 500) events.push(event)
    response.writeHead(status, { 'Access-Control-Allow-Origin': '*' }).end(sentence)
  })
  const scriptUrl = `http://127.0.0.1:${await listen(t, collector)}/js/footfall.js`

  const port = await servePages(t, pagesOf(scriptUrl))

  return {
    origin: `http://127.0.0.1:${port}`,
    scriptUrl,
    events,
    requests,
    queries,
    seen: () => events.map(({ n, u }) => `${n} ${new URL(u).pathname}`),
    async arrived(count) {
      const end = Date.now() + 10_000
      while (events.length < count && Date.now() < end) await pause(10)
      await pause(250) // longer than a page view waits for its title
      return events
    },
    says(text) {
      sentence = text
    },
    answer: (...next) => void statuses.push(...next),
  }
}

/** Serves static pages; `*` is the page for all other paths. Returns the port. */
export function servePages(t: TestContext, pages: Pages): Promise<number> {
  const site = createServer((request, response) => {
    const path = (request.url as string).split('?')[0] as string
    const page = pages[path] ?? pages['*']
    if (page === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(page)
  })
  return listen(t, site)
}

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
