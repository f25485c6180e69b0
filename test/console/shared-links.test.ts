// Shared links: what whoever has one sees, what nobody can lift, and when they end.
import assert from 'node:assert/strict'
import { hash, randomBytes, randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createKey } from '../../src/accounts/keys.ts'
import { findSite, type Site, setExcludedCountries } from '../../src/accounts/sites.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { createLinkLimits } from '../../src/console/sharing/link-limits.ts'
import { publicQueueKey } from '../../src/stats/fair-queue.ts'
import { createStatsService, type StatsService } from '../../src/stats/service.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { createPasswords } from '../../src/users/passwords.ts'
import { addSharedLink, type NewSharedLink, sharedLinksOf } from '../../src/users/shared-links.ts'
import { eventOf, pageview } from '../support/events.ts'
import { keySecrets, openStores } from '../support/stores.ts'
import {
  type ConsoleOptions,
  cheapPasswords,
  entriesOf,
  openConsole,
  type Page,
  type TestConsole,
  type Visitor,
} from './console.ts'
import { readDashboard } from './dashboard-page.ts'

const now = '2026-11-15T12:00:00Z'
const linkPassword = 'four unrelated words'

/** Five visitors, one of them right now: Germany 2 (one with a phone), France 2, Spain 1. */
async function openWithTraffic(t: TestContext, options: ConsoleOptions = { now }) {
  const console = await openConsole(t, options)
  const { stores, accountId, siteId, domain } = console
  const hits = [
    pageview({ at: '2026-11-15T11:58:00Z', visitor: 'a', country: 'DE', pathname: '/german', hostname: domain }),
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'b', country: 'DE', device: 'Mobile', utmSource: 'news' }),
    pageview({ at: '2026-11-13T10:00:00Z', visitor: 'c', country: 'FR', pathname: '/french', device: 'Mobile' }),
    pageview({ at: '2026-11-15T11:59:00Z', visitor: 'd', country: 'FR', pathname: '/french', utmSource: 'news' }),
    pageview({ at: '2026-11-12T10:00:00Z', visitor: 'e', country: 'ES', pathname: '/spanish' }),
  ]
  await recordBatch(stores.clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, siteId, 'UTC')) })
  const site = (await findSite(stores.postgres, siteId)) as Site
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'A key' })
  return {
    console,
    /** Returns the path of a new link. */
    async share(more: Partial<NewSharedLink> = {}): Promise<string> {
      const usual = { name: 'A link', expiresAt: null, passwordHash: null, isEmbeddable: false, filters: [] }
      const nonce = randomBytes(16).toString('base64url')
      const link = { ...usual, nonce, ...more }
      return `/share/${await addSharedLink(stores.postgres, keySecrets, { actor: 'maria@example.com' }, site, link)}`
    },
    async api(report: string, query = ''): Promise<unknown> {
      const headers = { Authorization: `Bearer ${key.text}` }
      const { status, json } = await console.api.fetch(`/api/v1/stats/${report}?range=30d${query}`, { headers })
      assert.equal(status, 200)
      return json.data
    },
  }
}

const visitorsIn = ({ text }: Page): number => Number(readDashboard(text).metrics.get('visitors')?.text)

const labelsIn = ({ text }: Page, panel: string): string[] =>
  readDashboard(text)
    .panel(panel)
    .map(({ label }) => label)

const withoutLinks = (rows: ReturnType<ReturnType<typeof readDashboard>['panel']>) =>
  rows.map(({ href: _href, ...numbers }) => numbers)

const listOf = ({ domain }: TestConsole) => `/sites/${domain}/settings/links`

/** Sends the form of a new link as a browser does, with the nonce of its page. */
async function create(console: TestConsole, visitor: Visitor, fields: Record<string, string> = {}) {
  const list = listOf(console)
  const [, nonce = ''] = /name="nonce" value="([^"]*)"/.exec((await visitor.get(`${list}/new`)).text) ?? []
  return visitor.post(`${list}/new`, list, { name: 'Agency', expiry: '30', filters: '', nonce, ...fields })
}

const addressIn = ({ text }: Page): string => /id="whole-link"[^>]*>([^<]*)</.exec(text)?.[1] ?? ''

/** A page without the times that it shows. */
const bytesOf = ({ status, text, headers }: Page) => {
  const { date, 'keep-alive': _alive, connection, ...same } = Object.fromEntries(headers)
  return { status, text, headers: same }
}

