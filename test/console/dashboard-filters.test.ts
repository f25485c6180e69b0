// Rows, chips and forms filter a dashboard; whoever has a shared link filters only by what it shows.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { goalOf } from '../../src/accounts/goal-rules.ts'
import { createGoal } from '../../src/accounts/goals.ts'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { lists, panels } from '../../src/console/dashboard/lists.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { addSharedLink } from '../../src/users/shared-links.ts'
import { custom, eventOf, pageview } from '../support/events.ts'
import { keySecrets } from '../support/stores.ts'
import { openConsole, type Page } from './console.ts'
import { decode, readDashboard } from './dashboard-page.ts'

const now = '2026-11-15T12:00:00Z'

/** Three visitors: a reads two pages and signs up, b reads one page of the shop, c reads two others. */
async function openSite(t: TestContext) {
  const console = await openConsole(t, { now })
  const { stores, siteId, domain } = console
  const a = {
    visitor: 'a',
    referrer: 'google.com',
    channel: 'Organic Search',
    utmSource: 'news',
    campaign: { medium: 'email', campaign: 'spring', content: 'hero', term: 'shoes' },
    device: 'Mobile',
    browser: 'Firefox',
    os: 'Android',
    hostname: domain,
  } as const
  const b = { visitor: 'b', country: 'FR', browser: 'Chrome', os: 'Windows', hostname: `shop.${domain}` } as const
  const c = {
    visitor: 'c',
    referrer: 'bing.com',
    channel: 'Organic Search',
    country: 'US',
    browser: 'Safari',
    os: 'macOS',
    hostname: domain,
  } as const
  const hits = [
    pageview({ ...a, at: '2026-11-14T10:00:00Z', pathname: '/' }),
    pageview({ ...a, at: '2026-11-14T10:01:00Z', pathname: '/pricing', title: 'Plans & prices' }),
    custom('Signup', { ...a, at: '2026-11-14T10:02:00Z', pathname: '/pricing', props: { plan: 'pro' } }),
    pageview({ ...b, at: '2026-11-14T11:00:00Z', pathname: '/pricing' }),
    pageview({ ...c, at: '2026-11-14T12:00:00Z', pathname: '/blog' }),
    pageview({ ...c, at: '2026-11-14T12:01:00Z', pathname: '/' }),
  ]
  await recordBatch(stores.clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, siteId, 'UTC')) })
  await createGoal(stores.postgres, siteId, goalOf('Signs up', { event: 'Signup' }))
  const site = (await findSite(stores.postgres, siteId)) as Site
  return {
    console,
    path: `/sites/${domain}`,
    member: await console.signedIn('viewer'),
    async share(...filters: string[]): Promise<string> {
      const nonce = randomBytes(16).toString('base64url')
      const link = { name: 'A link', expiresAt: null, passwordHash: null, isEmbeddable: false, filters, nonce }
      return `/share/${await addSharedLink(stores.postgres, keySecrets, { actor: 'maria@example.com' }, site, link)}`
    },
  }
}

const visitorsIn = ({ text }: Page): number => Number(readDashboard(text).metrics.get('visitors')?.text)

/** A row of each list, and how many of the three visitors it has. */
const rowsOfLists = {
  page: ['/pricing Plans & prices', 2],
  entry_page: ['/blog', 1],
  exit_page: ['/', 1],
  channel: ['Organic Search', 2],
  referrer: ['Direct / none', 1],
  utm_campaign: ['No campaign', 2],
  utm_source: ['news', 1],
  utm_medium: ['email', 1],
  utm_content: ['hero', 1],
  utm_term: ['shoes', 1],
  country: ['Germany', 1],
  device: ['Desktop', 2],
  browser: ['Safari', 1],
  os: ['Windows', 1],
  event: ['Signup', 1],
  goal: ['Signs up', 1],
} as const satisfies Record<keyof typeof lists, readonly [string, number]>

