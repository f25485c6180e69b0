// What shared links with filters show, as somebody sees it who wants to learn of other pages (decision D-238).
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { goalOf } from '../../src/accounts/goal-rules.ts'
import { createGoal, deleteGoal } from '../../src/accounts/goals.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { createSite, findSite, type Site } from '../../src/accounts/sites.ts'
import { lists } from '../../src/console/dashboard/lists.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { addSharedLink, sharedLinksOf } from '../../src/users/shared-links.ts'
import { custom, eventOf, pageview } from '../support/events.ts'
import { keySecrets } from '../support/stores.ts'
import { openConsole, type Page, type TestConsole, type Visitor } from './console.ts'
import { decode, readDashboard } from './dashboard-page.ts'

const now = '2026-11-15T12:00:00Z'
const blog = 'page:starts_with:/blog'

/**
 * Three visits. Two of them begin and end on another page and send events from there; one stays in the blog. `other` names everything outside the
 * blog: its path, title, event, property and goals.
 */
async function addSite(console: TestConsole, other: string) {
  const { stores, accountId } = console
  const domain = `${randomUUID()}.example`
  const siteId = await createSite(stores.postgres, { accountId, domain, hostnames: [domain, `shop.${domain}`] })
  const from = { country: 'DE', referrer: 'google.com', channel: 'Organic Search', hostname: domain } as const
  const [a, b, c] = [
    { ...from, visitor: 'a' },
    { ...from, visitor: 'b', country: 'FR' },
    { ...from, visitor: 'c', hostname: `shop.${domain}` },
  ] as const
  const outside = { pathname: `/${other}`, title: `The ${other}` }
  const hits = [
    pageview({ ...a, ...outside, at: '2026-11-14T10:00:00Z' }),
    custom(other, { ...a, at: '2026-11-14T10:00:30Z', pathname: `/${other}`, props: { [other]: other } }),
    pageview({ ...a, at: '2026-11-14T10:01:00Z', pathname: '/blog/a', title: 'Article A' }),
    custom('Like', { ...a, at: '2026-11-14T10:01:30Z', pathname: '/blog/a' }),
    pageview({ ...a, ...outside, at: '2026-11-14T10:02:00Z' }),
    pageview({ ...b, ...outside, at: '2026-11-14T11:00:00Z' }),
    pageview({ ...b, at: '2026-11-14T11:01:00Z', pathname: '/blog/b', title: 'Article B' }),
    pageview({ ...c, at: '2026-11-15T11:58:00Z', pathname: '/blog/a', title: 'Article A' }),
    pageview({ ...c, at: '2026-11-15T11:59:00Z', pathname: '/blog/b', title: 'Article B' }),
  ]
  await recordBatch(stores.clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, siteId, 'UTC')) })
  await createGoal(stores.postgres, siteId, goalOf(`Goal ${other}`, { pattern: `/${other}` }))
  await createGoal(stores.postgres, siteId, goalOf('Likes', { event: 'Like' }))
  const site = (await findSite(stores.postgres, siteId)) as Site
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'A key' })
  return {
    site,
    async share(...filters: string[]): Promise<string> {
      const nonce = randomBytes(16).toString('base64url')
      const link = { name: 'A link', expiresAt: null, passwordHash: null, isEmbeddable: true, filters, nonce }
      return `/share/${await addSharedLink(stores.postgres, keySecrets, { actor: 'maria@example.com' }, site, link)}`
    },
    async api(kind: string, ...fields: [string, string][]) {
      const query = new URLSearchParams([['range', '30d'], ...fields])
      const { status, json } = await console.api.fetch(`/api/v2/stats/${kind}?${query}`, {
        headers: { Authorization: `Bearer ${key.text}` },
      })
      assert.equal(status, 200, JSON.stringify(json))
      return json.data
    },
  }
}

async function openSite(t: TestContext, other = 'secret') {
  const console = await openConsole(t, { now })
  return { console, ...(await addSite(console, other)) }
}

const visitorsIn = ({ text }: Page): number => Number(readDashboard(text).metrics.get('visitors')?.text)

const listNames = Object.keys(lists) as (keyof typeof lists)[]

type Get = (path: string) => Promise<Page>

/** Opens links more often than one console allows. */
function patiently(t: TestContext, { stores }: TestConsole): Get {
  let visitor: Visitor | undefined
  let left = 0
  return async (path) => {
    if (!visitor || left === 0) {
      visitor = (await openConsole(t, { stores, now })).stranger()
      left = 15
    }
    left -= 1
    return visitor.get(path)
  }
}

