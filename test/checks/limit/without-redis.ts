// What one API process must do while Redis is down, for any reason, and when it is back (decisions D-45 and D-70).
import assert from 'node:assert/strict'
import { createClient } from '@redis/client'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import type { ApiProcess } from '../../support/api-process.ts'
import { degraded, isUp, metricOf, redisLines } from '../../support/redis-signs.ts'
import { keySecrets, openStores } from '../../support/stores.ts'

export const limit = 1000

/** The time that Redis may add to a request: at first its timeout of 100 ms, nothing once the process has noticed. */
const onceMs = 500
const thenMs = 50
/** Measured below a second; the rest is tolerance for a machine that runs other tests. */
const recoveryMs = 5_000

export interface Key {
  id: string
  text: string
}

export interface Answer {
  status: number
  limit: number
  remaining: number
  reset: number
  /** How much longer it took than an uncounted request to the same process at the same time. */
  added: number
}

export async function newKey(): Promise<Key> {
  const { postgres } = await openStores()
  const accountId = await createAccount(postgres, { name: 'Faults', plan: 'Starter' })
  const domain = `${accountId}.example`
  const siteId = await createSite(postgres, { accountId, domain, timeZone: 'UTC', excludedCountries: [] })
  return createKey(postgres, keySecrets, { accountId, siteId, name: 'Faults' })
}

/** A request that is counted and then refused for its filter. */
export async function ask(api: ApiProcess, key: Key): Promise<Answer> {
  const nothing = fetch(`${api.url}/livez`).then(() => performance.now())
  const headers = { Authorization: `Bearer ${key.text}` }
  const response = await fetch(`${api.url}/api/v1/stats/overview?browser=x`, { headers })
  const ended = performance.now()
  await response.arrayBuffer()
  const header = (name: string) => Number(response.headers.get(`X-RateLimit-${name}`) ?? Number.NaN)
  return {
    status: response.status,
    limit: header('Limit'),
    remaining: header('Remaining'),
    reset: header('Reset'),
    added: ended - (await nothing),
  }
}

/** All requests succeed and count down one by one from the known number. Only the first may have to wait. */
export async function servesAlone(api: ApiProcess, key: Key, known?: Answer): Promise<Answer> {
  const aloneBefore = await metricOf(api, degraded)
  const answers = [await ask(api, key)]
  await until('the process notices', async () => (await metricOf(api, isUp)) === 0)
  for (let count = 0; count < 9; count++) answers.push(await ask(api, key))

  const begin = known?.remaining ?? limit
  const reset = known?.reset ?? (answers[0] as Answer).reset
  assert.ok(reset > 0)
  for (const [index, { added, ...answer }] of answers.entries()) {
    assert.deepEqual(answer, { status: 400, limit, remaining: begin - 1 - index, reset })
    assert.ok(added < onceMs, `${added} ms more than an uncounted request`)
  }
  const times = answers.slice(1).map(({ added }) => added)
  const median = times.sort((a, b) => a - b)[4] as number
  assert.ok(median < thenMs, `${median} ms for each request: it waits for Redis`)
  assert.equal(await metricOf(api, degraded), aloneBefore + answers.length)
  return answers.at(-1) as Answer
}

/** Redis is back: the process sends it its count, and continues from there. */
export async function countsTogether(api: ApiProcess, redisUrl: string, key: Key, last: Answer): Promise<void> {
  await until('Redis is used again', async () => (await metricOf(api, isUp)) === 1)
  const alone = await metricOf(api, degraded)
  const { added: _, ...answer } = await ask(api, key)
  assert.deepEqual(answer, { status: 400, limit, remaining: last.remaining - 1, reset: last.reset })
  assert.equal(await metricOf(api, degraded), alone)

  const client = createClient({ url: redisUrl }).on('error', () => {})
  await client.connect()
  const held = await client.get(`footfall:limit:${key.id}`)
  client.destroy()
  assert.equal(Number(held), limit - answer.remaining)
}

/** Asserts one log line per change, in order, and no others about Redis. */
export async function logged(api: ApiProcess, after: number, ...lines: string[]): Promise<void> {
  const own = () => redisLines(api).slice(after)
  await until('the log has arrived', async () => own().length >= lines.length, 1_000).catch(() => {})
  assert.deepEqual(own(), lines)
}

export const went = 'Redis does not answer'
export const came = 'Redis answers again'

export async function until(what: string, holds: () => Promise<boolean>, withinMs = recoveryMs): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