test('a click on a row of any list shows only its visits, and a chip that takes the filter off', async (t) => {
  const { path, member } = await openSite(t)
  for (const [panel, { lists: names }] of Object.entries(panels)) {
    for (const name of names) {
      const [label, visitors] = rowsOfLists[name]
      const list = readDashboard((await member.get(`${path}?range=7d&${panel}=${name}`)).text).panel(panel)
      const row = list.find((one) => one.label === label)
      const href = row?.href ?? ''
      assert.ok(href.includes(`&filter=${name}:is:`), `${name} ${JSON.stringify(list)}`)
      const filtered = await member.get(href)
      assert.deepEqual([name, filtered.status, visitorsIn(filtered)], [name, 200, visitors])
      const [chip = ''] = readDashboard(filtered.text).chips
      assert.match(chip, / is /)
      assert.ok(chip.endsWith(label.split(' Plans')[0] as string), chip)
      const [, without = ''] = /class="remove" href="([^"]*)"/.exec(filtered.text) ?? []
      assert.doesNotMatch(without, /filter/)
      assert.equal(visitorsIn(await member.get(decode(without))), 3)
      // The row that holds leads nowhere.
      const again = readDashboard(filtered.text).panel(panel)
      assert.equal(again.find((one) => one.label === label)?.href, undefined, name)
    }
  }
})

test('the operator of a chip is chosen in its menu, and a filter on the same dimension takes its place', async (t) => {
  const { path, member } = await openSite(t)
  const page = await member.get(`${path}?filter=page:is:/pricing`)
  const choices = Array.from(
    page.text.matchAll(/<a class="item" href="([^"]*filter[^"]*)"[^>]*>(is|is not|contains|starts with)<\/a>/g),
    ([, href = '', text = '']) => [text, decode(href)] as const,
  )
  const counted = []
  for (const [text, href] of choices) counted.push([text, visitorsIn(await member.get(href))])
  assert.deepEqual(counted, [
    ['is', 2],
    // Two visitors read something else.
    ['is not', 2],
    ['contains', 2],
    ['starts with', 2],
  ])
  assert.equal(visitorsIn(await member.get(`${path}?filter=page:starts_with:/b&filter=device:is_not:mobile`)), 1)
  // A word of ours has no parts, and a missing value neither.
  for (const filter of ['channel:is:Direct', 'referrer:is:'])
    assert.doesNotMatch((await member.get(`${path}?filter=${filter}`)).text, />contains<\/a>/)
  const entries = readDashboard((await member.get(`${path}?filter=country:is:DE,US&filter=device:is:mobile`)).text)
  const href = entries.panel('places')[0]?.href ?? ''
  assert.ok(href.includes('filter=device:is:mobile&filter=country:is:DE') && !href.includes('US'), href)
})

test('the form adds a filter to those that hold, and writes it as rows do', async (t) => {
  const { path, member, console } = await openSite(t)
  const typed = (fields: Record<string, string>) =>
    member.get(
      `${path}?${new URLSearchParams([['range', '7d'], ['filter', 'device:is:desktop'], ...Object.entries(fields)])}`,
    )
  const cases: [Record<string, string>, string][] = [
    [{ field: 'country', operator: 'is_not', value: ' germany ' }, '&filter=country:is_not:DE'],
    [{ field: 'page', operator: 'contains', value: 'a,b\\c' }, '&filter=page:contains:a%5C,b%5C%5Cc'],
    [{ field: 'goal', operator: 'is', value: 'Signs up' }, '&filter=goal:is:Signs+up'],
    [{ field: 'page', operator: 'is', value: '' }, ''],
  ]
  for (const [fields, added] of cases) {
    const { status, headers } = await typed(fields)
    assert.deepEqual([status, headers.get('location')], [303, `${path}?range=7d&filter=device:is:desktop${added}`])
  }
  const mistyped = await typed({ field: 'country', operator: 'is_not', value: 'Germny' })
  assert.equal(mistyped.status, 400)
  // The form comes again with what was typed, and the other filter stays.
  assert.match(mistyped.text, /<details class="menu filters" open>.*Country must be a two-letter code/s)
  assert.match(mistyped.text, /value="country" selected>.*value="is_not" selected>.*name="value" value="Germny"/s)
  assert.deepEqual(readDashboard(mistyped.text).chips, ['Device is Desktop'])
  assert.equal((await typed({ field: 'path', operator: 'is', value: '/x' })).status, 400)
  const { text } = await member.get(path)
  const offered = Array.from(
    /<select name="field">(.*?)<\/select>/s.exec(text)?.[1]?.matchAll(/value="(\w+)"/g) ?? [],
    ([, name]) => name as string,
  )
  assert.deepEqual(offered.toSorted(), [...Object.keys(lists), 'hostname'].toSorted())
  assert.match(text, new RegExp(`filter=hostname:is:www.${console.domain}"`))
})

