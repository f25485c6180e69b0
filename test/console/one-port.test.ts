// `footfall serve` as a real process: console, API, collector and tracker on one port, each with its own answers.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { addMember } from '../../src/users/members.ts'
import { createPasswords } from '../../src/users/passwords.ts'
import { createSession } from '../../src/users/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import { sendRaw } from '../contract/raw.ts'
import { eventually } from '../support/eventually.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { launchServe, type ServeProcess } from '../support/serve-process.ts'
import { keySecrets } from '../support/stores.ts'
import { password } from './console.ts'

const publicUrl = 'https://stats.example.com'
const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

const ends: (() => Promise<unknown>)[] = []
let server: ServeProcess
let site: { accountId: string; siteId: string; domain: string; key: string }
let user: { email: string; session: string }

before(async () => {
  // Its own: serve also rolls up every site that it finds.
  const stores = await freshStores((end) => void ends.push(end))
  const { postgres } = stores
  const { postgres: postgresUrl, clickhouse } = stores.addresses
  server = await launchServe({ postgres: postgresUrl, clickhouse }, { PUBLIC_URL: publicUrl })
  ends.push(server.stop)
  const accountId = await createAccount(postgres, { name: 'One port', plan: 'Agency' })
  const domain = `${randomUUID()}.example`
  const siteId = await createSite(postgres, { accountId, domain })
  const key = await createKey(postgres, keySecrets, { accountId, siteId, name: 'One port' })
  site = { accountId, siteId, domain, key: key.text }
  const email = `${randomUUID()}@example.com`
  const userId = await createUser(postgres, email, await createPasswords().hash(password))
  await addMember(postgres, accountId, userId, 'owner')
  user = { email, session: await createSession(postgres, userId, { address: '192.0.2.0', browser: 'A test' }) }
  await server.untilReady()
})
after(async () => {
  for (const end of ends.toReversed()) await end()
})
interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

