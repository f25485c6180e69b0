// Visitors of all sites, at both collectors. Each event has its own id and is sent until it is acknowledged. The ledger of acknowledged
// events is compared with everything else.
import { Agent, request } from 'node:http'
import { browserAgent } from '../../support/collector-process.ts'
import { seeded } from '../../support/random.ts'
import { pause } from '../runner.ts'
import type { ChaosSite, Installation } from './installation.ts'
import { keepPace } from './pace.ts'

export interface Ledger {
  perSecond: number
  /** The acknowledged ids by site. */
  acknowledged: Map<string, Set<string>>
  /** Attempts with status 503 or without a response. */
  refused: number
  broken: number
  odd: string[]
}

/** One of this many events goes to the collector with the slow clock. */
const slowShare = 4
const againMs = 300
const timeoutMs = 10_000

export function startHits({ server, slow, steady, restless, doomed }: Installation, rate: number, seed: string) {
  const random = seeded(`${seed}/hits`)
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  const sites = [...restless, ...restless, doomed, ...steady]
  const ledger: Ledger = {
    perSecond: 0,
    acknowledged: new Map(sites.map(({ id, past }) => [id, new Set(past)])),
    refused: 0,
    broken: 0,
    odd: [],
  }
  const underWay = new Set<Promise<void>>()
  let isStopped = false

  async function send(url: string, site: ChaosSite, id: string, visitor: number): Promise<void> {
    for (;;) {
      const status = await post(agent, `${url}/api/event`, site.domain, id, visitor)
      if (status === 202) return void ledger.acknowledged.get(site.id)?.add(id)
      if (status === 503 || status === 429) ledger.refused++
      else if (status === 0) ledger.broken++
      else {
        // The deleted site accepts no events.
        if (site !== doomed) ledger.odd.push(`an event of ${site.domain} got ${status}`)
        return
      }
      if (site === doomed && isStopped) return
      await pause(againMs)
    }
  }

  const pace = keepPace(rate, () => {
    const url = random.oneIn(slowShare) ? slow.url : server.url
    const sent = send(url, random.pick(sites), random.uuid(), random.below(2_000)).finally(() => underWay.delete(sent))
    underWay.add(sent)
  })

  return {
    /** When this returns, every event is acknowledged, except those of the deleted site. */
    async stop(): Promise<Ledger> {
      ledger.perSecond = pace.stop()
      isStopped = true
      await Promise.all(underWay)
      agent.destroy()
      return ledger
    },
  }
}

/** The status: 200 if the event was accepted but not counted, 0 without a response. */
function post(agent: Agent, url: string, domain: string, id: string, visitor: number): Promise<number> {
  const body = JSON.stringify({ n: 'pageview', u: `https://${domain}/page/${visitor % 40}`, d: domain, id })
  const headers = {
    'User-Agent': browserAgent,
    'X-Forwarded-For': `198.18.${visitor >> 8}.${visitor & 255}`,
    'Content-Length': Buffer.byteLength(body),
  }
  return new Promise((resolve) => {
    const asked = request(url, { agent, method: 'POST', headers, timeout: timeoutMs }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('error', () => resolve(0))
      response.on('end', () => {
        const status = response.statusCode ?? 0
        resolve(status === 202 && !text.includes('"accepted":1') ? 200 : status)
      })
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(0))
    asked.end(body)
  })
}
