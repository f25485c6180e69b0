import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before, type TestContext } from 'node:test'
import { freePort } from '../../dev/clickhouse/server.ts'
import { type ApiProcess, startApiProcess } from '../support/api-process.ts'
import { type Installation, install, runFootfall } from '../support/installation.ts'
import { createShop, shopDays } from '../support/shop.ts'
import { refusalOf } from '../support/stats-refusal.ts'

let installation: Installation
let api: ApiProcess
let key: string
let siteId: string
const folder = mkdtempSync(join(tmpdir(), 'footfall-key-'))
before(async () => {
  installation = await install()
  siteId = (await createShop(installation)).id
  await installation.json('site', 'create', 'shop-two.example') // before shop.example in the API, after it in many collations
  await installation.json('demo', 'demo.example', '--events', '10000')
  const [{ id: accountId }] = await installation.json('account', 'list')
  key = (await installation.json('key', 'create', '--account', accountId)).key
  const { postgres, clickhouse } = installation.addresses
  api = await startApiProcess({ postgres, clickhouse })
})
after(async () => {
  rmSync(folder, { recursive: true })
  await api.stop()
  await installation.remove()
})

/** On another machine: nothing but the key, and no settings of the server. */
const far = (words: readonly string[], environment: Record<string, string> = { FOOTFALL_KEY: key }) =>
  runFootfall(['stats', '--url', api.url, ...words], { PATH: process.env.PATH ?? '', ...environment })

