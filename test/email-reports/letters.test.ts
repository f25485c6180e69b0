import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite, listSitesOf } from '../../src/accounts/sites.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { custom, eventOf, pageview } from '../support/events.ts'
import { openStores } from '../support/stores.ts'
import { openWorld, type World } from '../support/world.ts'
import { compose, siteOf } from './composing.ts'
import { readAccountHtml, readSiteHtml, readSiteText, shownCells } from './letter-reading.ts'

/** Monday, 2 March 2026 and the six days after it. */
const week = { interval: 'week', firstDay: '2026-03-02' } as const
const hourMs = 3_600_000

async function record(world: World): Promise<void> {
  await world.record(
    // The week before: one visitor with one page.
    pageview({ at: '2026-02-24T12:00:00Z', visitor: 'p' }),
    // Monday: a came from a search and stayed two minutes, b looked at one page, and x is in an excluded country.
    pageview({ at: '2026-03-02T10:00:00Z', visitor: 'a', referrer: 'google.com', channel: 'Organic Search' }),
    pageview({
      at: '2026-03-02T10:02:00Z',
      visitor: 'a',
      referrer: 'google.com',
      channel: 'Organic Search',
      pathname: '/pricing',
    }),
    pageview({ at: '2026-03-02T11:00:00Z', visitor: 'b', country: 'AT' }),
    pageview({ at: '2026-03-02T12:00:00Z', visitor: 'x', country: 'FR' }),
    // Wednesday: a signed up after half a minute.
    pageview({ at: '2026-03-04T12:00:00Z', visitor: 'a' }),
    custom('Sign up', { at: '2026-03-04T12:00:30Z', visitor: 'a' }),
    // Sunday, half an hour before midnight in Berlin, and Monday, ten minutes after it.
    pageview({ at: '2026-03-08T22:30:00Z', visitor: 'c', country: 'US', pathname: '/docs' }),
    pageview({ at: '2026-03-08T23:10:00Z', visitor: 'd' }),
  )
}

test('the report of a week, with every line worked out by hand', async (t) => {
  const world = await openWorld(t, { zone: 'Europe/Berlin', excludedCountries: ['FR', 'CN'] })
  await record(world)
  const site = await siteOf(world.stores, world.siteId)
  const { subject, text, html } = await compose(world.stores, { ...week, about: { site } })
  assert.equal(subject, `${world.domain}: 4 visitors, 2 – 8 March`)
  assert.equal(
    text,
    `${world.domain}
Weekly report
Mon 2 – Sun 8 March 2026, compared with the week before, 23 February – 1 March

4 visitors (+300% from 1)

                This week  Before  Change
Visitors                4       1   +300%
Pageviews               5       1   +400%
Sessions                4       1   +300%
Bounce rate           50%    100%    -50%
Visit duration        38s      0s       –

Visitors by day
             This week  Before
Mon 2 March          2       0
Tue 3 March          0       1
Wed 4 March          1       0
Thu 5 March          0       0
Fri 6 March          0       0
Sat 7 March          0       0
Sun 8 March          1       0

Pages (views)
3  60%  /
1  20%  /docs
1  20%  /pricing

Sources (visitors)
3  75%  Direct
1  25%  google.com

Countries (visitors)
2  50%  Germany
1  25%  Austria
1  25%  United States

Custom events (times, visitors)
1  1  Sign up

Open this week in the dashboard:
https://stats.example/sites/${world.domain}?range=custom&start=2026-03-02&end=2026-03-08

-- 
Without France and China, as set in excluded countries: https://stats.example/sites/${world.domain}/settings/exclusions
Days of Europe/Berlin. Every number is what the API answers for these 7 days.

You asked for this mail every Monday at 8:00 (Europe/Berlin).
Change it: https://stats.example/account/reports
Unsubscribe with one click: https://stats.example/unsubscribe/token
It loads nothing and does not tell us whether you read it.
`,
  )
  assert.deepEqual(readSiteHtml(html), readSiteText(text))
  const cells = shownCells(html)
  assert.ok(cells.includes('Mon 2 – Sun 8 March 2026, compared with the week before, 23 February – 1 March'))
  assert.ok(
    cells.includes(
      'Without France and China, as set in excluded countries . Days of Europe/Berlin. Every number is what the API answers for these 7 days. You asked for this mail every Monday at 8:00 (Europe/Berlin). Change it or unsubscribe with one click . It loads nothing and does not tell us whether you read it.',
    ),
  )
  const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)
  assert.deepEqual(links, [
    `https://stats.example/sites/${world.domain}?range=custom&#38;start=2026-03-02&#38;end=2026-03-08`,
    `https://stats.example/sites/${world.domain}/settings/exclusions`,
    'https://stats.example/account/reports',
    'https://stats.example/unsubscribe/token',
  ])
  assert.doesNotMatch(html, /<(img|script|link|iframe|object|svg|form)\b|\bsrc=|url\(|@import|@font-face/i)
})

