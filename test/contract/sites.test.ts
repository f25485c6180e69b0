// What we add to the contract: the sites of a key, and their overview in one request (docs/contract.md 4.2).
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { createSite, deleteSite, type NewSite } from '../../src/accounts/sites.ts'
import { Unavailable } from '../../src/stores/breaker.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { custom, eventOf, type Hit, pageview } from '../support/events.ts'
import { keySecrets, openStores } from '../support/stores.ts'
import { startApi } from '../support/world.ts'
import { foreignSite, noon, rateLimitOf, refused } from './vocabulary.ts'

/** An account without sites, with an account key. Domains are unique, and sort as they are given. */
async function openAccount(t: TestContext, options: Parameters<typeof startApi>[1] = {}) {
  const stores = await openStores()
  const { postgres, clickhouse } = stores
  const accountId = await createAccount(postgres, { name: 'Sites', plan: 'Agency' })
  const key = await createKey(postgres, keySecrets, { accountId, name: 'Account' })
  const api = await startApi(stores, { now: () => Date.parse(noon), ...options })
  t.after(() => api.close())
  const unique = randomUUID()
  return {
    stores,
    api,
    key,
    domainOf: (name: string) => `${name}.${unique}.example`,
    async addSite(name: string, site: Omit<NewSite, 'accountId' | 'domain'> = {}) {
      const domain = `${name}.${unique}.example`
      const id = await createSite(postgres, { accountId, domain, ...site })
      const own = await createKey(postgres, keySecrets, { accountId, siteId: id, name: 'Site' })
      api.directory.forget(id)
      const record = (...hits: Hit[]) =>
        recordBatch(clickhouse, {
          id: randomUUID(),
          events: hits.map((hit) => eventOf(hit, id, site.timeZone ?? 'UTC')),
        })
      return { id, domain, key: own, record }
    },
    get: (path: string, init: RequestInit = {}, as = key) =>
      api.fetch(`/api/v1${path}`, {
        ...init,
        headers: { Authorization: `Bearer ${as.text}`, ...(init.headers as Record<string, string>) },
      }),
  }
}

const zeros = { visitors: 0, pageviews: 0, sessions: 0, bounce_rate: 0, avg_duration: 0 }
const noChange = { visitors: null, pageviews: null, sessions: null, bounce_rate: null, avg_duration: null }

test('an account key lists its sites by domain, and a site key its own', async (t) => {
  const { addSite, get, stores } = await openAccount(t)
  await foreignSite(stores)
  assert.deepEqual((await get('/sites')).json, {
    data: [],
    meta: { limit: null, next_cursor: null, generated_at: '2026-11-15T12:00:00.000Z' },
  })
  const b = await addSite('b', { timeZone: 'Asia/Tokyo' })
  const a = await addSite('a')
  const rowOfA = { site_id: a.id, domain: a.domain, time_zone: 'UTC' }
  const rowOfB = { site_id: b.id, domain: b.domain, time_zone: 'Asia/Tokyo' }
  assert.deepEqual((await get('/sites')).json.data, [rowOfA, rowOfB])
  assert.deepEqual((await get('/sites', {}, b.key)).json.data, [rowOfB])
  assert.deepEqual((await get(`/sites?site_id=${a.id}`)).json.data, [rowOfA])
})

test('a deleted site is in no list any more', async (t) => {
  const { addSite, get, api, stores } = await openAccount(t)
  const [a, b] = [await addSite('a'), await addSite('b')]
  assert.equal((await get('/sites')).json.data.length, 2)
  assert.equal((await get('/sites/overview')).json.data.length, 2)
  await deleteSite(stores.postgres, a.id)
  api.directory.forget(a.id)
  for (const path of ['/sites', '/sites/overview'])
    assert.deepEqual(
      (await get(path)).json.data.map((row: { site_id: string }) => row.site_id),
      [b.id],
    )
})

