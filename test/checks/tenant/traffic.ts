// Many concurrent requests to two API processes about watermarked sites, while exclusions change, PostgreSQL is late and ClickHouse goes
// down.
import { Agent, request } from 'node:http'
import type { ApiProcess } from '../../support/api-process.ts'
import type { Random } from '../../support/random.ts'
import { type Ask, makeAsks } from './asking.ts'
import { type BreakableStores, pause } from './breakable-stores.ts'
import { changeExclusions } from './exclusions.ts'
import { expectedData, parametersOf, pathOf } from './expected.ts'
import { type Answered, type Breaches, openJudge, type Received } from './verdict.ts'
import type { TrafficDays, WatermarkedSite } from './watermarked-sites.ts'

export interface TrafficOptions {
  stores: BreakableStores
  apis: readonly ApiProcess[]
  sites: readonly WatermarkedSite[]
  days: TrafficDays
  requests: number
  random: Random
  /** Also uses SIGSTOP, not only SIGKILL: that takes 4 s. */
  longOutages: boolean
  say: (text: string) => void
}

export interface TrafficCounts {
  requests: number
  answered: Answered
  breaches: Breaches
  exclusionChanges: number
  maxInFlight: number
  maxIdenticalInFlight: number
  examples: string[]
}

const inFlight = 72
/** After ClickHouse is back, the circuit breaker may need a probe to notice. */
const recoveryMs = 3_000

export async function runTraffic(options: TrafficOptions): Promise<TrafficCounts> {
  const { stores, apis, sites, days, requests, random, say } = options
  const agents = apis.map(() => new Agent({ keepAlive: true, maxSockets: inFlight }))
  const exclusions = changeExclusions(stores.postgres, sites, random, async (site, excluded) => {
    const query = { report: 'geo', range: '7d' } as const
    const expected = expectedData(site, query, excluded, days)
    const answers = apis.map(async ({ url }, api) => {
      const ask = { site, sites: [site], query, key: site.siteKeys[0] as string, namesSite: false, api }
      const { status, body } = await send(ask, url, agents[api] as Agent, days)
      return status === 200 && body.startsWith(`{"data":${expected},`)
    })
    return (await Promise.all(answers)).every(Boolean)
  })
  const judge = openJudge(days, exclusions)
  const asks = makeAsks(random, sites, apis.length, judge.tags)
  const outage = { from: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY }
  const flying = new Map<string, number>()
  const most = { inFlight: 0, identical: 0 }
  let begun = 0
  let done = 0

  async function one(ask: Ask): Promise<void> {
    const identity = `${ask.site.number} ${JSON.stringify(ask.query)}`
    const now = (flying.get(identity) ?? 0) + 1
    flying.set(identity, now)
    most.identical = Math.max(most.identical, now)
    most.inFlight = Math.max(most.inFlight, begun - done)
    const startedAt = performance.now()
    try {
      const received = await send(ask, (apis[ask.api] as ApiProcess).url, agents[ask.api] as Agent, days)
      const clickhouseIsDown = outage.from <= received.receivedAt && outage.until >= startedAt
      judge.judge(ask, received, clickhouseIsDown)
      if (received.status === 500) await pause(100) // refusals are immediate; leave the rest of the run for successful requests
    } catch (error) {
      judge.failed(ask, error as Error)
    } finally {
      const left = (flying.get(identity) as number) - 1
      if (left === 0) flying.delete(identity)
      else flying.set(identity, left)
      done++
    }
  }

  // Refusals do not count: the run needs this many responses, and all the outages.
  let hasBroken = false
  const wanted = () => !hasBroken || begun - judge.answered.refused - judge.answered.late < requests
  async function keepAsking(): Promise<void> {
    while (wanted()) {
      begun++
      if (begun % 5_000 === 0) say(`${begun} requests, ${JSON.stringify(judge.breaches)}`)
      await one(asks.next().value)
    }
  }

  async function breakAt(share: number, how: () => Promise<void>): Promise<void> {
    while (begun < requests * share) await pause(10)
    outage.from = Math.min(outage.from, performance.now())
    outage.until = Number.POSITIVE_INFINITY
    await how()
    outage.until = performance.now() + recoveryMs
    say(`broken and recovered: ${judge.answered.last} cached responses, ${judge.answered.refused} refusals so far`)
  }

  async function breakThings(): Promise<void> {
    for (const share of [0.2, 0.3]) await breakAt(share, () => stores.stopPostgres(400))
    while (begun < requests * 0.5) await pause(10)
    // Responses cached before this change must not be sent any more.
    await exclusions.changeAll()
    await breakAt(0.5, () => stores.killClickHouse(500))
    if (options.longOutages) await breakAt(0.75, () => stores.stopClickHouse(4_000))
    hasBroken = true
  }

  try {
    await Promise.all([breakThings(), ...Array.from({ length: inFlight }, keepAsking)])
  } finally {
    await exclusions.stop()
    for (const agent of agents) agent.destroy()
  }
  return {
    requests: begun,
    answered: judge.answered,
    breaches: judge.breaches,
    exclusionChanges: exclusions.changes(),
    maxInFlight: most.inFlight,
    maxIdenticalInFlight: most.identical,
    examples: judge.examples,
  }
}

function send(ask: Ask, url: string, agent: Agent, days: TrafficDays): Promise<Received> {
  const parameters = parametersOf(ask.query, days, ask.site)
  if (ask.namesSite) parameters.set('site_id', ask.site.id)
  const headers = {
    Authorization: `Bearer ${ask.key}`,
    ...(ask.ifNoneMatch && { 'If-None-Match': ask.ifNoneMatch.header }),
  }
  const [sentAt, sentOn] = [performance.now(), Date.now()]
  return new Promise((resolve, reject) => {
    const sending = request(`${url}${pathOf(ask.query)}?${parameters}`, { agent, headers }, (got) => {
      let body = ''
      got.setEncoding('utf8')
      got.on('data', (chunk: string) => {
        body += chunk
      })
      got.on('error', reject)
      got.on('end', () =>
        resolve({
          status: got.statusCode as number,
          headers: got.headers,
          body,
          sentAt,
          sentOn,
          receivedAt: performance.now(),
        }),
      )
    })
    sending.on('error', reject)
    sending.end()
  })
}
