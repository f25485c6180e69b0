import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { subscriptionsOf } from '../../src/email-reports/subscriptions.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { addSegment, changeSegment, removeSegment, segmentsOf } from '../../src/users/segments.ts'
import { sharedLinksOf } from '../../src/users/shared-links.ts'
import { eventOf, pageview } from '../support/events.ts'
import { entriesOf, mainOf, openConsole, type Page, type Visitor } from './console.ts'
import { decode, readDashboard, textOf } from './dashboard-page.ts'

const now = '2026-11-15T12:00:00Z'
const actor = { actor: 'maria@example.com' }
const blog = { name: 'Blog', filters: ['page:starts_with:/blog'] }

async function openSegments(t: TestContext) {
  const console = await openConsole(t, { now })
  const { stores, siteId, domain } = console
  const hits = [
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'a', country: 'DE', pathname: '/blog/a' }),
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'b', country: 'FR', pathname: '/blog/b' }),
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'c', country: 'DE', pathname: '/pricing' }),
  ]
  await recordBatch(stores.clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, siteId, 'UTC')) })
  return {
    console,
    site: (await findSite(stores.postgres, siteId)) as Site,
    dashboard: `/sites/${domain}`,
    page: `/sites/${domain}/settings/segments`,
    stored: async () => [...(await segmentsOf(stores.postgres, siteId))],
  }
}

const visitorsIn = ({ text }: Page): number => Number(readDashboard(text).metrics.get('visitors')?.text)

/** The menu at the left of the bar: what stands on it, and where its items lead. */
function menuIn({ text }: Page) {
  const menu = /<details class="menu segments">.*?<\/details>/s.exec(text)?.[0]
  if (!menu) return undefined
  const items = [...menu.matchAll(/<a class="item" href="([^"]*)"([^>]*)>(.*?)<\/a>/gs)]
  return {
    holds: / holds"/.test(menu),
    name: textOf(/<summary.*?<\/summary>/s.exec(menu)?.[0] ?? ''),
    items: items.map(([, href = '', rest = '', name = '']) => [
      textOf(name),
      decode(href),
      rest.includes('aria-current'),
    ]),
  }
}

const linkIn = ({ text }: Page, name: string): string | undefined => {
  const href = new RegExp(`<a class="of-filters" href="([^"]*)">${name}</a>`).exec(text)?.[1]
  return href && decode(href)
}

test('filters are saved as a segment, which a member chooses in the menu', async (t) => {
  const { console, dashboard, page, stored } = await openSegments(t)
  const [owner, viewer] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  assert.equal(menuIn(await owner.get(dashboard)), undefined)
  assert.equal(linkIn(await owner.get(dashboard), 'Save as a segment'), undefined)
  const filtered = await owner.get(`${dashboard}?range=7d&filter=page:starts_with:/blog&filter=country:is:DE`)
  const form = linkIn(filtered, 'Save as a segment') ?? ''
  assert.equal(form, `${page}/new?range=7d&filter=page:starts_with:/blog&filter=country:is:DE`)
  const shown = await owner.get(form)
  assert.match(shown.text, /<span>Page starts with \/blog<\/span><span>Country Germany<\/span>/)
  const fields = [
    ['name', ' German blog '],
    ['back', 'range=7d&filter=page:starts_with:/blog&filter=country:is:DE'],
    ['filter', 'page:starts_with:/blog'],
    ['filter', 'country:is:DE'],
  ] as const
  const saved = await owner.post(form, page, fields)
  assert.equal(saved.status, 303)
  assert.deepEqual(await stored(), [{ name: 'German blog', filters: ['page:starts_with:/blog', 'country:is:DE'] }])

  const back = await owner.get(saved.headers.get('location') ?? '')
  assert.equal(visitorsIn(back), 1)
  assert.deepEqual(menuIn(back), {
    holds: true,
    name: 'German blog',
    items: [
      ['German blog', `${dashboard}?range=7d&filter=page:starts_with:/blog&filter=country:is:DE`, true],
      ['All segments', page, false],
    ],
  })
  assert.equal(linkIn(back, 'Save as a segment'), undefined)

  // Whoever sees the site may choose it, in its range, and other filters give way.
  const all = await viewer.get(`${dashboard}?range=7d&filter=country:is:FR`)
  assert.deepEqual([menuIn(all)?.holds, menuIn(all)?.name], [false, 'Segments'])
  assert.deepEqual([linkIn(all, 'Save as a segment'), linkIn(all, 'Share')], [undefined, undefined])
  const chosen = await viewer.get(menuIn(all)?.items[0]?.[1] as string)
  assert.deepEqual([visitorsIn(chosen), menuIn(chosen)?.holds], [1, true])
  // The order says nothing.
  const turned = await viewer.get(`${dashboard}?filter=country:is:DE&filter=page:starts_with:/blog`)
  assert.equal(menuIn(turned)?.name, 'German blog')
  assert.deepEqual(
    (await entriesOf(console, console.domain)).map(([, action, details]) => [action, details]),
    [['segment.created', 'German blog: page:starts_with:/blog, country:is:DE']],
  )
})