test('with eight filters no row leads to a ninth', async (t) => {
  const { path, member } = await openSite(t)
  const eight = Array.from({ length: 8 }, (_, nth) => `filter=page:is_not:/${nth}`).join('&')
  const page = await member.get(`${path}?${eight}`)
  assert.equal(visitorsIn(page), 3)
  assert.doesNotMatch(page.text, /\+ Filter/)
  const read = readDashboard(page.text)
  assert.ok(read.panel('places').every(({ href }) => href === undefined))
  // It takes the place of the others on its dimension.
  assert.match(read.panel('pages')[0]?.href ?? '', /\?range=30d&filter=page:is:\/(pricing)?$/)
})

test('a link to one host tells nothing about visits to another', async (t) => {
  const { console, share } = await openSite(t)
  const path = await share(`hostname:is:shop.${console.domain}`)
  const visitor = console.stranger()
  const page = await visitor.get(path)
  assert.equal(visitorsIn(page), 1)
  assert.doesNotMatch(page.text, /entry_page|exit_page|value="(event|goal)"/)
  assert.doesNotMatch(page.text, /news|Signup|\/blog/)
  for (const filter of [
    'event:is:Signup',
    'event:is_not:Signup',
    'goal:is:Signs+up',
    'entry_page:is:/',
    'exit_page:contains:b',
    'prop:plan:is:pro',
  ]) {
    const refused = await visitor.get(`${path}?filter=${filter}`)
    assert.deepEqual([filter, refused.status, /This page has no filter called/.test(refused.text)], [filter, 400, true])
  }
  for (const list of ['entry_page', 'exit_page']) assert.equal((await visitor.get(`${path}/csv/${list}`)).status, 404)
  assert.equal(visitorsIn(await visitor.get(`${path}?more=entry_page&pages=exit_page`)), 1)
  // A filter on what is locked is not even read.
  for (const query of [
    `filter=hostname:is:${console.domain}`,
    'filter=hostname:contains:e',
    `hostname=${console.domain}`,
  ])
    assert.deepEqual([query, visitorsIn(await visitor.get(`${path}?${query}`))], [query, 1])
})

test('whoever has a link filters by what its lists show, and by no property', async (t) => {
  const { console, share, path: own, member } = await openSite(t)
  const path = await share('country:is:DE')
  const visitor = console.stranger()
  for (const [query, visitors] of [
    ['filter=event:is:Signup', 1],
    ['filter=entry_page:is:/', 1],
    // Of a visitor from elsewhere.
    ['filter=page:is:/blog', 0],
    ['filter=browser:is_not:Firefox', 0],
  ] as const)
    assert.deepEqual([query, visitorsIn(await visitor.get(`${path}?${query}`))], [query, visitors])
  assert.equal((await visitor.get(`${path}?filter=prop:plan:is:pro`)).status, 400)
  const filtered = await member.get(`${own}?filter=prop:plan:is:pro`)
  assert.equal(visitorsIn(filtered), 1)
  assert.deepEqual(readDashboard(filtered.text).chips, ['Property plan is pro'])
})