test('the report of a month compares with as many days before it, and names them', async (t) => {
  const world = await openWorld(t, { zone: 'Europe/Berlin' })
  await record(world)
  const site = await siteOf(world.stores, world.siteId)
  const { subject, text, html } = await compose(world.stores, {
    ...{ interval: 'month', firstDay: '2026-03-01', about: { site } },
    lateMs: hourMs,
  })
  assert.equal(subject, `${world.domain}: 6 visitors in March 2026`) // with x and d
  assert.match(text, /^March 2026, compared with the 31 days before, 29 January – 28 February$/m)
  assert.match(text, /^6 visitors \(\+500% from 1\)$/m)
  assert.match(text, /^Open this month in the dashboard:\n.*start=2026-03-01&end=2026-03-31$/m)
  assert.match(text, /^You asked for this mail on the 1st of every month at 8:00 \(Europe\/Berlin\)\.$/m)
  assert.doesNotMatch(text, /^Without|was due/m)
  const read = readSiteHtml(html)
  assert.ok(typeof read === 'object')
  assert.equal(read.days.length, 31)
  assert.deepEqual(read.days.slice(0, 3), [
    ['Sun 1 March', '0'],
    ['Mon 2 March', '3'],
    ['Tue 3 March', '0'],
  ])
  assert.deepEqual(read, readSiteText(text))
  assert.ok(shownCells(html).includes('Each bar is a day. The most on a day: 3, Mon 2 March.'))
})

test('a report that comes more than an hour late says when it was due', async (t) => {
  const world = await openWorld(t, { zone: 'Europe/Berlin' })
  await record(world)
  const site = await siteOf(world.stores, world.siteId)
  const { text, html } = await compose(world.stores, { ...week, about: { site }, lateMs: hourMs + 1 })
  const sentence = 'This report was due on Mon 9 March 2026 at 8:00 (Europe/Berlin). It could not be sent earlier.'
  assert.ok(text.includes(`\n${sentence}\n`))
  assert.ok(shownCells(html).includes(sentence))
})

test('a site without traffic gets a short report that says so, and what it had before', async (t) => {
  const world = await openWorld(t)
  await world.record(pageview({ at: '2026-02-24T12:00:00Z' }))
  const site = await siteOf(world.stores, world.siteId)
  const { subject, text, html } = await compose(world.stores, { ...week, about: { site } })
  assert.equal(subject, `${world.domain}: no visitors, 2 – 8 March`)
  const sentence = 'Nobody visited the site this week. It had 1 visitor in the week before.'
  assert.ok(text.includes(`\n${sentence}\n`))
  assert.ok(shownCells(html).includes(sentence))
  assert.doesNotMatch(html + text, /Pageviews|Custom events/)
  const later = await compose(world.stores, { ...week, firstDay: '2026-03-09', about: { site } })
  assert.match(later.text, /^Nobody visited the site this week\.$/m)
})

test('a list without rows says so', async (t) => {
  const world = await openWorld(t)
  await world.record(pageview({ at: '2026-03-02T12:00:00Z' }))
  const site = await siteOf(world.stores, world.siteId)
  const { text, html } = await compose(world.stores, { ...week, about: { site } })
  assert.match(text, /^Custom events \(times, visitors\)\nNo custom event was sent\.$/m)
  assert.ok(shownCells(html).includes('No custom event was sent.'))
})

test('the report of an account has its 35 sites with most visitors, and the number of the others', async (t) => {
  const stores = await openStores()
  const { postgres, clickhouse } = stores
  const accountId = await createAccount(postgres, { name: 'Acme', plan: 'Agency' })
  const name = randomUUID().slice(0, 8)
  for (let number = 1; number <= 52; number++)
    await createSite(postgres, { accountId, domain: `${number}.${name}.example`, timeZone: 'Europe/Berlin' })
  const sites = await listSitesOf(postgres, [accountId])
  // Site 7 has three visitors, site 30 has one with two pages, all others have one with one page, except 51 and 52, which have none.
  const hits = sites.flatMap(({ id, domain, timeZone }) => {
    const number = Number(domain.split('.')[0])
    if (number > 50) return []
    const visitors = number === 7 ? ['a', 'b', 'c'] : ['a']
    const views = visitors.map((visitor) => eventOf({ at: '2026-03-04T12:00:00Z', visitor }, id, timeZone))
    const second = number === 30 ? [eventOf({ at: '2026-03-04T12:01:00Z', visitor: 'a' }, id, timeZone)] : []
    const before = number === 7 ? [eventOf({ at: '2026-02-25T12:00:00Z', visitor: 'a' }, id, timeZone)] : []
    return [...views, ...second, ...before]
  })
  await recordBatch(clickhouse, { id: randomUUID(), events: hits })
  t.diagnostic(`${hits.length} events`)
  const { subject, text, html } = await compose(stores, { ...week, about: { account: 'Acme', sites } })
  assert.equal(subject, 'Acme: 52 visitors on 52 sites, 2 – 8 March')
  const read = readAccountHtml(html)
  assert.equal(read.headline, '52 visitors on 52 sites +5,100% from 1')
  assert.deepEqual(read.sites.slice(0, 3), [
    [`7.${name}.example`, '3', '3', '+200%'],
    [`30.${name}.example`, '1', '2', '–'],
    [`1.${name}.example`, '1', '1', '–'],
  ])
  assert.equal(read.sites.length, 35)
  assert.ok(!read.sites.some(([domain]) => /^5[12]\./.test(domain as string)))
  for (const part of [text, shownCells(html).join('\n')])
    assert.match(part, /^And 17 more sites, none with more visitors\.$/m)
  assert.match(
    text,
    new RegExp(
      ` 3 +3 +\\+200% {2}7\\.${name}\\.example\n {2}https://stats\\.example/sites/7\\.${name}\\.example\\?range=custom&start=2026-03-02&end=2026-03-08\n`,
    ),
  )
  assert.match(html, new RegExp(`href="https://stats\\.example/sites/7\\.${name}\\.example\\?range=custom&#38;start=`))
  const none = await compose(stores, { ...week, about: { account: 'Acme', sites: [] } })
  assert.equal(none.subject, 'Acme: no visitors, 2 – 8 March')
  assert.match(none.text, /^This account has no sites\.$/m)
})