test('a segment is renamed, gets the filters of the dashboard, and is removed', async (t) => {
  const { console, site, dashboard, page, stored } = await openSegments(t)
  const { postgres } = console.stores
  const owner = await console.signedIn('owner')
  await addSegment(postgres, actor, site, blog)
  const change = `${page}/change`
  const renamed = await owner.post(`${change}?segment=Blog`, change, { segment: 'Blog', name: 'Articles' })
  assert.deepEqual([renamed.status, renamed.headers.get('location')], [303, `${page}?done=changed`])
  assert.match(mainOf(await owner.get(`${page}?done=changed`)), /Articles<\/a>.*Page starts with \/blog/s)
  const form = linkIn(await owner.get(`${dashboard}?filter=country:is:FR`), 'Save as a segment') ?? ''
  assert.match((await owner.get(form)).text, /<option>Articles<\/option>/)
  const given = await owner.post(form, change, { segment: 'Articles', filter: 'country:is:FR', back: 'range=30d' })
  assert.deepEqual([given.status, given.headers.get('location')], [303, `${dashboard}?range=30d`])
  assert.deepEqual(await stored(), [{ name: 'Articles', filters: ['country:is:FR'] }])
  // Saving it as it is changes nothing.
  assert.equal((await owner.post(form, change, { segment: 'Articles', name: 'Articles' })).status, 303)
  const removed = await owner.post(page, `${page}/remove`, { segment: 'Articles' })
  assert.deepEqual([removed.status, removed.headers.get('location')], [303, `${page}?done=removed`])
  assert.deepEqual(await stored(), [])
  const details = (await entriesOf(console, console.domain)).map(([, action, text]) => [action, text])
  assert.deepEqual(details, [
    ['segment.created', 'Blog: page:starts_with:/blog'],
    ['segment.changed', 'Blog: page:starts_with:/blog → Articles: page:starts_with:/blog'],
    ['segment.changed', 'Articles: page:starts_with:/blog → Articles: country:is:FR'],
    ['segment.deleted', 'Articles'],
  ])
})

test('a mistake shows the form again, and stores nothing', async (t) => {
  const { console, site, page, stored } = await openSegments(t)
  const owner = await console.signedIn('owner')
  await addSegment(console.stores.postgres, actor, site, blog)
  const form = `${page}/new?filter=country:is:FR`
  const usual = { name: 'Typed <b>', filter: 'country:is:FR', back: '' }
  const long = `page:is:/${'ä'.repeat(400)}`
  for (const [fields, said] of [
    [{ ...usual, name: ' ' }, /name of the segment is missing/],
    [{ ...usual, name: 'x'.repeat(61) }, /name of the segment is too long/],
    [{ ...usual, name: 'Blog' }, /already a segment Blog/],
    [{ ...usual, filter: 'country:is:XX' }, /Country must be a two-letter code/],
    [{ ...usual, filter: 'color:is:red' }, /is not one of page/],
    [{ ...usual, filter: long }, /too long to be stored/],
    [{ name: 'Nothing', back: '' }, /A segment needs a filter/],
  ] as const) {
    const refused = await owner.post(form, page, fields)
    assert.deepEqual([fields, refused.status], [fields, 422])
    assert.match(refused.text, said)
    assert.doesNotMatch(refused.text, /Typed <b>/)
  }
  const change = `${page}/change`
  await addSegment(console.stores.postgres, actor, site, { name: 'Other', filters: ['country:is:DE'] })
  const taken = await owner.post(`${change}?segment=Blog`, change, { segment: 'Blog', name: 'Other' })
  assert.deepEqual([taken.status, /already a segment Other/.test(taken.text)], [422, true])
  assert.deepEqual(
    (await stored()).map(({ name }) => name),
    ['Blog', 'Other'],
  )
  // Nobody is led to another host.
  const away = await owner.post(form, page, {
    name: 'Away',
    filter: 'country:is:FR',
    back: '//evil.example/?a=b\r\nX: y',
  })
  assert.ok(away.headers.get('location')?.startsWith(`/sites/${console.domain}?%2F%2Fevil`))
})