/** Addresses below a link that an attacker would try, about `other`. */
function attempts(other: string): string[] {
  const path = `/${other}`
  const filters = [
    ...['page', 'entry_page', 'exit_page'].flatMap((name) => [
      `${name}:is:${path}`,
      `${name}:is:${path},/blog/a`,
      `${name}:is_not:${path}`,
      `${name}:contains:${other.slice(1)}`,
      `${name}:starts_with:${path}`,
      `${name}:starts_with:/`,
    ]),
    ...['is', 'is_not', 'contains', 'starts_with'].map((operator) => `event:${operator}:${other}`),
    'event:is:',
    'event:is_not:',
    `goal:is:Goal ${other}`,
    `goal:is_not:Goal ${other}`,
    'goal:is:',
    `prop:${other}:is:${other}`,
    `prop:${other}:is:`,
    `prop:${other}:contains:e`,
    `referrer:contains:${other}`,
    `hostname:contains:${other}`,
  ].map((filter) => `filter=${encodeURIComponent(filter)}`)
  const typed = filters.slice(6, 12).map((filter) => {
    const [field, operator, ...value] = decodeURIComponent(filter.slice('filter='.length)).split(':')
    return String(new URLSearchParams({ field: field ?? '', operator: operator ?? '', value: value.join(':') }))
  })
  const queries = [
    ...filters,
    ...filters.slice(6, 18).map((filter) => `filter=entry_page:contains:/&${filter}`),
    ...typed,
    `page=${path}`,
    `entry_page=${path}`,
    `event=${other}`,
    `goal=Goal+${other}`,
    `metric=conversions&goal=Goal+${other}`,
    'range=today&compare=2026-11-14/2026-11-14',
    'range=all&interval=month',
    'range=yesterday&metric=pageviews',
  ]
  const more = listNames.flatMap((name) => [
    `more=${name}`,
    `more=${name}&search=${other}&filter=exit_page:is_not:${path}`,
  ])
  const panels = ['pages=entry_page', 'pages=exit_page', 'actions=event', 'actions=goal', 'countries=map']
  return [
    ...['', ...queries, ...more, ...panels].map((query) => `?${query}`),
    ...listNames.flatMap((name) => [`/csv/${name}`, `/csv/${name}?search=${other}&filter=entry_page:starts_with:/`]),
    '/widget.json',
  ]
}

/** What the answer says, without the names of the site and of what was typed. */
async function answersTo(get: Get, site: Site, path: string, other: string): Promise<string[]> {
  const answers: string[] = []
  for (const attempt of attempts(other)) {
    const { status, text, headers } = await get(path + attempt)
    const location = headers.get('location') ?? ''
    const plain = [text, location].map((one) => {
      const encoded = one.replaceAll(path, '/share/x').replaceAll(site.domain, 'site.example')
      // The word itself comes back in fields and addresses.
      return decode(encoded).replaceAll(other, 'x').replaceAll(other.slice(1), 'y')
    })
    answers.push([attempt.replaceAll(other, 'x').replaceAll(other.slice(1), 'y'), status, ...plain].join('\n'))
  }
  return answers
}

test('behind a link to some pages no answer depends on what happened elsewhere', { timeout: 600_000 }, async (t) => {
  const console = await openConsole(t, { now })
  // The same visits; in the second world nobody was on the page that the attacker asks about, and it has no goal.
  const [there, absent] = [await addSite(console, 'secret'), await addSite(console, 'public')]
  const [one, other] = [await there.share(blog), await absent.share(blog)]
  const get = patiently(t, console)
  const [found, missing] = [
    await answersTo(get, there.site, one, 'secret'),
    await answersTo(get, absent.site, other, 'secret'),
  ]
  assert.equal(found.length, missing.length)
  for (const [index, answer] of found.entries()) {
    assert.match(answer, /^[^\n]*\n(200|303|400|404)\n/)
    assert.equal(answer, missing[index])
  }
})

