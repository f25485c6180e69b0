// Shared by all fault tests: customers in the stores, timed requests, and the metrics and log of the process.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import type { Plan } from '../../src/accounts/plans.ts'
import { createSite, type NewSite } from '../../src/accounts/sites.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import type { Postgres } from '../../src/stores/postgres.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import type { ApiProcess } from '../support/api-process.ts'
import { eventOf, type Hit } from '../support/events.ts'
import { inTime } from '../support/in-time.ts'
import { keySecrets } from '../support/stores.ts'
import type { Answer } from '../support/world.ts'

// How late our own timers were in the last seconds, which shows how busy the machine is.
const lateness: { at: number; ms: number }[] = []
let expected = performance.now()
setInterval(() => {
  const now = performance.now()
  lateness.push({ at: now, ms: now - expected })
  while (now - (lateness[0]?.at ?? now) > 5_000) lateness.shift()
  expected = now + 20
}, 20).unref()

/** The tolerance added to every time limit: 300 ms, and more while the machine is busy. */
export const noise = (): number => 300 + 5 * Math.max(0, ...lateness.map(({ ms }) => ms))

export interface Customer {
  accountId: string
  siteId: string
  /** The text of one of the site's keys. */
  key: string
}

export async function newCustomer(
  postgres: Postgres,
  site: Partial<NewSite> = {},
  plan: Plan = 'Agency',
): Promise<Customer> {
  const accountId = await createAccount(postgres, { name: 'Faults', plan })
  const siteId = await createSite(postgres, { accountId, domain: `${randomUUID()}.example`, ...site })
  return { accountId, siteId, key: await newKey(postgres, { accountId, siteId }) }
}

/** The text of another key: a site key, or without a site an account key. */
export async function newKey(
  postgres: Postgres,
  { accountId, siteId }: { accountId: string; siteId?: string },
  expiresAt?: Date,
): Promise<string> {
  const key = { accountId, name: 'Faults', ...(siteId && { siteId }), ...(expiresAt && { expiresAt }) }
  return (await createKey(postgres, keySecrets, key)).text
}

/** Records one pageview of a new visitor per hit, an hour ago. */
export async function record(clickhouse: ClickHouse, siteId: string, ...hits: Partial<Hit>[]): Promise<void> {
  const at = new Date(Date.now() - 3_600_000).toISOString()
  const events = hits.map((hit, index) => eventOf({ at, visitor: `visitor ${index}`, ...hit }, siteId, 'UTC'))
  await recordBatch(clickhouse, { id: randomUUID(), events })
}

export interface Timed extends Answer {
  ms: number
}

/** Sends a GET request and measures its time. */
export async function ask(
  { url }: { url: string },
  path: string,
  key?: string,
  init: RequestInit = {},
): Promise<Timed> {
  const began = performance.now()
  const response = await fetch(`${url}${path}`, {
    ...init,
    headers: { ...(key && { Authorization: `Bearer ${key}` }) },
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
  const json = isJson ? JSON.parse(text) : undefined
  return { status: response.status, headers: response.headers, text, json, ms: performance.now() - began }
}

export const overview = (api: { url: string }, key: string, query = ''): Promise<Timed> =>
  ask(api, `/api/v1/stats/overview?range=7d${query}`, key)

export const isCounted = ({ headers }: Answer): boolean => headers.has('x-ratelimit-remaining')

export function answered(answer: Timed, status: number, boundMs: number): void {
  assert.equal(answer.status, status, answer.text)
  inTime(answer.ms <= boundMs + noise(), `took ${Math.round(answer.ms)} ms, not ${boundMs}`)
}

/** Asserts an internal error: the envelope, Retry-After, and rate limit headers exactly when the request was counted. */
export function failed(answer: Timed, { boundMs, counted }: { boundMs: number; counted: boolean }): void {
  answered(answer, 500, boundMs)
  assert.equal(answer.json.error.code, 'internal_error')
  assert.equal(
    isCounted(answer),
    counted,
    counted ? 'rate limit headers are missing' : 'the request must not be counted',
  )
  assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/)
  assert.equal(answer.headers.get('access-control-allow-origin'), '*')
}

type Dependency = 'PostgreSQL' | 'ClickHouse'

/** The state of a dependency in /metrics. */
export async function isUp({ metricsUrl }: ApiProcess, dependency: Dependency): Promise<boolean> {
  const text = await (await fetch(metricsUrl)).text()
  const [, value] = new RegExp(`^footfall_dependency_up\\{dependency="${dependency}"\\} (\\d)$`, 'm').exec(text) ?? []
  assert.ok(value, `no metric for ${dependency}`)
  return value === '1'
}

/** The states of a dependency in the log, in order: `down` and `up`. */
export const changes = (api: ApiProcess, dependency: Dependency): string[] =>
  api
    .log()
    .split('\n')
    .map((line) => /"msg":"([^"]*)"/.exec(line)?.[1] ?? '')
    .filter((message) => message.startsWith(dependency))
    .map((message) => (message.endsWith('answers again') ? 'up' : 'down'))

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until the condition is true and returns how long it took. */
export async function until(what: string, boundMs: number, isTrue: () => Promise<boolean> | boolean): Promise<number> {
  const began = performance.now()
  for (;;) {
    if (await isTrue()) return Math.round(performance.now() - began)
    inTime(performance.now() - began <= boundMs + noise(), `${what}: not within ${boundMs} ms`)
    await sleep(15)
  }
}

/** Repeats a request while the work runs. A request without a response has status 0. */
export async function whileAsking(request: () => Promise<Timed>, work: () => Promise<unknown>): Promise<Timed[]> {
  const answers: Timed[] = []
  let isWorking = true
  const asking = (async () => {
    while (isWorking) {
      answers.push(await request().catch((error) => ({ ...none, text: String(error.cause ?? error) })))
      await sleep(10)
    }
  })()
  try {
    await work()
  } finally {
    isWorking = false
    await asking
  }
  return answers
}

const none: Timed = { status: 0, headers: new Headers(), text: '', json: undefined, ms: 0 }

/** The median of their times, because the machine may be busy during single requests. */
export const medianOf = (answers: readonly Timed[]): number =>
  answers.map(({ ms }) => ms).sort((a, b) => a - b)[answers.length >> 1] as number