const near = (words: readonly string[]) => installation.footfall('stats', ...words)

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('--json has for each report exactly the data that the API answers, here and from a server', async () => {
  const days = { range: 'custom', start: '2026-01-01', end: '2026-06-30' }
  const words = ['demo.example', '--start', days.start, '--end', days.end, '--limit', '7', '--compare', '--json']
  const [local, remote] = await Promise.all([near(words), far(words)])
  assert.deepEqual([local.code, remote.code], [0, 0], local.stderr + remote.stderr)
  assert.deepEqual(JSON.parse(remote.stdout), JSON.parse(local.stdout))
  const shown = JSON.parse(local.stdout)
  for (const report of ['overview', 'timeseries', 'pages', 'referrers', 'geo', 'devices', 'events']) {
    const limit = ['overview', 'timeseries'].includes(report) ? {} : { limit: '7' }
    const query = new URLSearchParams({ site_id: shown.site_id, ...days, ...limit })
    const response = await fetch(`${api.url}/api/v1/stats/${report}?${query}`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    const { data } = (await response.json()) as { data: unknown }
    assert.deepEqual(shown[report], data, report)
    assert.ok(JSON.stringify(data).length > 20, report)
  }
})

test('a server gives the same table as the installation itself, with filters and for all sites', async () => {
  for (const words of [
    ['shop.example', ...shopDays, '--compare'],
    [siteId, ...shopDays, '--device', 'mobile', '--country', 'DE', '--utm-source', 'letter', '--limit', '1', '--csv'],
    ['--all-sites', ...shopDays, '--compare', '--hostname', 'blog.shop.example'],
  ]) {
    const [local, remote] = await Promise.all([near(words), far(words)])
    assert.deepEqual(remote, local, words.join(' '))
    assert.equal(local.code, 0, local.stderr)
  }
})

test('the key comes from FOOTFALL_KEY or from a file, and a site key needs no site', async () => {
  const siteKey = (await installation.json('key', 'create', 'shop.example')).key
  const file = join(folder, 'key')
  writeFileSync(file, `${siteKey}\n`, { mode: 0o600 })
  const { stdout, code } = await far(['--key-file', file, ...shopDays], {})
  assert.equal(code, 0)
  assert.match(stdout, /^overview\t\tvisitors\t4$/m)
  assert.deepEqual(await far(['--url', `${api.url}/api/v1/`, ...shopDays], { FOOTFALL_KEY: siteKey }), {
    code: 0,
    stdout,
    stderr: '',
  })
})

test('a refusal or an unreachable server gives one sentence and what to do next, and never the key', async (t) => {
  const disabled = await installation.json('key', 'create', 'shop.example')
  await installation.json('key', 'disable', disabled.id)
  const free = await installation.json('account', 'create', 'Free', '--plan', 'free')
  await installation.json('site', 'create', 'free.example', '--account', free.id)
  const unpaid = (await installation.json('key', 'create', 'free.example')).key
  const page = await serve(t, (_request, response) =>
    response.setHeader('Content-Type', 'text/html').end('<h1>Hello</h1>'),
  )
  const refusing = (status: number, code: string, message: string, headers = {}) =>
    serve(t, (_request, response) =>
      response.writeHead(status, headers).end(JSON.stringify({ error: { code, message } })),
    )
  const hostile = await refusing(403, 'other', 'No\x1b[2J\n\u202e!')
  const old = await refusing(404, 'not_found', 'There is nothing here.')
  const reset = Math.ceil(Date.now() / 1000) + 50 * 60
  const full = await refusing(429, 'rate_limit_exceeded', 'Rate limit reached.', { 'X-RateLimit-Reset': String(reset) })
  const asked: (string | undefined)[] = []
  const redirect = await serve(t, (request, response) => {
    asked.push(request.url)
    response.writeHead(301, { Location: `${page}/api/v1/sites` }).end()
  })
  const empty = join(folder, 'empty')
  writeFileSync(empty, '\n')
  const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
  const cases: [words: string[], expected: RegExp, environment?: Record<string, string>][] = [
    [[], /needs an API key\.\n {2}Set FOOTFALL_KEY.*--key-file/, {}],
    [[], /FOOTFALL_KEY is not an API key\.\n.*ff_s_/, { FOOTFALL_KEY: 'two words' }],
    [['--key-file', empty], /empty is empty/],
    [['--key-file', join(folder, 'nowhere')], /nowhere does not exist/],
    [[], /key does not exist.*\n {2}The key comes from FOOTFALL_KEY\. .*footfall key create/, { FOOTFALL_KEY: wrong }],
    [[], /key is disabled.*\n.*FOOTFALL_KEY/, { FOOTFALL_KEY: disabled.key }],
    [[], /needs the Starter plan.*\n.*footfall account plan/, { FOOTFALL_KEY: unpaid }],
    [['shop.exmaple'], /no site shop\.exmaple\.\n {2}Did you mean shop\.example\?/],
    [['--url', 'stats.example.com'], /not an address\.\n.*https:/],
    [
      ['--url', `http://127.0.0.1:${await freePort()}`],
      /127\.0\.0\.1:\d+ cannot be reached \(.*ECONNREFUSED.*\)\.\n {2}Check --url/,
    ],
    [['--url', page], /not the API of Footfall: it answered 200 with text\/html\.\n.*--url/],
    [['--url', old], /does not have this call\.\n {2}Update the server/],
    [['--url', full], /Rate limit reached\.\n.* Try again in (49|50|51) minutes\./],
    [['--url', redirect], /redirects to http:\/\/.*\n.*Use the address/],
    [['--url', hostile], /^footfall: No\ufffd\[2J\ufffd!\n {2}\S/],
  ]
  for (const [words, expected, environment = { FOOTFALL_KEY: key }] of cases) {
    Reflect.deleteProperty(process.env, 'FOOTFALL_KEY')
    Object.assign(process.env, environment)
    const refusal = await refusalOf(['--url', api.url, ...words])
    assert.match(refusal, expected)
    assert.match(refusal, /^footfall: \S[^\n]+\n {2}\S[^\n]*\n$/)
    assert.doesNotMatch(refusal, /ff_[as]_[0-9A-Za-z]{5}/)
  }
  assert.equal(asked.length, 1)
})

test('a server that always names a next page is asked until a page adds nothing', async (t) => {
  let requests = 0
  const endless = await serve(t, (request, response) => {
    const isSites = request.url === '/api/v1/sites'
    const site = { site_id: siteId, domain: 'shop.example', time_zone: 'UTC' }
    if (!isSites) requests++
    // The first page has a row, and no other has any.
    const row = request.url?.includes('overview')
      ? { ...site, current: {}, previous: {}, change: {} }
      : { page: '/', visitors: 1 }
    const data = isSites ? [site] : requests === 1 ? [row] : []
    if (requests > 5) response.destroy()
    else response.end(JSON.stringify({ data, meta: { next_cursor: 'more' } }))
  })
  for (const words of [
    ['shop.example', '--by', 'page', '--json'],
    ['--all-sites', '--json'],
  ]) {
    requests = 0
    const { stdout, stderr } = await far(['--url', endless, ...words])
    assert.deepEqual([requests, stderr], [2, ''], words.join(' '))
    assert.notEqual(stdout, '')
  }
})
