// Clients of the API with keys and sites that the process has cached. Most repeat a query, some send an ETag, some are faulty, and 18 of
// 100, 36 per second, are new queries that reach ClickHouse.
import { Agent, get } from 'node:http'
import type { StoreName } from '../../support/own-stores.ts'
import { pause } from '../runner.ts'
import type { Installation } from './installation.ts'
import { keepPace } from './pace.ts'

interface Answered {
  perSecond: number
  asked: number
  failed: number
  /** Counts by the store that was down. Failures while none is down show how busy this machine is. */
  whileBroken: Record<StoreName | 'nothing', { asked: number; failed: number; examples: string[] }>
}

export interface Requests {
  /** Sets the store that is down from now on, or none. */
  setVictim(victim: StoreName | undefined): void
  /** Sends new queries with every key until they succeed; false when that takes too long. */
  untilAnswered(timeoutMs: number): Promise<boolean>
  stop(): Promise<Answered>
}

interface Asked {
  path: string
  key: string
  etag?: string | undefined
  expected: readonly number[]
}

const timeoutMs = 10_000
const ranges = ['24h', '7d', '30d', '90d', '12m']
const reports = ['overview', 'pages', 'referrers', 'channels', 'geo', 'devices', 'events', 'utm', 'timeseries']
const limited = ['pages', 'referrers', 'geo', 'events', 'utm']

export async function startRequests({ server, keys }: Installation, rate: number): Promise<Requests> {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 })
  const fresh = () => ({ asked: 0, failed: 0, examples: [] as string[] })
  const answered: Answered = {
    perSecond: 0,
    asked: 0,
    failed: 0,
    whileBroken: { PostgreSQL: fresh(), Redis: fresh(), ClickHouse: fresh(), nothing: fresh() },
  }
  const underWay = new Set<Promise<void>>()
  const etags = new Map<string, string>()
  let victim: StoreName | undefined
  let number = 0
  let newQueries = 0

  /** Varies range, limit and page: 10,000 queries before one repeats. */
  function newQuery(): string {
    const nth = newQueries++
    const report = limited[nth % limited.length]
    return `/api/v1/stats/${report}?range=${ranges[nth % ranges.length]}&limit=${1 + (nth % 99)}&page=/page/${nth % 101}`
  }

  function next(): Asked {
    const nth = number++
    const { text: key } = keys[nth % keys.length] as { text: string }
    const kind = nth % 100
    if (kind < 18) return { path: newQuery(), key, expected: [200] }
    const repeated = `/api/v1/stats/${reports[nth % reports.length]}?range=${nth % 2 ? '7d' : '30d'}`
    if (kind < 70) return { path: repeated, key, expected: [200] }
    if (kind < 80) return { path: repeated, key, etag: etags.get(`${key} ${repeated}`), expected: [200, 304] }
    if (kind < 87) return { path: '/api/v1/stats/pages?range=7d&limit=0', key, expected: [400] }
    if (kind < 94) return { path: repeated, key: 'ff_s_made-up', expected: [401] }
    return { path: `${repeated}&site_id=site_aaaaaaaaaaaaaaaa`, key, expected: [403] }
  }

  async function ask(asked: Asked): Promise<void> {
    const during = victim ?? 'nothing'
    const began = performance.now()
    const { status, etag, text } = await fetchOnce(agent, `${server.url}${asked.path}`, asked)
    if (etag && status === 200) etags.set(`${asked.key} ${asked.path}`, etag)
    const isFailed = !asked.expected.includes(status)
    answered.asked++
    if (isFailed) answered.failed++
    const one = answered.whileBroken[during]
    one.asked++
    if (!isFailed) return
    one.failed++
    const ms = Math.round(performance.now() - began)
    if (one.examples.length < 5) one.examples.push(`${asked.path}: ${status} after ${ms} ms ${text.slice(0, 200)}`)
  }

  async function untilAnswered(boundMs: number): Promise<boolean> {
    const deadline = performance.now() + boundMs
    const isAnswered = async (key: string): Promise<boolean> => {
      while (performance.now() < deadline) {
        const { status } = await fetchOnce(agent, `${server.url}${newQuery()}`, { key })
        if (status === 200) return true
        await pause(50)
      }
      return false
    }
    return (await Promise.all(keys.map(({ text }) => isAnswered(text)))).every(Boolean)
  }

  if (!(await untilAnswered(60_000))) throw new Error(`The API does not respond:\n${server.log()}`)
  const pace = keepPace(rate, () => {
    const done = ask(next()).finally(() => underWay.delete(done))
    underWay.add(done)
  })

  return {
    setVictim(store) {
      victim = store
    },
    untilAnswered,
    async stop() {
      answered.perSecond = pace.stop()
      await Promise.all(underWay)
      agent.destroy()
      return answered
    },
  }
}

interface Reply {
  status: number
  etag: string | undefined
  text: string
}

/** Status 0 without a response. */
function fetchOnce(
  agent: Agent,
  url: string,
  { key, etag }: { key: string; etag?: string | undefined },
): Promise<Reply> {
  const headers = { Authorization: `Bearer ${key}`, ...(etag && { 'If-None-Match': etag }) }
  return new Promise((resolve) => {
    const none = (error?: Error) => resolve({ status: 0, etag: undefined, text: `no answer: ${error?.message}` })
    const asked = get(url, { agent, headers, timeout: timeoutMs }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('error', none)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, etag: response.headers.etag, text }))
    })
    asked.on('timeout', () => asked.destroy(new Error(`nothing within ${timeoutMs} ms`)))
    asked.on('error', none)
  })
}