test('the overview has each site in its own time zone, without its own excluded countries', async (t) => {
  const { addSite, get } = await openAccount(t)
  const tokyo = await addSite('a-tokyo', { timeZone: 'Asia/Tokyo' })
  const utc = await addSite('b-utc', { excludedCountries: ['DE'] })
  await tokyo.record(
    // Midnight of the 9th in Tokyo, the first instant of the period.
    pageview({ at: '2026-11-08T15:00:00Z', visitor: 'a' }),
    custom('signup', { at: '2026-11-08T15:00:10Z', visitor: 'a' }),
    // The evening of the 8th: after the part of the day that the previous period has.
    pageview({ at: '2026-11-08T14:59:59Z', visitor: 'b' }),
    pageview({ at: '2026-11-07T10:00:00Z', visitor: 'c' }),
  )
  await utc.record(
    pageview({ at: '2026-11-15T10:00:00Z', visitor: 'a', country: 'DE' }),
    pageview({ at: '2026-11-15T10:00:00Z', visitor: 'b', country: 'FR' }),
    pageview({ at: '2026-11-15T10:00:30Z', visitor: 'b', country: 'FR' }),
  )
  const rowOfTokyo = {
    site_id: tokyo.id,
    domain: tokyo.domain,
    period: { start: '2026-11-09T00:00:00+09:00', end: '2026-11-15T21:00:00+09:00' },
    current: { visitors: 1, pageviews: 1, sessions: 1, bounce_rate: 0, avg_duration: 10 },
    previous: { visitors: 1, pageviews: 1, sessions: 1, bounce_rate: 100, avg_duration: 0 },
    change: { visitors: 0, pageviews: 0, sessions: 0, bounce_rate: -100, avg_duration: null },
  }
  const periodOfUtc = { start: '2026-11-09T00:00:00+00:00', end: '2026-11-15T12:00:00+00:00' }
  const meta = { range: '7d', limit: 200, next_cursor: null, generated_at: '2026-11-15T12:00:00.000Z' }
  const all = await get('/sites/overview?range=7d')
  assert.equal(all.status, 200)
  assert.deepEqual(all.json, {
    data: [
      rowOfTokyo,
      {
        site_id: utc.id,
        domain: utc.domain,
        period: periodOfUtc,
        current: { visitors: 1, pageviews: 2, sessions: 1, bounce_rate: 0, avg_duration: 30 },
        previous: zeros,
        change: noChange,
      },
    ],
    meta,
  })
  const germans = await get('/sites/overview?range=7d&country=de')
  assert.deepEqual(germans.json.data, [
    rowOfTokyo,
    { site_id: utc.id, domain: utc.domain, period: periodOfUtc, current: zeros, previous: zeros, change: noChange },
  ])
  for (const answer of [
    await get('/sites/overview?range=7d', {}, tokyo.key),
    await get(`/sites/overview?range=7d&site_id=${tokyo.id}`),
  ])
    assert.deepEqual(answer.json, { data: [rowOfTokyo], meta })
})

test('foreign, unknown and malformed sites are refused alike, and so is another site of the account with a site key', async (t) => {
  const { addSite, get, stores } = await openAccount(t)
  const [a, b] = [await addSite('a'), await addSite('b')]
  const foreign = await foreignSite(stores)
  for (const path of ['/sites', '/sites/overview']) {
    for (const id of [foreign, 'site_aaaaaaaaaaaaaaaa', 'site_no', '%FF'])
      refused(await get(`${path}?site_id=${id}`), 403, 'forbidden')
    refused(await get(`${path}?site_id=${b.id}`, {}, a.key), 403, 'forbidden')
    for (const query of ['site_id=', `site_id=${a.id}&site_id=${a.id}`])
      for (const key of [undefined, a.key]) refused(await get(`${path}?${query}`, {}, key), 400, 'invalid_parameter')
  }
})

test('each call counts as one request, whatever the number of sites', async (t) => {
  const { addSite, get } = await openAccount(t)
  for (const name of ['a', 'b', 'c']) await addSite(name)
  const remaining: (number | undefined)[] = []
  for (const path of ['/sites', '/sites/overview', '/sites/overview?limit=1', '/sites/overview?limit=0'])
    remaining.push(rateLimitOf(await get(path))?.remaining)
  assert.deepEqual(remaining, [4999, 4998, 4997, 4996])
})

