// POST /api/event as a client sees it, on a separate collector process.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { browserAgent, type CollectorProcess, startCollectorProcess } from '../../support/collector-process.ts'
import { eventually } from '../../support/eventually.ts'
import { openStores } from '../../support/stores.ts'

const domain = `${randomUUID()}.example`
const page = { n: 'pageview', u: `https://${domain}/`, d: domain }
let collector: CollectorProcess

before(async () => {
  const { postgres, addresses } = await openStores()
  const accountId = await createAccount(postgres, { name: 'Events', plan: 'Free' })
  await createSite(postgres, { accountId, domain })
  collector = await startCollectorProcess({ postgres: addresses.postgres, clickhouse: addresses.clickhouse })
})
after(() => collector.stop())

const outcome = async (body: unknown, headers?: Record<string, string>) => {
  const response = await collector.post(body, headers, '?debug=1')
  const { ids: _, ...answer } = (await response.json()) as { ids?: string[] }
  return [response.status, answer]
}

for (const type of ['application/json', 'text/plain', 'text/plain;charset=UTF-8', 'application/octet-stream']) {
  test(`taken as ${type}`, async () => {
    assert.deepEqual(await outcome(page, { 'Content-Type': type }), [202, { accepted: 1, dropped: [] }])
  })
}

test('the debug response names fields that are not recorded, and no others', async () => {
  const odd = { ...page, props: { plan: 'x', 'a b': 'y' }, revenue: { amount: 1 }, more: '' }
  const [status, body] = await outcome([page, odd])
  assert.deepEqual(
    [status, body],
    [202, { accepted: 2, dropped: [], ignored: [{ index: 1, fields: ['more', 'props.a b', 'revenue'] }] }],
  )
  const long = { name: 'pageview', url: page.u, domain, referrer: 'https://t.co/', title: 'Title' }
  const short = { ...page, r: 'https://t.co/', t: 'Title' }
  assert.deepEqual(await outcome(long), [202, { accepted: 1, dropped: [] }])
  assert.deepEqual(await outcome({ ...short, id: randomUUID() }), [202, { accepted: 1, dropped: [] }])
  assert.deepEqual(await (await collector.post({ ...page, props: {} })).json(), { accepted: 1 })
})

test('fifty events are accepted, fifty-one are not', async () => {
  assert.deepEqual(await outcome(Array(50).fill(page)), [202, { accepted: 50, dropped: [] }])
  const [status, body] = await outcome(Array(51).fill(page))
  assert.equal(status, 400)
  assert.equal((body as { error: { code: string } }).error.code, 'invalid_body')
})