test('no list, file, title or chip behind a link to some pages names another page', async (t) => {
  const { console, share } = await openSite(t)
  const get = patiently(t, console)
  for (const filters of [[blog], ['page:contains:blog', 'country:is:DE'], ['page:is_not:/secret']]) {
    const path = await share(...filters)
    const addresses = [
      '',
      '?pages=entry_page',
      '?pages=exit_page',
      '?actions=event',
      ...listNames.flatMap((name) => [`?more=${name}`, `/csv/${name}`]),
    ]
    for (const address of addresses) {
      const { status, text } = await get(path + address)
      assert.ok(status === 200, `${address} ${status}`)
      assert.doesNotMatch(text, /secret/i, `${filters} ${address}`)
    }
  }
})

test('behind a link to some pages, entry and exit pages are those that it shows', async (t) => {
  const { console, share } = await openSite(t)
  const path = await share(blog)
  const get = patiently(t, console)
  const labels = async (query: string) =>
    readDashboard((await get(`${path}?${query}`)).text)
      .panel('pages')
      .map(({ label, words }) => [label, words])
  assert.deepEqual(await labels('pages=entry_page'), [['/blog/a Article A', '1 visitor, 2 views']])
  // One of the visits that began elsewhere ended here.
  assert.deepEqual(await labels('pages=exit_page'), [['/blog/b Article B', '2 visitors, 3 views']])
  assert.deepEqual(await labels('pages=page'), [
    ['/blog/a Article A', '2 views, 2 visitors'],
    ['/blog/b Article B', '2 views, 2 visitors'],
  ])
  // What a list shows can be filtered by, with any operator, and only among the pages of the link.
  for (const [filter, visitors] of [
    ['page:is:/blog/a', 2],
    ['page:is_not:/blog/a', 2],
    ['entry_page:is:/blog/a', 1],
    ['exit_page:contains:/', 2],
    ['entry_page:contains:/', 1],
    ['entry_page:is_not:/blog/a', 0],
    ['entry_page:is_not:/secret', 1],
  ] as const)
    assert.deepEqual([filter, visitorsIn(await get(`${path}?filter=${filter}`))], [filter, visitors])
  for (const filter of ['page:is:/secret', 'entry_page:is:/secret', 'exit_page:is:/blog/a,/secret', 'entry_page:is:']) {
    const { status, text } = await get(`${path}?filter=${filter}`)
    assert.deepEqual([filter, status, /does not show/.test(text)], [filter, 400, true])
  }
  for (const filter of [
    'event:is:Like',
    'goal:is:Likes',
    'goal:is:Goal secret',
    'event:contains:e',
    'prop:secret:is:',
  ]) {
    const { status, text } = await get(`${path}?filter=${filter}`)
    assert.deepEqual([filter, status, /has no filter called/.test(text)], [filter, 400, true])
  }
  // Only what happened on these pages: an event, but not that of the other page.
  const { text } = await get(`${path}?actions=event`)
  assert.deepEqual(
    readDashboard(text)
      .panel('actions')
      .map(({ label, words }) => [label, words]),
    [['Like', '1 visitor, 1 time']],
  )
})

test('numbers behind a link are those of the API with its filters', async (t) => {
  const { console, share, api } = await openSite(t)
  const visitor = console.stranger()
  for (const filters of [
    [],
    [blog],
    ['page:is:/blog/a,/blog/b', 'country:is_not:FR'],
    ['event:is:secret'],
    ['goal:is:Goal secret', 'entry_page:contains:s'],
    ['prop:secret:is:secret'],
    ['hostname:starts_with:shop.'],
    ['referrer:is:google.com', 'channel:is:Organic Search'],
  ]) {
    const path = await share(...filters)
    const fields = filters.map((filter): [string, string] => ['filter', filter])
    const totals = await api('totals', ['metrics', 'visitors,pageviews'], ...fields)
    const page = readDashboard((await visitor.get(path)).text)
    assert.deepEqual(
      ['visitors', 'pageviews'].map((name) => Number(page.metrics.get(name)?.text)),
      [totals.visitors, totals.pageviews],
      filters.join(),
    )
    const countries = await api('breakdown', ['by', 'country'], ['metrics', 'visitors'], ...fields)
    assert.deepEqual(
      page.panel('places').map(({ value }) => Number(value)),
      countries.map(({ visitors }: { visitors: number }) => visitors),
    )
    const days = await api('timeseries', ['metrics', 'visitors'], ...fields)
    const widget = JSON.parse((await visitor.get(`${path}/widget.json`)).text)
    assert.deepEqual(
      widget.days,
      days.map(({ visitors }: { visitors: number }) => visitors),
    )
    assert.equal(widget.visitors, totals.visitors)
  }
})