test('a site has at most 100 segments, also if two are saved at once', async (t) => {
  const { console, site } = await openSegments(t)
  const { postgres } = console.stores
  for (let nth = 1; nth < 100; nth++) await addSegment(postgres, actor, site, { ...blog, name: `Segment ${nth}` })
  const results = await Promise.allSettled(
    ['One', 'Another'].map((name) => addSegment(postgres, actor, site, { ...blog, name })),
  )
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  await assert.rejects(addSegment(postgres, actor, site, { ...blog, name: 'Late' }), /at most 100 segments/)
  assert.equal((await segmentsOf(postgres, site.id)).length, 100)
})

test('viewers see segments and change none; those of another account are unknown', async (t) => {
  const { console, site, page, stored } = await openSegments(t)
  const { postgres } = console.stores
  await addSegment(postgres, actor, site, blog)
  const [owner, viewer] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  const list = await viewer.get(page)
  assert.match(mainOf(list), /Blog<\/a>.*Owners of A test can change the segments/s)
  assert.doesNotMatch(mainOf(list), /<form|\/new|Remove/)
  for (const [path, fields] of [
    ['', { name: 'A', filter: 'country:is:DE' }],
    ['/change', { segment: 'Blog', name: 'A' }],
    ['/remove', { segment: 'Blog' }],
  ] as const)
    assert.deepEqual([path, (await viewer.post('/account', page + path, fields)).status], [path, 403])

  const other = await console.addAccount()
  const foreign = (await findSite(postgres, other.siteId)) as Site
  await addSegment(postgres, actor, foreign, { name: 'Foreign', filters: ['country:is:JP'] })
  const answers = async (visitor: Visitor, name: string) => [
    (await visitor.get(`${page}/change?segment=${name}`)).status,
    (await visitor.post(page, `${page}/change`, { segment: name, name: 'Mine' })).status,
    (await visitor.post(page, `${page}/remove`, { segment: name })).status,
  ]
  assert.deepEqual(await answers(owner, 'Foreign'), await answers(owner, 'Unknown'))
  assert.deepEqual(await answers(owner, 'Foreign'), [404, 404, 404])
  for (const address of [page, `/sites/${console.domain}`, `/sites/${console.domain}/settings/links/new`])
    assert.doesNotMatch((await owner.get(address)).text, /Foreign|Japan<\/span>/)
  const theirs = `/sites/${other.domain}/settings/segments`
  assert.equal((await owner.get(theirs)).status, 404)
  assert.equal((await owner.post(page, `${theirs}/remove`, { segment: 'Foreign' })).status, 404)
  assert.deepEqual([...(await segmentsOf(postgres, other.siteId))], [{ name: 'Foreign', filters: ['country:is:JP'] }])
  assert.deepEqual(await stored(), [blog])
})

test('a link keeps the filters that it was made with, whatever becomes of the segment', async (t) => {
  const { console, site, dashboard } = await openSegments(t)
  const { postgres } = console.stores
  const owner = await console.signedIn('owner')
  await addSegment(postgres, actor, site, blog)
  await addSegment(postgres, actor, site, { name: 'France', filters: ['country:is:FR'] })
  const links = `/sites/${console.domain}/settings/links`
  const filtered = await owner.get(`${dashboard}?filter=page:starts_with:/blog`)
  const form = linkIn(filtered, 'Share') ?? ''
  assert.equal(form, `${links}/new?filter=page%3Astarts_with%3A%2Fblog`)
  const shown = (await owner.get(form)).text
  const choices = [
    ...shown.matchAll(/<input type="radio" name="filters" required value="([^"]*)"( checked)?>(.*?)<\/label>/gs),
  ]
  assert.deepEqual(
    choices.map(([, value = '', checked, label = '']) => [
      decode(value),
      checked !== undefined,
      textOf(label.replaceAll('<span>', ' ')),
    ]),
    [
      ['', false, 'Everything'],
      ['filter=page%3Astarts_with%3A%2Fblog', true, 'Blog Page starts with /blog'],
      ['filter=country%3Ais%3AFR', false, 'France Country France'],
    ],
  )
  const [, nonce = ''] = /name="nonce" value="([^"]*)"/.exec(shown) ?? []
  const fields = { name: 'Client', expiry: '30', nonce, filters: 'filter=page%3Astarts_with%3A%2Fblog', country: 'DE' }
  const made = await owner.post(form, links, fields)
  const path = /id="whole-link"[^>]*>([^<]*)</.exec(made.text)?.[1]?.slice(console.url.length) ?? ''
  const filters = ['page:starts_with:/blog', 'country:is:DE']
  assert.deepEqual(
    (await sharedLinksOf(postgres, site.id, Date.parse(now))).map((link) => link.filters),
    [filters],
  )
  const visitorsOf = async () => visitorsIn(await console.stranger().get(path))
  assert.equal(await visitorsOf(), 1)
  await changeSegment(postgres, actor, site, blog, { name: 'Blog', filters: ['country:is_not:JP'] })
  assert.equal(await visitorsOf(), 1)
  await removeSegment(postgres, actor, site, 'Blog')
  assert.equal(await visitorsOf(), 1)
  assert.match(mainOf(await owner.get(links)), /Page starts with \/blog, Country Germany/)
})