test('a request may name ten sites at most, in any distribution, because each may need a lookup', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}-${domain}`)
  const ten = Array.from({ length: 50 }, () => ({ ...page, d: names(10).join() }))
  assert.equal((await outcome(ten))[0], 202)
  for (const eleven of [
    { ...page, d: names(11).join() },
    names(11).map((name) => ({ ...page, d: name })),
    names(11).map((name) => ({ ...page, domain: name })),
  ]) {
    const [status, body] = await outcome(eleven)
    assert.equal(status, 400)
    assert.equal((body as { error: { code: string } }).error.code, 'invalid_body')
  }
})

const padded = (bytes: number) => {
  const empty = JSON.stringify({ ...page, t: '' })
  return JSON.stringify({ ...page, t: 'x'.repeat(bytes - empty.length) })
}

test('65,536 bytes are accepted, one more is not', async () => {
  assert.deepEqual(await outcome(padded(65_536)), [202, { accepted: 1, dropped: [] }])
  const [status, body] = await outcome(padded(65_537))
  assert.equal(status, 413)
  assert.equal((body as { error: { code: string } }).error.code, 'too_large')
})

for (const body of ['', '{', 'null', '7', '"text"', '[]', 'n=pageview', '{"n":"pageview"']) {
  test(`refused: ${body || 'nothing'}`, async () => {
    const response = await collector.post(body)
    assert.equal(response.status, 400)
    assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'invalid_body')
    assert.equal(response.headers.get('Access-Control-Allow-Origin'), '*')
  })
}

test('without debug the response has only the number, and drops are counted by reason', async () => {
  const metric = () => collector.metric('footfall_events_dropped_total{reason="unknown_site"}')
  const counted = await metric()
  const response = await collector.post([page, { ...page, d: 'nobody.example' }, { ...page, d: 'nobody.example' }])
  assert.deepEqual([response.status, await response.json()], [202, { accepted: 1 }])
  assert.equal(await metric(), counted + 2)
})

test('an event with several sites counts for each one that exists', async () => {
  assert.deepEqual(await outcome({ ...page, d: `${domain},nobody.example` }), [
    202,
    { accepted: 1, dropped: [{ index: 1, reason: 'unknown_site' }] },
  ])
})

test('for the console of a browser the outcome is a sentence', async () => {
  const sentence = async (body: unknown, headers?: Record<string, string>) => {
    const response = await collector.post(body, headers, '?debug=text')
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain/)
    assert.equal(response.headers.get('access-control-allow-origin'), '*')
    return response.text()
  }
  assert.match(await sentence(page), /^counted, as event [-0-9a-f]{36}$/)
  const id = randomUUID()
  assert.equal(await sentence({ ...page, id }), `counted, as event ${id}`)
  assert.match(await sentence({ ...page, u: 'https://foreign.example/' }), /^not counted: the host of this page is not/)
  assert.match(await sentence({ ...page, d: 'nobody.example' }), /^not counted: there is no site with this domain/)
  assert.match(await sentence(page, { 'User-Agent': 'Googlebot/2.1' }), /^not counted: .* bot$/)
  assert.match(
    await sentence({ ...page, d: `${domain},nobody.example` }),
    /^counted, as event [-0-9a-f]{36}; not counted: there is no site/,
  )
})

test('an accepted event has an id that is told on request: its own, or one of ours', async () => {
  const id = randomUUID()
  const answer = await collector.post(
    [{ ...page, id: id.toUpperCase() }, page, { ...page, d: 'nobody.example' }],
    {},
    '?debug=1',
  )
  const { ids } = (await answer.json()) as { ids: string[] }
  assert.equal(ids.length, 2)
  assert.equal(ids[0], id)
  assert.match(ids[1] ?? '', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})

test('dropped events of a site are written: id, when, why and a foreign host, nothing else', async () => {
  const { postgres } = await openStores()
  const [foreign, bot, spam, many] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const secret = { 'User-Agent': `${browserAgent} Secret` }
  await collector.post({ ...page, id: foreign, u: 'https://shop.example/secret?q=1' }, secret)
  await collector.post({ ...page, id: bot }, { 'User-Agent': 'curl/8.5.0 Secret' })
  await collector.post({ ...page, id: spam, r: 'https://semalt.com/secret' }, secret)
  await collector.post({ ...page, id: many, d: 'nobody.example' }, secret)
  const rows = await eventually(async () => {
    const found = await postgres`
      SELECT dropped.* FROM dropped_events AS dropped JOIN sites ON sites.id = site_id
      WHERE domain = ${domain} AND event_id = ANY(${[foreign, bot, spam, many]}::text[]::uuid[])`
    assert.equal(found.length, 3)
    return found
  })
  const byId = Object.fromEntries(rows.map(({ event_id, reason, hostname }) => [event_id, [reason, hostname]]))
  assert.deepEqual(byId, {
    [foreign]: ['hostname_not_allowed', 'shop.example'],
    [bot]: ['bot', ''],
    [spam]: ['spam_referrer', ''],
  })
  assert.deepEqual(Object.keys(rows[0] ?? {}).toSorted(), ['dropped_at', 'event_id', 'hostname', 'reason', 'site_id'])
  assert.ok(Math.abs(rows[0]?.dropped_at.getTime() - Date.now()) < 60_000)
})

test('a bot gets 202 like any client', async () => {
  assert.deepEqual(await outcome(page, { 'User-Agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }), [
    202,
    { accepted: 0, dropped: [{ index: 0, reason: 'bot' }] },
  ])
})

test('pages of any origin may send events, with and without a preflight', async () => {
  const preflight = await fetch(`${collector.url}/api/event`, {
    method: 'OPTIONS',
    headers: { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('Access-Control-Allow-Origin'), '*')
  assert.match(preflight.headers.get('Access-Control-Allow-Methods') ?? '', /POST/)
  assert.match(preflight.headers.get('Access-Control-Allow-Headers') ?? '', /Content-Type/)
  const response = await collector.post(page, { Origin: 'https://a.example' })
  assert.equal(response.headers.get('Access-Control-Allow-Origin'), '*')
})

test('other paths and methods are refused', async () => {
  assert.equal((await fetch(`${collector.url}/api/v1/stats/overview`)).status, 404)
  assert.equal((await fetch(`${collector.url}/__proto__`)).status, 404)
  const get = await fetch(`${collector.url}/api/event`)
  assert.deepEqual([get.status, get.headers.get('Allow')], [405, 'POST, OPTIONS'])
})

test('a new site is known within a second', async () => {
  const { postgres } = await openStores()
  const fresh = `${randomUUID()}.example`
  const event = { n: 'pageview', u: `https://${fresh}/`, d: fresh }
  assert.deepEqual(await outcome(event), [202, { accepted: 0, dropped: [{ index: 0, reason: 'unknown_site' }] }])
  const accountId = await createAccount(postgres, { name: 'Fresh', plan: 'Free' })
  await createSite(postgres, { accountId, domain: fresh })
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  assert.deepEqual(await outcome(event), [202, { accepted: 1, dropped: [] }])
})

test('a second collector on the same spool does not start and says why', async () => {
  const { addresses } = await openStores()
  const second = startCollectorProcess(
    { postgres: addresses.postgres, clickhouse: addresses.clickhouse },
    { spoolFolder: collector.spoolFolder },
  )
  await assert.rejects(second, /Another collector uses the spool folder/)
})

test('a client that disconnects in the middle of its body leaves nothing behind', async () => {
  const { port } = new URL(collector.url)
  const { connect } = await import('node:net')
  for (let time = 0; time < 20; time++) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      `POST /api/event HTTP/1.1\r\nHost: a\r\nUser-Agent: ${browserAgent}\r\nContent-Length: 500\r\n\r\n{"n":"pageview"`,
    )
    await new Promise((resolve) => setTimeout(resolve, 5))
    socket.destroy()
  }
  assert.deepEqual(await outcome(page), [202, { accepted: 1, dropped: [] }])
  assert.doesNotMatch(collector.log(), /"level":50/)
})

test('any number of aborted oversized bodies leaves room for the next event', async () => {
  const { port } = new URL(collector.url)
  const { connect } = await import('node:net')
  // 120 MB together, more than the budget for all bodies.
  const body = 'x'.repeat(120_000)
  for (let time = 0; time < 1_000; time++) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.end(
      `POST /api/event HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${body.length + 20}\r\n\r\n${body}`,
    )
    socket.on('error', () => {}).resume()
    await new Promise((resolve) => socket.once('close', resolve))
  }
  assert.deepEqual(await outcome(padded(65_536)), [202, { accepted: 1, dropped: [] }])
})