test('"now" is left out behind a link whose filters cannot be counted now', async (t) => {
  const { console, share } = await openSite(t)
  const visitor = console.stranger()
  const nowOf = async (...filters: string[]) => readDashboard((await visitor.get(await share(...filters))).text).now
  assert.equal(await nowOf(), 1)
  assert.equal(await nowOf('country:is:DE'), 1)
  assert.equal(await nowOf('country:is:FR'), 0)
  assert.equal(await nowOf(blog), undefined)
  assert.equal(await nowOf('country:is_not:DE'), undefined)
})

test('what a link leaves out is not named, and other hosts are not offered', async (t) => {
  const { console, share, site } = await openSite(t)
  const visitor = console.stranger()
  const page = await visitor.get(await share('page:is_not:/secret', 'hostname:is_not:intern.example'))
  assert.deepEqual(readDashboard(page.text).chips, ['Page some left out', 'Hostname some left out'])
  assert.doesNotMatch(page.text, /intern|class="hosts"|entry_page|exit_page/)
  assert.match((await visitor.get(await share(blog))).text, new RegExp(`shop.${site.domain}`))
})

test('a link with many filters on pages has no entry and exit pages, because these need filters of their own', async (t) => {
  const { console, share } = await openSite(t)
  const visitor = console.stranger()
  const path = await share(blog, 'page:contains:b', 'page:contains:l')
  assert.doesNotMatch((await visitor.get(path)).text, /entry_page|exit_page/)
  assert.equal((await visitor.get(`${path}/csv/entry_page`)).status, 404)
  assert.equal((await visitor.get(`${path}?filter=entry_page:contains:secret`)).status, 400)
  const two = await share(blog, 'page:contains:b')
  const room = ['browser', 'os', 'device'].map((name) => `filter=${name}:is_not:`)
  assert.equal((await visitor.get(`${two}?${room.slice(0, 2).join('&')}&more=entry_page`)).status, 200)
  const full = await visitor.get(`${two}?${room.join('&')}`)
  assert.deepEqual([full.status, /At most 2 filters can be added here/.test(full.text)], [400, true])
})

test('a link whose goal is gone shows nothing, and says so to its owner', async (t) => {
  const { console, share, site } = await openSite(t)
  const { postgres } = console.stores
  const path = await share('goal:is:Likes')
  const visitor = console.stranger()
  assert.equal(visitorsIn(await visitor.get(path)), 1)
  await deleteGoal(postgres, site.id, 'Likes')
  for (const address of ['', '/csv/page', '/widget.json']) assert.equal((await visitor.get(path + address)).status, 404)
  const list = await (await console.signedIn('owner')).get(`/sites/${site.domain}/settings/links`)
  assert.match(list.text, /goal of its filters is gone/)
})

test('links of earlier versions, with filters in four columns, work as before', async (t) => {
  const { console, share, site } = await openSite(t)
  const { postgres } = console.stores
  const path = await share()
  const stored = { country: 'DE', device: 'Desktop', hostname: site.domain, utm_source: 'a,b\\c' }
  const filtersOf = async () => (await sharedLinksOf(postgres, site.id, Date.parse(now)))[0]?.filters
  await postgres`UPDATE shared_links SET filters = NULL, ${postgres({ country: 'DE' })} WHERE site_id = ${site.id}`
  assert.deepEqual(await filtersOf(), ['country:is:DE'])
  assert.equal(visitorsIn(await console.stranger().get(path)), 2)
  await postgres`UPDATE shared_links SET ${postgres(stored)} WHERE site_id = ${site.id}`
  const all = ['country:is:DE', 'device:is:desktop', `hostname:is:${site.domain}`, 'utm_source:is:a\\,b\\\\c']
  assert.deepEqual(await filtersOf(), all)
  const chips = readDashboard((await console.stranger().get(path)).text).chips
  assert.deepEqual(chips.at(-1), 'UTM source is a,b\\c')
})

test('a process of an earlier version shows nothing behind a link that has filters', async (t) => {
  const { console, share, site } = await openSite(t)
  await share(blog)
  // That version reads these columns only.
  const [row] = await console.stores.postgres`
    SELECT country, device, hostname, utm_source FROM shared_links WHERE site_id = ${site.id}`
  assert.deepEqual({ ...row }, { country: null, device: null, hostname: 'none.invalid', utm_source: null })
})