test('a cursor leads through all sites, also when some come and go', async (t) => {
  const { addSite, get, api, stores, domainOf } = await openAccount(t)
  const sites = Object.fromEntries(
    await Promise.all(['a', 'c', 'e', 'g', 'i'].map(async (name) => [name, await addSite(name)] as const)),
  )
  const pageAfter = async (cursor: string | null) => {
    const pages = await Promise.all(
      ['/sites/overview', '/sites'].map(async (path) => {
        const { status, json, text } = await get(`${path}?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
        assert.equal(status, 200, text)
        assert.equal(json.meta.limit, 2)
        return {
          domains: json.data.map(({ domain }: { domain: string }) => domain),
          next: json.meta.next_cursor as string | null,
        }
      }),
    )
    assert.deepEqual(pages[1], pages[0])
    return pages[0] as (typeof pages)[0]
  }
  const first = await pageAfter(null)
  assert.deepEqual(first.domains, [domainOf('a'), domainOf('c')])
  // The site that the cursor names is deleted, one comes before it, and one after it.
  await deleteSite(stores.postgres, sites.c?.id as string)
  api.directory.forget(sites.c?.id as string)
  await addSite('b')
  await addSite('d')
  const second = await pageAfter(first.next)
  assert.deepEqual(second.domains, [domainOf('d'), domainOf('e')])
  const third = await pageAfter(second.next)
  assert.deepEqual(third, { domains: [domainOf('g'), domainOf('i')], next: null })
  const after = await pageAfter(Buffer.from(`after ${domainOf('i')}`).toString('base64url'))
  assert.deepEqual(after, { domains: [], next: null })
})

test('without a limit the list has all sites, also those after a cursor', async (t) => {
  const { addSite, get, domainOf } = await openAccount(t)
  for (const name of ['a', 'b', 'c']) await addSite(name)
  const first = await get('/sites?limit=1')
  assert.equal(first.headers.get('stats-warning'), null)
  const rest = await get(`/sites?cursor=${first.json.meta.next_cursor}`)
  assert.deepEqual(
    rest.json.data.map(({ domain }: { domain: string }) => domain),
    [domainOf('b'), domainOf('c')],
  )
  assert.deepEqual([rest.json.meta.limit, rest.json.meta.next_cursor], [null, null])
})

test('a wrong cursor or limit is an invalid_parameter', async (t) => {
  const { addSite, get } = await openAccount(t)
  for (const name of ['a', 'b']) await addSite(name)
  const { json } = await get('/sites/overview?limit=1')
  const cursor = json.meta.next_cursor as string
  assert.match(cursor, /^[\w-]+$/)
  const wrong = [
    'cursor=',
    'cursor=x',
    'cursor=YQ',
    `cursor=${cursor}=`,
    `cursor=${cursor.slice(1)}`,
    `cursor=${Buffer.from('after ').toString('base64url')}`,
    `cursor=${cursor}&cursor=${cursor}`,
    'cursor=%FF',
    `Cursor=${cursor}`,
    `cursor[]=${cursor}`,
    ...['0', '201', '999', '-1', '1.0', '', '02'].map((limit) => `limit=${limit}`),
  ]
  for (const query of wrong)
    for (const path of ['/sites', '/sites/overview']) refused(await get(`${path}?${query}`), 400, 'invalid_parameter')
  for (const query of [`cursor=${cursor}`, 'limit=1', 'limit=100', 'limit=200'])
    for (const path of ['/sites', '/sites/overview']) assert.equal((await get(`${path}?${query}`)).status, 200)
  refused(await get('/sites/overview?range=custom&start=1900-01-01&end=2026-01-01'), 400, 'invalid_date')
})

test('Stats-Warning names what had no effect', async (t) => {
  const { addSite, get } = await openAccount(t)
  const a = await addSite('a')
  const warning = async (path: string) => (await get(path)).headers.get('stats-warning')
  assert.equal(await warning(`/sites/overview?limit=5&range=7d&site_id=${a.id}`), null)
  assert.equal(
    await warning('/sites/overview?start=2026-01-01&x=1'),
    'unknown parameter x was ignored; start has no effect without range=custom',
  )
  assert.equal(await warning(`/sites?site_id=${a.id}`), null)
  assert.equal(
    await warning('/sites?range=custom&start=2026-01-01&end=2026-01-02T10:00&limit=5&country=DE&y=1'),
    [
      'unknown parameter y was ignored',
      ...['range', 'start', 'end', 'country'].map((name) => `${name} has no effect on this endpoint`),
    ].join('; '),
  )
  const report = await get(`/stats/overview?site_id=${a.id}&cursor=x`)
  assert.equal(report.headers.get('stats-warning'), 'unknown parameter cursor was ignored')
})

test('both answer 304 for their tag, which follows the sites, the numbers and the next cursor', async (t) => {
  const { addSite, get } = await openAccount(t)
  const a = await addSite('a')
  const tagOf = async (path: string) => {
    const { status, headers } = await get(path)
    assert.equal(status, 200)
    assert.equal(headers.get('cache-control'), 'private, no-cache')
    assert.equal(headers.get('vary'), 'Authorization, Accept-Encoding')
    assert.equal(headers.get('stats-period'), null)
    return headers.get('etag') as string
  }
  const paths = ['/sites', '/sites?limit=1', '/sites/overview', '/sites/overview?limit=1', '/sites/overview?range=7d']
  const tags = await Promise.all(paths.map(tagOf))
  assert.equal(new Set(tags).size, paths.length)
  for (const [index, path] of paths.entries()) {
    const answer = await get(path, { headers: { 'If-None-Match': tags[index] as string } })
    assert.deepEqual([answer.status, answer.text], [304, ''])
    assert.ok(rateLimitOf(answer))
    const head = await get(path, { method: 'HEAD' })
    assert.deepEqual([head.status, head.text, head.headers.get('etag')], [200, '', tags[index]])
  }
  await a.record(pageview({ at: '2026-11-15T10:00:00Z' }))
  assert.equal(await tagOf('/sites'), tags[0])
  assert.notEqual(await tagOf('/sites/overview'), tags[2])
  const counted = await tagOf('/sites/overview?limit=1')
  await addSite('b')
  assert.notEqual(await tagOf('/sites'), tags[0])
  assert.notEqual(await tagOf('/sites?limit=1'), tags[1], 'there is a next page now')
  assert.notEqual(await tagOf('/sites/overview?limit=1'), counted, 'there is a next page now')
})

test('while ClickHouse is down, the last overview is repeated with its age, and without one the answer is 500', async (t) => {
  const stores = await openStores()
  let isDown = false
  let now = Date.parse(noon)
  const clickhouse = {
    ...stores.clickhouse,
    rows: async (...query: Parameters<typeof stores.clickhouse.rows>) => {
      if (isDown) throw new Unavailable('down')
      return stores.clickhouse.rows(...query)
    },
  }
  const { addSite, key } = await openAccount(t)
  await addSite('a')
  const api = await startApi({ ...stores, clickhouse: clickhouse as typeof stores.clickhouse }, { now: () => now })
  t.after(() => api.close())
  const get = (path: string) => api.fetch(`/api/v1${path}`, { headers: { Authorization: `Bearer ${key.text}` } })
  const before = await get('/sites/overview')
  isDown = true
  now += 61_000
  const during = await get('/sites/overview')
  assert.equal(during.status, 200)
  assert.equal(during.text, before.text)
  assert.match(during.headers.get('stats-warning') ?? '', /^this is the last known answer, 61 seconds old/)
  refused(await get('/sites/overview?range=7d'), 500, 'internal_error')
  assert.equal((await get('/sites')).status, 200)
})
