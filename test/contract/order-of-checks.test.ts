// A request with two faults gets the error that comes first in the contract's order (decision D-38).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey, deleteKey, setKeyDisabled } from '../../src/accounts/keys.ts'
import { type Limiter, memoryLimiter } from '../../src/api/rate-limit.ts'
import { keySecrets, openStores } from '../support/stores.ts'
import { type Answer, startApi } from '../support/world.ts'
import { sendRaw } from './raw.ts'
import { codeOf, foreignSite, newSite, times } from './vocabulary.ts'

const order = [
  'route',
  'unauthorized',
  'invalid_key',
  'key_disabled',
  'key_expired',
  'plan_required',
  'rate_limit_exceeded',
  'site_required',
  'forbidden',
  'unsupported_filter',
  'invalid_parameter',
  'invalid_date',
] as const

type Rule = (typeof order)[number]

/** Pairs of faults that no single request can have. */
const exclusive: Record<string, string> = {
  'site_required forbidden': 'one needs a missing site_id, the other a site_id that names a site',
}

/** Sends a request with these faults: the key causes most of them, the request the rest. */
async function send(
  api: Awaited<ReturnType<typeof startApi>>,
  limiter: Limiter,
  broken: readonly Rule[],
  endpoint = '/stats/pages',
): Promise<Answer> {
  const breaks = (rule: Rule) => broken.includes(rule)
  const stores = await openStores()
  const { postgres } = stores
  const accountId = await createAccount(postgres, {
    name: 'Faulty',
    plan: breaks('plan_required') ? 'Free' : 'Starter',
  })
  const siteId = await newSite({ stores, accountId })
  const key = await createKey(postgres, keySecrets, {
    accountId,
    name: 'Faulty',
    ...(!breaks('site_required') && { siteId }),
    ...(breaks('key_expired') && { expiresAt: new Date('2020-01-01T00:00:00Z') }),
  })
  if (breaks('key_disabled')) await setKeyDisabled(postgres, key.id, true)
  if (breaks('rate_limit_exceeded')) await Promise.all(times(1000, () => limiter.spend(key.id, 1000)))
  if (breaks('invalid_key')) await deleteKey(postgres, key.id)

  const query = new URLSearchParams()
  if (breaks('forbidden')) query.set('site_id', await foreignSite(stores))
  if (breaks('unsupported_filter')) query.set('browser', 'Chrome')
  if (breaks('invalid_parameter')) query.set('limit', '0')
  if (breaks('invalid_date')) query.set('start', 'yesterday')
  const path = `/api/v1${endpoint}${breaks('route') ? '/nope' : ''}`
  const scheme = breaks('unauthorized') ? 'Basic' : 'Bearer'
  return api.fetch(`${path}?${query}`, { headers: { Authorization: `${scheme} ${key.text}` } })
}

const codeFor = (rule: Rule) => (rule === 'route' ? 'not_found' : rule)

const pairs = order.flatMap((first, index) => order.slice(index + 1).map((second) => [first, second] as const))

async function openApi(t: { after(end: () => Promise<void>): void }) {
  const limiter = memoryLimiter(Date.now)
  const api = await startApi(await openStores(), { limiter })
  t.after(() => api.close())
  return { api, limiter }
}

test('a request without faults succeeds, and each fault alone gets its own code', async (t) => {
  const { api, limiter } = await openApi(t)
  assert.equal(codeOf(await send(api, limiter, [])), 'ok')
  for (const rule of order) assert.equal(codeOf(await send(api, limiter, [rule])), codeFor(rule))
})

for (const first of order.slice(0, -1))
  test(`${first} is reported before every later error`, async (t) => {
    const { api, limiter } = await openApi(t)
    for (const pair of pairs.filter((one) => one[0] === first && !(one.join(' ') in exclusive)))
      assert.equal(codeOf(await send(api, limiter, pair)), codeFor(first), pair.join(' and '))
  })

test('with every later fault at once, the first error is still reported', async (t) => {
  const { api, limiter } = await openApi(t)
  for (const [index, first] of order.entries()) {
    const later = order.slice(index).filter((rule) => !(`${first} ${rule}` in exclusive))
    const possible =
      later.includes('site_required') && first !== 'site_required'
        ? later.filter((rule) => rule !== 'forbidden')
        : later
    assert.equal(codeOf(await send(api, limiter, possible)), codeFor(first))
  }
})

for (const endpoint of ['/sites', '/sites/overview'])
  test(`${endpoint} checks in the same order, and needs no site`, async (t) => {
    const { api, limiter } = await openApi(t)
    assert.equal(codeOf(await send(api, limiter, [], endpoint)), 'ok')
    assert.equal(codeOf(await send(api, limiter, ['site_required'], endpoint)), 'ok', 'an account key names no site')
    const possible = order.filter((rule) => rule !== 'site_required')
    for (const [index, first] of possible.entries()) {
      assert.equal(codeOf(await send(api, limiter, [first], endpoint)), codeFor(first))
      assert.equal(codeOf(await send(api, limiter, possible.slice(index), endpoint)), codeFor(first))
    }
  })

test('a wrong method is reported before a missing key, and an unknown path before a wrong method', async (t) => {
  const { api } = await openApi(t)
  const post = { method: 'POST', body: '{' }
  assert.equal(codeOf(await api.fetch('/api/v1/stats/pages?limit=0', post)), 'method_not_allowed')
  assert.equal(codeOf(await api.fetch('/api/v1/stats/nope?limit=0', post)), 'not_found')
})

test('an unknown path is reported before two Authorization headers', async (t) => {
  const { api } = await openApi(t)
  const headers = 'Host: a\r\nAuthorization: Bearer x\r\nAuthorization: Bearer y\r\nConnection: close'
  const ask = async (path: string) => codeOf(await sendRaw(api.port, `GET ${path} HTTP/1.1\r\n${headers}\r\n\r\n`))
  assert.equal(await ask('/api/v1/stats/nope'), 'not_found')
  assert.equal(await ask('/api/v1/stats/pages'), 'unauthorized')
})

test('a repeated or empty site_id is an invalid_parameter, reported after unsupported_filter', async (t) => {
  const { api } = await openApi(t)
  const stores = await openStores()
  const accountId = await createAccount(stores.postgres, { name: 'Twice', plan: 'Starter' })
  const siteId = await newSite({ stores, accountId })
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'Twice' })
  const headers = { Authorization: `Bearer ${key.text}` }
  for (const site of ['site_id=', `site_id=${siteId}&site_id=${siteId}`]) {
    const ask = async (query: string) => codeOf(await api.fetch(`/api/v1/stats/pages?${query}`, { headers }))
    assert.equal(await ask(site), 'invalid_parameter')
    assert.equal(await ask(`${site}&start=yesterday`), 'invalid_parameter')
    assert.equal(await ask(`${site}&os=Linux`), 'unsupported_filter')
  }
})