test('a link shows the numbers of the dashboard without an account, and no way into the console', async (t) => {
  const { console, share } = await openWithTraffic(t)
  const path = await share()
  const [page, member] = [await console.stranger().get(path), await console.signedIn('owner')]
  const own = await member.get(`/sites/${console.domain}`)
  assert.equal(page.status, 200)
  const [shared, dashboard] = [readDashboard(page.text), readDashboard(own.text)]
  assert.deepEqual(shared.metrics, dashboard.metrics)
  // The last cell of a row leads owners to the form of a note.
  assert.deepEqual(
    shared.chart,
    dashboard.chart.map((row) => row.slice(0, -1)),
  )
  for (const id of ['pages', 'sources', 'places', 'devices', 'actions'])
    assert.deepEqual(withoutLinks(shared.panel(id)), withoutLinks(dashboard.panel(id)))
  assert.deepEqual([visitorsIn(page), shared.now], [5, 2])
  const hrefs = Array.from(page.text.matchAll(/(?:href|action)="([^"]*)"/g), ([, href]) => href as string)
  const leading = hrefs.filter((href) => !href.startsWith(path) && !/^(#|\/assets\/|https:)/.test(href))
  assert.deepEqual(leading, [])
  assert.doesNotMatch(page.text, /curl|Authorization|site_id/i)
  assert.match(own.text, /curl/)
})

test('locked filters hold whatever the address says, on the page, in the lists and in "now"', async (t) => {
  const { console, share } = await openWithTraffic(t)
  const path = await share({ filters: ['country:is:DE'] })
  const visitor = console.stranger()
  for (const query of [
    '',
    '?country=FR',
    '?country=',
    '?range=30d&country=ES&metric=pageviews',
    '?filter=country:is:FR',
    '?filter=country:is_not:DE',
    '?field=country&operator=is&value=France',
  ]) {
    const answer = await visitor.get(path + query)
    const page = answer.status === 303 ? await visitor.get(answer.headers.get('location') as string) : answer
    assert.deepEqual([query, page.status, visitorsIn(page)], [query, 200, 2])
    assert.deepEqual(labelsIn(page, 'places'), ['Germany'])
    assert.equal(readDashboard(page.text).now, 1)
    assert.match(page.text, /<span class="chip">Country is <b title="Germany">Germany<\/b><\/span>/)
    assert.doesNotMatch(page.text, /Remove the filter|value="country"|country(=|:|%3A)|french|spanish/)
  }
  const [own, free] = [await visitor.get(`${path}/csv/country?country=FR`), await visitor.get(`${path}?device=mobile`)]
  assert.match(own.text, /^country,visitors,pageviews,[^\r]*\r\nDE,2,2,[^\r]*\r\n$/)
  // Other filters narrow it further, and can be removed again.
  assert.equal(visitorsIn(free), 1)
  assert.match(free.text, /Remove the filter Device is Mobile/)

  const widget = await visitor.get(
    `${await share({ filters: ['country:is:DE'], isEmbeddable: true })}/widget.json?country=FR`,
  )
  assert.equal(JSON.parse(widget.text).visitors, 2)

  const filters = ['country:is:DE', 'device:is:mobile', 'hostname:is:example.com', 'utm_source:is:news']
  const all = await visitor.get(`${await share({ filters })}?hostname=${console.domain}&utm_source=x&device=desktop`)
  assert.equal(visitorsIn(all), 1)
  assert.doesNotMatch(all.text, /value="(country|device|hostname|utm_source)"/)
})

test('a range without visitors says nothing about what a locked filter hides', async (t) => {
  const { console, share } = await openWithTraffic(t)
  const [hidden, missing] = [['country:is:FR', 'device:is:tablet'], ['country:is:JP']] as const
  for (const filters of [hidden, missing]) {
    const page = await console.stranger().get(await share({ filters }))
    assert.match(page.text, /No visitors in this range\./)
    assert.doesNotMatch(page.text, /snippet/)
  }
})

const codes: Record<string, string> = { Germany: 'DE', France: 'FR', Spain: 'ES' }

const csvLabels = (csv: string): string[][] =>
  csv
    .split('\r\n')
    .slice(1, -1)
    .map((line) => line.split(',').slice(0, 2))

test('who excludes a country sees dashboard, link, CSV, widget and API agree', async (t) => {
  const { console, share, api } = await openWithTraffic(t)
  const path = await share({ isEmbeddable: true })
  const [visitor, member] = [console.stranger(), await console.signedIn('viewer')]
  const check = async (visitors: number, countries: string[]) => {
    const [own, page] = [await member.get(`/sites/${console.domain}`), await visitor.get(path)]
    assert.deepEqual([visitorsIn(own), visitorsIn(page)], [visitors, visitors])
    assert.deepEqual([labelsIn(own, 'places').sort(), labelsIn(page, 'places').sort()], [countries, countries])
    const csv = (await visitor.get(`${path}/csv/country`)).text
    assert.equal(csv, (await member.get(`/sites/${console.domain}/csv/country`)).text)
    const widget = JSON.parse((await visitor.get(`${path}/widget.json`)).text)
    const overview = (await api('overview')) as { current: { visitors: number } }
    const days = (await api('timeseries')) as { visitors: number }[]
    assert.deepEqual(widget, { domain: console.domain, visitors, days: days.map((day) => day.visitors) })
    assert.equal(overview.current.visitors, visitors)
    const geo = (await api('geo')) as { name: string; visitors: number }[]
    assert.deepEqual(
      csvLabels(csv).toSorted(),
      geo.map(({ name, visitors }) => [codes[name], String(visitors)]).toSorted(),
    )
  }
  await check(5, ['France', 'Germany', 'Spain'])
  await setExcludedCountries(console.stores.postgres, console.siteId, ['FR'])
  console.api.directory.forget(console.siteId)
  await check(3, ['Germany', 'Spain'])
})

test('unknown, expired and revoked links, and those of deleted sites, get the same bytes', async (t) => {
  const { console, share } = await openWithTraffic(t)
  const { postgres } = console.stores
  const [revoked, open] = [await share(), await share()]
  await postgres`UPDATE shared_links SET revoked_at = now() WHERE id = (
    SELECT id FROM shared_links WHERE site_id = ${console.siteId} ORDER BY created_at LIMIT 1)`
  const ends = Temporal.Instant.from(now).epochMilliseconds
  const closed = {
    revoked,
    expired: await share({ expiresAt: new Date(ends) }),
    'with another letter': `${open.slice(0, -1)}${open.endsWith('A') ? 'B' : 'A'}`,
    'too short': '/share/x',
    'too long': `${open}x`,
    'not a token': '/share/%00',
  }
  const visitor = console.stranger()
  assert.equal((await visitor.get(await share({ expiresAt: new Date(ends + 1000) }))).status, 200)
  assert.equal((await visitor.get(open)).status, 200)
  const below = ['', '?country=XX', '/csv/pages', '/csv/nothing', '/widget.json', '/password']
  for (const [index, rest] of below.entries()) {
    // From a network each, because one alone may not ask so often.
    const from = { 'X-Forwarded-For': `203.0.113.${index}` }
    const unknown = await visitor.get(`/share/${randomBytes(32).toString('base64url')}${rest}`, from)
    assert.deepEqual([unknown.status, /This link does not work/.test(unknown.text)], [404, true])
    for (const [name, path] of Object.entries(closed))
      assert.deepEqual([name, rest, bytesOf(await visitor.get(path + rest, from))], [name, rest, bytesOf(unknown)])
    // The widget reads only what is marked embeddable.
    if (rest === '/widget.json') assert.deepEqual(bytesOf(await visitor.get(open + rest)), bytesOf(unknown))
  }
  await postgres`DELETE FROM sites WHERE id = ${console.siteId}`
  assert.deepEqual(bytesOf(await visitor.get(open)), bytesOf(await visitor.get(revoked)))
})

test('a session has no effect on a link, and a link sets and reads no cookie', { timeout: 600_000 }, async (t) => {
  const { console, share } = await openWithTraffic(t)
  const [path, password] = [await share(), await share({ passwordHash: await hashed() })]
  const [owner, stranger] = [await console.signedIn('owner'), console.stranger()]
  owner.cookies.set('footfall-theme', 'dark')
  for (const rest of ['', '?more=pages', '/csv/pages', '/nothing']) {
    const [signedIn, anonymous] = [await owner.get(path + rest), await stranger.get(path + rest)]
    assert.deepEqual(bytesOf(signedIn), bytesOf(anonymous), rest)
    assert.deepEqual(signedIn.headers.getSetCookie(), [])
  }
  assert.equal((await owner.get(password)).headers.get('location'), `${password}/password`)
  assert.deepEqual([...stranger.cookies.keys()], [])
})

test('every answer keeps the address secret, and only an embeddable page may be framed', async (t) => {
  const { console, share } = await openWithTraffic(t)
  const [plain, embeddable, locked] = [
    await share(),
    await share({ isEmbeddable: true }),
    await share({ passwordHash: await hashed() }),
  ]
  const cases: [path: string, referrer: string, frames: string][] = [
    [plain, 'no-referrer', "'none'"],
    [`${plain}/csv/pages`, 'no-referrer', "'none'"],
    [plain.replace('share', '%73hare'), 'no-referrer', "'none'"],
    [`${plain}?country=XX`, 'no-referrer', "'none'"],
    ['/share/unknown', 'no-referrer', "'none'"],
    ['/share/unknown/below/it', 'no-referrer', "'none'"],
    [embeddable, 'no-referrer', '*'],
    [`${embeddable}?country=XX`, 'no-referrer', '*'],
    [`${embeddable}/csv/pages`, 'no-referrer', "'none'"],
    [locked, 'no-referrer', "'none'"],
    // With no-referrer the browser would send the form without an Origin.
    [`${locked}/password`, 'same-origin', "'none'"],
  ]
  for (const [path, referrer, frames] of cases) {
    const { headers } = await console.stranger().get(path)
    const found = ['referrer-policy', 'x-robots-tag', 'cache-control'].map((name) => headers.get(name))
    assert.deepEqual([path, ...found], [path, referrer, 'noindex', 'no-store'])
    const policy = headers.get('content-security-policy') ?? ''
    assert.ok(policy.startsWith("default-src 'none'; script-src 'self';"), policy)
    assert.ok(policy.endsWith(`frame-ancestors ${frames}`), `${path}: ${policy}`)
  }
  for (const theme of ['light', 'dark']) {
    const { text } = await console.stranger().get(`${embeddable}?theme=${theme}`)
    assert.match(text, new RegExp(`<html lang="en" data-theme="${theme}">`))
    // Every link of the page keeps it.
    assert.deepEqual([/range=7d&#38;theme=/.test(text), /range=7d"/.test(text)], [true, false])
  }
  assert.match((await console.stranger().get(`${embeddable}?theme=x`)).text, /<html lang="en">/)
})

const hashed = () => createPasswords(cheapPasswords).hash(linkPassword)

test('a password opens its link and no other, for 12 hours, and ends with the link', async (t) => {
  const { console, share } = await openWithTraffic(t)
  const path = await share({ passwordHash: await hashed(), expiresAt: new Date('2026-11-15T13:00:00Z') })
  const [forEver, other] = [
    await share({ passwordHash: await hashed() }),
    await share({ passwordHash: await hashed() }),
  ]
  const visitor = console.stranger()
  const type = (password: string, at = path) => visitor.post(`${at}/password`, `${at}/password`, { password })
  for (const rest of ['', '?range=7d', '/csv/pages']) {
    const page = await visitor.get(path + rest)
    assert.deepEqual([page.status, page.headers.get('location'), page.text], [303, `${path}/password`, ''])
  }
  const form = await visitor.get(`${path}/password`)
  assert.equal(form.status, 200)
  assert.doesNotMatch(form.text, new RegExp(console.domain))

  const wrong = await type('not the right one')
  assert.deepEqual([wrong.status, /That is not the password/.test(wrong.text)], [401, true])
  assert.equal((await visitor.get(path)).status, 303)
  const right = await type(linkPassword)
  assert.deepEqual([right.status, right.headers.get('location')], [303, path])
  const [cookie = ''] = right.headers.getSetCookie()
  assert.match(cookie, new RegExp(`^footfall-link=[^;]+; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=3600$`))
  assert.equal(visitorsIn(await visitor.get(path)), 5)
  assert.equal((await visitor.get(`${path}/csv/country`)).status, 200)
  assert.equal((await visitor.get(`${path}/password`)).headers.get('location'), path)

  // A browser sends the cookie to its own link only. Sent to another one it opens nothing, and nobody can write one.
  assert.equal((await visitor.get(other)).status, 303)
  const [id = '', until = '', signature = ''] = (visitor.cookies.get('footfall-link') ?? '').split('.')
  for (const value of [`${id}.${Number(until) + 1}.${signature}`, `${id}.${until}.`, `${id}.${until}`, 'x']) {
    visitor.cookies.set('footfall-link', value)
    assert.deepEqual([value, (await visitor.get(path)).status], [value, 303])
  }
  const [long = ''] = (await type(linkPassword, forEver)).headers.getSetCookie()
  assert.match(long, /Max-Age=43200$/)
  const later = (await openConsole(t, { now: '2026-11-16T00:00:00Z' })).stranger()
  later.cookies.set('footfall-link', visitor.cookies.get('footfall-link') as string)
  assert.deepEqual([(await later.get(forEver)).status, (await later.get(path)).status], [303, 404])
  const before = (await openConsole(t, { now: '2026-11-15T23:59:59Z' })).stranger()
  before.cookies.set('footfall-link', visitor.cookies.get('footfall-link') as string)
  assert.equal((await before.get(forEver)).status, 200)
})

test('guesses of a password are limited, and nobody else is', async (t) => {
  const { console, share } = await openWithTraffic(t)
  const [path, other] = [await share({ passwordHash: await hashed() }), await share({ passwordHash: await hashed() })]
  const type = (at: string, password: string, address: string) =>
    console.stranger().post(`${at}/password`, `${at}/password`, { password }, { 'X-Forwarded-For': address })
  const statuses: number[] = []
  for (let index = 0; index < 11; index++) statuses.push((await type(path, 'a wrong guess', '192.0.2.1')).status)
  assert.deepEqual(statuses, [...new Array(10).fill(401), 429])
  assert.equal((await type(path, linkPassword, '192.0.2.1')).status, 429)
  assert.equal((await type(path, linkPassword, '192.0.2.2')).status, 303)
  assert.equal((await type(other, linkPassword, '192.0.2.1')).status, 303)
})

test('too many requests for a link get a plain page that says when to come back', async (t) => {
  const { console, share } = await openWithTraffic(t)
  const path = await share()
  const from = (address: string) => ({ 'X-Forwarded-For': address })
  const statuses = new Map<number, Page>()
  for (let index = 0; index < 45 && !statuses.has(429); index++) {
    const page = await console.stranger().get(`${path}?more=pages`, from('203.0.113.1'))
    statuses.set(page.status, page)
  }
  const refused = statuses.get(429)
  assert.ok(refused && Number(refused.headers.get('retry-after')) >= 1)
  assert.match(refused.text, /Too many requests/)
  assert.equal(refused.headers.get('referrer-policy'), 'no-referrer')
  // The console and the API are not concerned.
  assert.equal((await console.stranger().get('/login', from('203.0.113.1'))).status, 200)
})

test('page, CSV and widget of all links wait in the queue of everybody without an account', async (t) => {
  const { clickhouse } = await openStores()
  const stats = createStatsService({ cluster: clusterOf([clickhouse]), now: () => Date.parse(now), cacheBytes: 0 })
  const keys = new Set<string>()
  const noting: StatsService = {
    ...stats,
    read: (request, signal) => stats.read(noted(request), signal),
    ask: (request, signal) => stats.ask(noted(request), signal),
    titles: (request, signal) => stats.titles(noted(request), signal),
  }
  const noted = <Request extends { queueKey: string }>(request: Request): Request => {
    keys.add(request.queueKey)
    return request
  }
  const { console, share } = await openWithTraffic(t, { now, stats: noting })
  for (const path of [await share({ isEmbeddable: true }), await share({ isEmbeddable: true })]) {
    for (const rest of ['', '?range=24h', '?more=pages', '/csv/country', '/widget.json'])
      assert.equal((await console.stranger().get(path + rest)).status, 200)
  }
  assert.deepEqual([...keys], [publicQueueKey])
})

test('a network, a link and all links together have a limit each', () => {
  let ms = 0
  const limits = createLinkLimits(() => ms)
  const taken = (times: number, request: (index: number) => [token: string, address: string]) => {
    let count = 0
    for (let index = 0; index < times; index++) if (limits.take(...request(index), 10) === 0) count++
    return count
  }
  // One network with many links; then many networks with one link; then many networks with many links.
  assert.equal(
    taken(50, (index) => [`link ${index}`, '192.0.2.1']),
    20,
  )
  ms += 60_000
  assert.equal(
    taken(50, (index) => ['one link', `198.51.100.${index}`]),
    20,
  )
  ms += 60_000
  assert.equal(
    taken(100, (index) => [`other ${index}`, `203.0.113.${index}`]),
    40,
  )
  ms += 1_000
  assert.equal(
    taken(100, (index) => [`more ${index}`, `192.0.2.${index + 2}`]),
    2,
  )
  // Without tokens left, a request waits until there is one again.
  assert.equal(limits.take('x', '192.0.2.250', 10), 1)
})

test('an owner creates links with a name, an expiry, filters and a password; each is shown once', async (t) => {
  const { console } = await openWithTraffic(t)
  const owner = await console.signedIn('owner')
  const at = Date.parse(now)
  const cases: [Record<string, string>, Partial<Record<string, unknown>>][] = [
    [{ expiry: '7' }, { expiresAt: new Date(at + 7 * 86_400_000) }],
    [{ expiry: '90', country: 'de', device: 'mobile' }, { filters: ['country:is:DE', 'device:is:mobile'] }],
    [{ expiry: 'date', date: '2027-01-31' }, { expiresAt: new Date('2027-01-31T00:00:00Z') }],
    [
      { expiry: 'never', hostname: 'Shop.example.', utm_source: 'News' },
      { filters: ['hostname:is:shop.example', 'utm_source:is:News'] },
    ],
    [
      { expiry: 'never', password: linkPassword },
      { hasPassword: true, expiresAt: null, isEmbeddable: false },
    ],
    [
      // The expiry of links that people open has no effect on it.
      { expiry: '30', 'embedded-expiry': 'never', embeddable: 'yes' },
      { isEmbeddable: true, hasPassword: false, expiresAt: null },
    ],
    [
      { expiry: '30', 'embedded-expiry': 'date', 'embedded-date': '2027-01-31', embeddable: 'yes' },
      { isEmbeddable: true, expiresAt: new Date('2027-01-31T00:00:00Z') },
    ],
  ]
  for (const [index, [fields, expected]] of cases.entries()) {
    const name = `Link ${index}`
    const page = await create(console, owner, { name, ...fields })
    assert.deepEqual([page.status, page.headers.get('cache-control')], [200, 'no-store'])
    const address = addressIn(page)
    assert.match(address, new RegExp(`^${console.url}/share/[\\w-]{51}$`))
    assert.equal(page.text.includes(`data-link=&#34;${address}&#34;`), fields.embeddable === 'yes')
    assert.equal(page.text.includes(`src=&#34;${address}?theme=light&#34;`), fields.embeddable === 'yes')
    const link = (await sharedLinksOf(console.stores.postgres, console.siteId, at)).find((one) => one.name === name)
    assert.deepEqual({ ...link, ...expected }, link)
    assert.deepEqual([link?.createdBy, link?.lastUsedAt], [owner.email, null])
    assert.notEqual((await console.stranger().get(address.slice(console.url.length))).status, 404)
    const [stored] = await console.stores.postgres<{ hash: Buffer }[]>`
      SELECT hash FROM shared_links WHERE site_id = ${console.siteId} AND name = ${name}`
    assert.deepEqual(stored?.hash, hash('sha256', address.slice(-51), 'buffer'))
    // Nothing leads back to it.
    for (const path of [listOf(console), `${listOf(console)}/${link?.id}`])
      assert.ok(!(await owner.get(path)).text.includes(address.slice(-43)))
  }
  const [[actor, action, details] = []] = await entriesOf(console, 'Link 1')
  assert.deepEqual([actor, action], [owner.email, 'link.created'])
  assert.match(
    details ?? '',
    new RegExp(`^${console.domain}, expires 2027-02-13T12:00Z, only country:is:DE, only device:is:mobile \\(share_`),
  )
  const rows = await console.stores.postgres<{ row: string }[]>`
    SELECT to_jsonb(one)::text AS row FROM shared_links AS one WHERE site_id = ${console.siteId}`
  assert.ok(rows.every(({ row }) => !row.includes(linkPassword)))
})

test('a mistake shows the form again with what was typed, and makes no link', async (t) => {
  const console = await openConsole(t, { now })
  const owner = await console.signedIn('owner')
  const mistakes: [Record<string, string>, RegExp][] = [
    [{ name: ' ' }, /Give the link a name/],
    [{ name: 'x'.repeat(61) }, /The name is too long/],
    [{ expiry: '365' }, /Choose when the link expires/],
    [{ expiry: 'date', date: '2026-11-15' }, /in the past/],
    [{ password: 'too short' }, /The password is too short. Use at least 12/],
    [{ password: 'x'.repeat(201) }, /The password is too long/],
    [{ embeddable: 'yes', 'embedded-expiry': '30' }, /Choose when the link expires/],
    [{ password: linkPassword, embeddable: 'yes' }, /A link with a password cannot be embedded/],
    [{ country: 'XX' }, /Country must be a two-letter code/],
    [{ device: 'Watch' }, /Device must be/],
    [{ hostname: 'https://example.com/' }, /[Hh]ostname must be a host name alone/],
  ]
  for (const [fields, said] of mistakes) {
    const page = await create(console, owner, { name: 'Typed', utm_source: '<b>', ...fields })
    assert.deepEqual([fields, page.status], [fields, 422])
    assert.match(page.text, said)
    assert.match(page.text, /name="utm_source" value="&#60;b&#62;"/)
    assert.ok(!page.text.includes(linkPassword))
  }
  assert.equal((await create(console, owner, { nonce: 'short' })).status, 403)
  assert.deepEqual([...(await sharedLinksOf(console.stores.postgres, console.siteId, Date.parse(now)))], [])
})

test('the same form makes one link: sent twice, at the same time, and after the link was revoked', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  const nonce = 'abcdefghijklmnopqrstuv'
  const both = await Promise.all([create(console, owner, { nonce }), create(console, owner, { nonce })])
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
  const again = await create(console, owner, { nonce, name: 'Another' })
  assert.deepEqual([again.status, addressIn(again)], [409, ''])
  assert.match(again.text, /already created and is shown only once/)
  const [link, ...more] = await sharedLinksOf(console.stores.postgres, console.siteId, Date.now())
  assert.deepEqual(more, [])
  const page = `${listOf(console)}/${link?.id}`
  assert.equal((await owner.post(page, `${page}/revoke`, { confirm: 'yes' })).status, 303)
  assert.equal((await create(console, owner, { nonce })).status, 409)
  assert.equal((await entriesOf(console, 'Agency')).length, 2)
})

test('a revoked link ends at once, in another instance of the console too', async (t) => {
  const { console, share } = await openWithTraffic(t, {})
  const other = await openConsole(t)
  const [path, kept] = [await share(), await share({ name: 'Kept' })]
  const owner = await console.signedIn('owner')
  assert.deepEqual([(await console.stranger().get(path)).status, (await other.stranger().get(path)).status], [200, 200])
  const links = await sharedLinksOf(console.stores.postgres, console.siteId, Date.now())
  const page = `${listOf(console)}/${links.find(({ name }) => name === 'A link')?.id}`
  const unconfirmed = await owner.post(page, `${page}/revoke`)
  assert.deepEqual([unconfirmed.status, (await other.stranger().get(path)).status], [422, 200])
  const done = await owner.post(page, `${page}/revoke`, { confirm: 'yes' })
  assert.equal(done.headers.get('location'), `${listOf(console)}?done=revoked`)
  assert.deepEqual([(await other.stranger().get(path)).status, (await console.stranger().get(path)).status], [404, 404])
  assert.equal((await other.stranger().get(kept)).status, 200)
  // The page has no form any more; that of a new link has the token.
  const again = await owner.post(`${listOf(console)}/new`, `${page}/revoke`, { confirm: 'yes' })
  assert.equal(again.status, 404)
  const entries = await entriesOf(console, 'A link')
  assert.deepEqual(
    entries.map(([, action]) => action),
    ['link.created', 'link.revoked'],
  )
})

test('a new address of a link ends the old one and keeps the rest; the form makes one', async (t) => {
  const { console, share } = await openWithTraffic(t, {})
  const { postgres } = console.stores
  const expiresAt = new Date(Date.now() + 3 * 86_400_000)
  const old = await share({ name: 'Agency', expiresAt, filters: ['country:is:FR'] })
  const expired = await share({ name: 'Expired', passwordHash: 'a hash' })
  await postgres`
    UPDATE shared_links SET created_at = now() - interval '40 days', expires_at = now() - interval '10 days'
    WHERE site_id = ${console.siteId} AND name = 'Expired'`
  const owner = await console.signedIn('owner')
  const listed = async (name: string) =>
    (await sharedLinksOf(postgres, console.siteId, Date.now())).filter((one) => one.name === name)
  const pageOf = async (name: string) => `${listOf(console)}/${(await listed(name))[0]?.id}`
  const nonceIn = async (page: string) =>
    /name="nonce" value="([^"]*)"/.exec((await owner.get(page)).text)?.[1] as string

  const page = await pageOf('Agency')
  const nonce = await nonceIn(page)
  const made = await owner.post(page, `${page}/renew`, { nonce })
  const address = addressIn(made).slice(console.url.length)
  assert.deepEqual([made.status, address.length, address === old], [200, old.length, false])
  assert.deepEqual(
    [(await console.stranger().get(old)).status, labelsIn(await console.stranger().get(address), 'places')],
    [404, ['France']],
  )
  const [link, former, ...more] = await listed('Agency')
  assert.deepEqual([link?.expiresAt, link?.filters, link?.createdBy], [expiresAt, ['country:is:FR'], owner.email])
  assert.ok(former?.revokedAt && more.length === 0)
  const entries = await entriesOf(console, 'Agency')
  assert.deepEqual(
    entries.map(([, action, details]) => [action, details]),
    [
      ['link.created', entries[0]?.[2]],
      ['link.revoked', `${console.domain}, ${former.id}`],
      ['link.created', `${console.domain}, instead of ${former.id} (${link?.id})`],
    ],
  )
  const again = await owner.post(`${listOf(console)}/new`, `${page}/renew`, { nonce })
  assert.deepEqual([again.status, addressIn(again), (await listed('Agency')).length], [409, '', 2])
  // A revoked link has no form, and no other form of the site makes it work again.
  const other = await owner.post(`${listOf(console)}/new`, `${page}/renew`, { nonce: 'x'.repeat(22) })
  assert.deepEqual([other.status, (await listed('Agency')).length], [409, 2])
  assert.equal((await console.stranger().get(address)).status, 200)

  const expiredPage = await pageOf('Expired')
  assert.equal((await console.stranger().get(expired)).status, 404)
  await owner.post(expiredPage, `${expiredPage}/renew`, { nonce: await nonceIn(expiredPage) })
  const [works] = await listed('Expired')
  const daysLeft = (link: typeof works) => ((link?.expiresAt?.getTime() ?? 0) - Date.now()) / 86_400_000
  assert.ok(daysLeft(works) > 29.9 && daysLeft(works) <= 30, String(daysLeft(works)))
  assert.equal(works?.hasPassword, true)

  // Another address while it works does not shorten what it was made for.
  const current = async () => (await listed('Expired')).find(({ revokedAt }) => revokedAt === null)
  const renewCurrent = async () => {
    const its = `${listOf(console)}/${(await current())?.id}`
    await owner.post(its, `${its}/renew`, { nonce: await nonceIn(its) })
  }
  const later = (days: number) => postgres`
    UPDATE shared_links SET created_at = created_at - ${`${days} days`}::interval, expires_at = expires_at - ${`${days} days`}::interval
    WHERE site_id = ${console.siteId} AND name = 'Expired' AND revoked_at IS NULL`
  await later(29)
  await renewCurrent()
  assert.ok(daysLeft(await current()) < 1)
  await later(3)
  await renewCurrent()
  assert.ok(daysLeft(await current()) > 29.9)

  const viewer = await console.signedIn('viewer')
  assert.equal((await viewer.post('/account', `${expiredPage}/renew`, { nonce: 'y'.repeat(22) })).status, 403)
})

test('viewers see the list and what each link shows, but change nothing', async (t) => {
  const { console, share } = await openWithTraffic(t)
  const { postgres } = console.stores
  await share({ name: 'Agency', filters: ['country:is:DE', 'utm_source:is:news'] })
  await share({ name: 'Board', passwordHash: await hashed(), expiresAt: new Date('2026-11-20T10:00:00Z') })
  const used = await share({ name: 'Embedded', isEmbeddable: true })
  await share({ name: 'Gone', expiresAt: new Date('2026-11-01T00:00:00Z') })
  await console.stranger().get(used)
  const [viewer, stranger] = [await console.signedIn('viewer'), await console.addAccount()]
  const { status, text } = await viewer.get(listOf(console))
  assert.equal(status, 200)
  const rows = Array.from(text.matchAll(/<tr role="row">\s*<th scope="row".*?<\/tr>/gs), ([row]) =>
    row
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  )
  const day = '(?:\\d+ \\w+ \\d{4}) by maria@example.com'
  for (const [index, expected] of [
    `^Embedded ${day} everything embeddable (just now|in a moment|in .*|.* ago) active never expires$`,
    `^Board ${day} everything with a password never active expires in 4 days$`,
    `^Agency ${day} Country Germany, UTM source news never active never expires$`,
    `^Gone ${day} everything never expired 14 days ago$`,
  ].entries())
    assert.match(rows[index] ?? '', new RegExp(expected))
  assert.doesNotMatch(text, /Create a link|Manage/)
  const [link] = await sharedLinksOf(postgres, console.siteId, Date.parse(now))
  assert.doesNotMatch((await viewer.get(`${listOf(console)}/${link?.id}`)).text, /Revoke/)
  // The link of one site is unknown in the settings of another.
  const other = await console.signedIn('owner', stranger.accountId)
  const page = `/sites/${stranger.domain}/settings/links`
  assert.equal((await other.get(`${page}/${link?.id}`)).status, 404)
  assert.equal((await other.post(`${page}/new`, `${page}/${link?.id}/revoke`, { confirm: 'yes' })).status, 404)
  assert.equal((await console.stranger().get(used)).status, 200)
})

test('links that ended 90 days ago are forgotten when another one is made', async (t) => {
  const { console, share } = await openWithTraffic(t, {})
  const { postgres } = console.stores
  await share({ name: 'Long ago' })
  await share({ name: 'Lately' })
  await postgres`
    UPDATE shared_links SET revoked_at = now() - CASE name WHEN 'Lately' THEN interval '89 days' ELSE interval '91 days' END
    WHERE site_id = ${console.siteId}`
  await share({ name: 'New' })
  const names = (await sharedLinksOf(postgres, console.siteId, Date.now())).map(({ name }) => name)
  assert.deepEqual(names, ['New', 'Lately'])
})

test('the widget is small, and any page may load it', async (t) => {
  const console = await openConsole(t)
  const { status, headers, text } = await console.stranger().get('/widget.js')
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/javascript; charset=utf-8'])
  assert.ok(Buffer.byteLength(text) <= 4_000)
})