/** Unlike fetch it sends any Host header. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET', body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(server.url + path, { method, headers }, async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const signedIn = () => ({ Cookie: `__Host-footfall-session=${user.session}` })

test('console, API, collector and tracker each answer on the one port', async () => {
  const login = await ask('/login')
  assert.equal(login.status, 200)
  assert.match(String(login.headers['content-type']), /^text\/html/)
  assert.match(login.text, /<h1>Sign in<\/h1>/)
  const [, styleSheet = ''] = /href="(\/assets\/console-\w+\.css)"/.exec(login.text) ?? []
  assert.match(String((await ask(styleSheet)).headers['cache-control']), /immutable/)
  const sites = await ask('/', signedIn())
  assert.equal(sites.status, 200)
  assert.ok(sites.text.includes(site.domain))

  const overview = await ask('/api/v1/stats/overview', { Authorization: `Bearer ${site.key}` })
  assert.equal(overview.status, 200)
  assert.match(String(overview.headers['content-type']), /^application\/json/)
  assert.match((await ask('/api/v1/docs')).text, /<!doctype html>/i)
  const calls = { Authorization: `Bearer ${site.key}`, 'Content-Type': 'application/json' }
  const both = { Accept: 'application/json, text/event-stream' }
  const ping = await ask('/mcp', { ...calls, ...both }, 'POST', '{"jsonrpc":"2.0","id":1,"method":"ping"}')
  assert.deepEqual([ping.status, ping.text.includes('"result":{}')], [200, true])
  const withoutKey = await ask('/mcp', signedIn(), 'POST', '{}')
  assert.deepEqual([withoutKey.status, JSON.parse(withoutKey.text).error.code], [401, 'unauthorized'])

  const tracker = await ask('/js/footfall.js')
  assert.match(String(tracker.headers['content-type']), /^text\/javascript/)
  assert.equal(tracker.headers['access-control-allow-origin'], '*')

  for (const path of ['/livez', '/readyz']) assert.equal((await ask(path)).status, 200, path)
})

test('an event that is sent to the port is counted and visible in the API', async () => {
  const event = JSON.stringify({ n: 'pageview', u: `https://${site.domain}/hello`, d: site.domain })
  const headers = { 'Content-Type': 'text/plain', 'User-Agent': browser, 'X-Forwarded-For': '192.0.2.7' }
  assert.equal((await ask('/api/event', headers, 'POST', event)).status, 202)
  await eventually(async () => {
    const { text } = await ask('/api/v1/stats/pages?range=24h', { Authorization: `Bearer ${site.key}` })
    assert.deepEqual(
      JSON.parse(text).data.map((row: { pathname: string; views: number }) => [row.pathname, row.views]),
      [['/hello', 1]],
    )
  })
})

test('unknown paths belong to the API below /api and to the console elsewhere', async () => {
  for (const path of ['/api', '/api/', '/api/v1', '/api/v2/stats', '/api/login', '/api/event/more']) {
    const { status, headers, text } = await ask(path)
    assert.deepEqual([path, status, JSON.parse(text).error.code], [path, 404, 'not_found'])
    assert.equal(headers['access-control-allow-origin'], '*', path)
  }
  for (const path of ['/nothing', '/apis', '/API/v1/stats/overview', '/sites', '/login/', '//login', '/%zz', '/js']) {
    const { status, headers, text } = await ask(path)
    assert.deepEqual([path, status, headers['content-type']], [path, 404, 'text/html; charset=utf-8'])
    assert.match(text, /Nothing here/)
  }
})

test('a request that cannot be parsed gets the error envelope of the API', async () => {
  const port = Number(new URL(server.url).port)
  for (const text of [
    'GET /login HTTP/1.1\r\nHost: x\r\nBroken header\r\n\r\n',
    'GET /ü HTTP/1.1\r\nHost: x\r\n\r\n',
    `GET /login HTTP/1.1\r\nHost: x\r\nCookie: ${'x'.repeat(10_000)}\r\n\r\n`,
    'nonsense\r\n\r\n',
  ]) {
    const { status, json } = await sendRaw(port, text)
    assert.deepEqual([text.slice(0, 40), status, json?.error.code], [text.slice(0, 40), 400, 'invalid_parameter'])
  }
  const withoutHost = await sendRaw(port, 'GET /api/v1/stats/overview HTTP/1.1\r\nConnection: close\r\n\r\n')
  assert.equal(withoutHost.json.error.code, 'invalid_parameter')
})

test('HEAD, OPTIONS and other methods', async () => {
  for (const path of ['/login', '/api/v1/docs', '/js/footfall.js']) {
    const [get, head] = [await ask(path), await ask(path, {}, 'HEAD')]
    assert.deepEqual([path, head.status, head.text], [path, 200, ''])
    assert.equal(head.headers['content-type'], get.headers['content-type'])
  }
  const api = await ask('/api/v1/stats/overview', {}, 'OPTIONS')
  assert.deepEqual([api.status, api.headers['access-control-allow-origin']], [204, '*'])
  const events = await ask('/api/event', { Origin: 'https://a.example' }, 'OPTIONS')
  assert.deepEqual([events.status, events.headers['access-control-allow-origin']], [204, '*'])
  // No page of another origin may read the console, so it has no answer for a browser that asks.
  for (const method of ['OPTIONS', 'PUT', 'DELETE', 'PATCH']) {
    const { status, headers } = await ask('/', { Origin: 'https://a.example', ...signedIn() }, method)
    assert.deepEqual([method, status, headers['access-control-allow-origin']], [method, 404, undefined])
  }
})

test('PUBLIC_URL decides about redirects, cookies and forms, whatever the Host header says', async () => {
  for (const headers of [
    {},
    { Host: 'attacker.example' },
    { Host: 'attacker.example:8080', 'X-Forwarded-Host': 'attacker.example', 'X-Forwarded-Proto': 'http' },
    { Forwarded: 'host=attacker.example;proto=http', 'X-Original-URL': 'https://attacker.example/' },
  ]) {
    const first = await ask('/account', headers)
    assert.deepEqual([first.status, first.headers.location], [303, '/login?next=%2Faccount'])
    const page = await ask('/login?next=%2Faccount', headers)
    assert.doesNotMatch(page.text, /attacker/)
    const [cookie = ''] = page.headers['set-cookie'] ?? []
    assert.match(cookie, /^__Host-footfall-form=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
    const [, token = ''] = /name="token" value="([^"]*)"/.exec(page.text) ?? []
    const fields = { token, email: user.email, password, next: '/account' }
    const form = {
      ...headers,
      Cookie: cookie.split(';')[0] as string,
      'Content-Type': 'application/x-www-form-urlencoded',
    }
    const body = new URLSearchParams(fields).toString()
    for (const origin of ['https://attacker.example', 'http://attacker.example:8080', server.url]) {
      assert.equal((await ask('/login', { ...form, Origin: origin }, 'POST', body)).status, 403, origin)
    }
    const done = await ask('/login', { ...form, Origin: publicUrl }, 'POST', body)
    assert.deepEqual([done.status, done.headers.location], [303, '/account'])
    assert.match(
      String(done.headers['set-cookie']),
      /__Host-footfall-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure/,
    )
  }
})

test('every answer of the console tells browsers to come back over https only', async () => {
  const page = await ask('/login')
  const loaded = [...page.text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  assert.ok(loaded.length > 0)
  for (const path of [...loaded, '/widget.js', '/account', '/nothing', '/%zz', '/share/unknown']) {
    const { headers } = await ask(path)
    assert.deepEqual([path, headers['strict-transport-security']], [path, 'max-age=31536000'])
  }
  const refused = await ask('/login', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'POST', 'email=a')
  for (const { status, headers } of [page, refused, await ask('/', signedIn())])
    assert.deepEqual([status, headers['strict-transport-security']], [status, 'max-age=31536000'])
})

test('signing in leads to no other host', async () => {
  for (const next of [
    '//attacker.example',
    '/\\attacker.example',
    'https://attacker.example',
    '/\t/attacker.example',
    'javascript:alert(1)',
  ]) {
    const page = await ask(`/login?next=${encodeURIComponent(next)}`)
    const [cookie = ''] = page.headers['set-cookie'] ?? []
    const [, token = ''] = /name="token" value="([^"]*)"/.exec(page.text) ?? []
    const form = {
      Origin: publicUrl,
      Cookie: cookie.split(';')[0] as string,
      'Content-Type': 'application/x-www-form-urlencoded',
    }
    const fields = new URLSearchParams({ token, email: user.email, password, next }).toString()
    const { status, headers } = await ask('/login', form, 'POST', fields)
    assert.deepEqual([next, status, headers.location], [next, 303, '/'])
  }
})