test('the form of a link refuses filters that it cannot keep, and never makes a link to everything of them', async (t) => {
  const { console, site } = await openSegments(t)
  const owner = await console.signedIn('owner')
  const links = `/sites/${console.domain}/settings/links`
  const unread = await owner.get(`${links}/new?filter=country:is:XX`)
  assert.match(unread.text, /Country must be a two-letter code/)
  assert.doesNotMatch(unread.text, /name="filters"[^>]* checked/)
  const nonce = 'abcdefghijklmnopqrstuv'
  const eight = Array.from({ length: 8 }, (_, nth) => ['filter', `page:is_not:/${nth}`])
  for (const [fields, said] of [
    [{}, /Choose what the link shows/],
    [{ filters: 'filter=page' }, /must be written as/],
    [{ filters: String(new URLSearchParams(eight)), country: 'DE' }, /At most 8 filters/],
  ] as const) {
    const refused = await owner.post(`${links}/new`, links, { name: 'A', expiry: '30', nonce, ...fields })
    assert.deepEqual([fields, refused.status, said.test(refused.text)], [fields, 422, true])
  }
  assert.deepEqual([...(await sharedLinksOf(console.stores.postgres, site.id, Date.parse(now)))], [])
})

test('a report by email is made from a segment, and keeps its filters', async (t) => {
  const console = await openConsole(t, { now, sendsMail: true })
  const { stores, siteId, accountId, domain } = console
  const site = (await findSite(stores.postgres, siteId)) as Site
  await addSegment(stores.postgres, actor, site, blog)
  const viewer = await console.signedIn('viewer')
  const list = (await viewer.get(`/sites/${domain}/settings/segments`)).text
  const form = decode(/href="(\/account\/reports[^"]*)"/.exec(list)?.[1] ?? '')
  assert.equal(form, `/account/reports?account=${accountId}&site=${domain}&filter=page%3Astarts_with%3A%2Fblog#add`)
  const shown = (await viewer.get(form.replace('#add', ''))).text
  assert.match(shown, /Only <span class="filter-list"><span>Page starts with \/blog<\/span>/)
  assert.match(shown, new RegExp(`<select name="site"><option value="${domain}" selected>${domain}</option></select>`))
  const fields = { site: domain, every: 'week', hour: '8', zone: 'UTC', filter: 'page:starts_with:/blog' }
  const page = '/account/reports'
  assert.equal((await viewer.post(page, page, fields)).headers.get('location'), `${page}?done=subscribed`)
  assert.match((await viewer.post(page, page, fields)).text, /has this report already/)
  for (const [wrong, said] of [
    [{ ...fields, filter: 'page' }, /must be written as/],
    [{ ...fields, site: '' }, /Filters are about one site/],
  ] as const) {
    const refused = await viewer.post(page, page, wrong)
    assert.deepEqual([refused.status, said.test(refused.text)], [422, true])
  }
  await removeSegment(stores.postgres, actor, site, 'Blog')
  const [report] = await subscriptionsOf(stores.postgres, accountId)
  assert.deepEqual(report?.filters, ['page:starts_with:/blog'])
  const reports = (await viewer.get(page)).text
  assert.match(reports, /only Page starts with \/blog/)
  assert.match((await viewer.get(`${page}/${report?.id}`)).text, /Only Page starts with \/blog\./)
  const [[, action, details] = []] = await entriesOf(console, viewer.email)
  assert.equal(action, 'report.subscribed')
  assert.match(details ?? '', new RegExp(`^every week about ${domain}, only page:starts_with:/blog, at 8:00, UTC`))
})
