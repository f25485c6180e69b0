// One list alone: all its rows, page by page, searched, sorted and saved; and what a panel says when its question is refused.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { goalOf } from '../../src/accounts/goal-rules.ts'
import { createGoal } from '../../src/accounts/goals.ts'
import { createKey } from '../../src/accounts/keys.ts'
import type { Site } from '../../src/accounts/sites.ts'
import { periodsOf } from '../../src/calendar/periods.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { failed } from '../../src/console/dashboard/refusals.ts'
import { contextOfSite, defaultState } from '../../src/console/dashboard/state.ts'
import { ApiError } from '../../src/errors.ts'
import type { QuestionRequest } from '../../src/stats/questions/questions.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { custom, eventOf, type Hit, pageview } from '../support/events.ts'
import { keySecrets, openStores } from '../support/stores.ts'
import { type ConsoleOptions, openConsole, type Page } from './console.ts'
import { decode, readDashboard, textOf } from './dashboard-page.ts'

const now = '2026-11-15T12:00:00Z'

async function openSite(t: TestContext, hits: Hit[], options: ConsoleOptions = { now }) {
  const console = await openConsole(t, options)
  const { stores, siteId, accountId, domain } = console
  const record = (some: Hit[]) =>
    recordBatch(stores.clickhouse, { id: randomUUID(), events: some.map((hit) => eventOf(hit, siteId, 'UTC')) })
  await record(hits)
  const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'A key' })
  const member = await console.signedIn('viewer')
  return {
    console,
    record,
    get: (query: string) => member.get(`/sites/${domain}${query}`),
    at: (address: string) => member.get(address),
    ask: (question: string, headers: Record<string, string> = {}) =>
      console.api.fetch(`/api/v2/stats/${question}`, { headers: { Authorization: `Bearer ${key.text}`, ...headers } }),
  }
}

const rowsIn = ({ text }: Page): string[][] => readDashboard(text).table.slice(1)

const linkIn = ({ text }: Page, name: string): string | undefined => {
  const href = new RegExp(`href="([^"]*)"[^>]*>${name}</a>`).exec(text)?.[1]
  return href && decode(href)
}

/** 230 paths: page nth is read by nth % 3 + 1 visitors. */
const manyPages = Array.from({ length: 230 }, (_, nth) =>
  Array.from({ length: (nth % 3) + 1 }, (_, visitor) =>
    pageview({ at: '2026-11-14T10:00:00Z', visitor: `v${visitor}`, pathname: `/p/${nth}`, title: `Page ${nth}` }),
  ),
).flat()

test('a list alone has every row once, and its pages count up to the same second', async (t) => {
  const options = { now }
  const { get, at, record, ask } = await openSite(t, manyPages, options)
  const first = await get('?more=page')
  assert.match(textOf(first.text), /1 – 100 of 230 rows/)
  // What arrives in between is on no page of this list.
  await record([pageview({ at: '2026-11-15T12:00:10Z', visitor: 'late', pathname: '/late' })])
  options.now = '2026-11-15T12:01:00Z'
  const pages = [first]
  for (let next = linkIn(first, 'Next'); next; ) {
    const page = await at(next)
    pages.push(page)
    next = linkIn(page, 'Next')
  }
  assert.deepEqual(
    pages.map((page) => rowsIn(page).length),
    [100, 100, 30],
  )
  assert.equal(new Set(pages.flatMap(rowsIn).map(([label]) => label)).size, 230)
  // 77 paths have one visitor, 77 two and 76 three, each visitor with one view.
  assert.deepEqual(rowsIn(first)[0]?.slice(1, 3), ['3', '3'])
  assert.deepEqual(
    rowsIn(pages[2] as Page)
      .at(-1)
      ?.slice(1, 3),
    ['1', '1'],
  )
  assert.ok(pages.every(({ text }) => textOf(text).includes('as of 12:00:00')))
  assert.match(textOf((await get('?more=page')).text), /1 – 100 of 231 rows/)
  const { json } = await ask('breakdown?by=page&metrics=pageviews&limit=1')
  assert.equal(json.meta.generated_at, '2026-11-15T12:01:00.000Z')
})

test('a file has all rows of a list, in its order, and is what the API sends', async (t) => {
  const { get, ask } = await openSite(t, manyPages)
  const metrics = 'metrics=pageviews,visitors,sessions,bounce_rate,avg_duration'
  for (const [query, question] of [
    ['', ''],
    ['?order=visitors:asc', '&order=visitors:asc'],
    ['?search=/p/22&filter=country:is:DE', '&filter=country:is:DE&filter=page:contains:/p/22'],
  ] as const) {
    const { text, headers } = await get(`/csv/page${query}`)
    const answer = await ask(`breakdown?by=page&${metrics}&limit=100000${question}`, { Accept: 'text/csv' })
    assert.equal(text, answer.text, query)
    assert.match(headers.get('content-disposition') ?? '', /-pages-2026-10-17-2026-11-15\.csv"/)
  }
  assert.equal((await get('/csv/page')).text.split('\r\n').length, 1 + 230 + 1)
  // The name of the list in earlier versions.
  assert.equal((await get('/csv/pages')).text, (await get('/csv/page')).text)
})

test('a search finds parts of paths, and names of countries and events in any case', async (t) => {
  const { get } = await openSite(t, [
    ...manyPages,
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'g', country: 'GB', pathname: '/P/22' }),
    custom('Sign up', { at: '2026-11-14T10:00:00Z', visitor: 'g', country: 'GB' }),
    custom('Buy', { at: '2026-11-14T10:00:00Z', visitor: 'g', country: 'GB' }),
  ])
  const found = async (query: string) => rowsIn(await get(`?more=${query}`)).map(([label]) => label)
  assert.deepEqual((await found('page&search=/p/22')).toSorted(), [
    '/p/22 Page 22',
    ...Array.from({ length: 10 }, (_, nth) => `/p/22${nth} Page 22${nth}`),
  ])
  assert.deepEqual(await found('country&search=KING'), ['United Kingdom'])
  assert.deepEqual(await found('event&search=sign'), ['Sign up'])
  assert.match((await get('?more=event&search=none')).text, /Nothing is called so/)
  const page = await get('?more=page&search=/p/1&order=visitors:asc')
  assert.match(page.text, /<th scope="col" class="right sorted" aria-sort="ascending">/)
  assert.match(page.text, /name="order" value="visitors:asc"/)
})

test('the row of a page has its title, and a small link to the page itself', async (t) => {
  const { console, get } = await openSite(t, [
    pageview({ at: '2026-11-14T10:00:00Z', pathname: '/caf%C3%A9', title: 'Le "café"' }),
  ])
  for (const query of ['', '?pages=entry_page', '?more=exit_page']) {
    const { text } = await get(query)
    assert.match(text, /<span class="path">\/café<\/span> <small>Le &#34;café&#34;<\/small>/)
    assert.match(
      text,
      new RegExp(`<a class="to-page" href="https://${console.domain}/caf%C3%A9" rel="noopener noreferrer"`),
    )
  }
})

test('the map has every country, and the first five beside it', async (t) => {
  const codes = ['DE', 'DE', 'DE', 'DE', 'FR', 'FR', 'US', 'GB', 'ES', 'IT', 'BR', 'MC'] as const
  const { get } = await openSite(
    t,
    codes.map((country, nth) => pageview({ at: '2026-11-14T10:00:00Z', visitor: `v${nth}`, country })),
  )
  const { text } = await get('?countries=map')
  const shown = Array.from(
    text.matchAll(/<path class="(level-\d)" data-href="[^"]*country:is:(\w\w)[^>]*><title>(.*?)<\/title>/g),
  )
  assert.deepEqual(
    shown.map(([, level, code, title]) => `${code} ${level} ${title}`).toSorted(),
    // Monaco is too small to be drawn. Four visitors, e to the power of 1.6 less one, have three levels: from 1, 2 and 4.
    [
      'BR level-3 Brazil: 1 visitor',
      'DE level-5 Germany: 4 visitors',
      'ES level-3 Spain: 1 visitor',
      'FR level-4 France: 2 visitors',
      'GB level-3 United Kingdom: 1 visitor',
      'IT level-3 Italy: 1 visitor',
      'US level-3 United States: 1 visitor',
    ],
  )
  assert.equal(readDashboard(text).panel('places').length, 5)
  assert.match(
    textOf(/<div class="foot">\s*<a href="[^"]*more=country">.*?<\/a>/s.exec(text)?.[0] ?? ''),
    /All 8 countries/,
  )
})

/** A console that refuses some questions as the API does. */
async function openRefusing(t: TestContext, isRefused: (question: QuestionRequest['question']) => boolean) {
  const { clickhouse } = await openStores()
  const stats = createStatsService({ cluster: clusterOf([clickhouse]), now: () => Date.parse(now), cacheBytes: 0 })
  const refusing: typeof stats = {
    ...stats,
    ask: async (request, signal) => {
      if (isRefused(request.question)) throw new ApiError('query_too_expensive')
      return stats.ask(request, signal)
    },
  }
  const hits = [pageview({ at: '2026-11-14T10:00:00Z', referrer: 'google.com' })]
  const site = await openSite(t, hits, { now, stats: refusing })
  await createGoal(site.console.stores.postgres, site.console.siteId, goalOf('Reads', { pattern: '/**' }))
  return site
}

test('a panel whose question is refused says so and offers a shorter range; the others stay', async (t) => {
  const { get, at } = await openRefusing(t, (question) => 'by' in question && question.by.name === 'referrer')
  const page = await get('?range=12m')
  const read = readDashboard(page.text)
  const said = /<section class="card panel panel-sources".*?<\/section>/s.exec(page.text)?.[0] ?? ''
  assert.match(textOf(said), /There are too many visits in this range to count this at once\. Last 90 days/)
  assert.match((await at(linkIn(page, 'Last 90 days') as string)).text, /aria-current="true"[^>]*>Last 90 days/)
  assert.deepEqual(
    [read.metrics.get('visitors')?.text, read.panel('pages').length, read.panel('actions')[0]?.label],
    ['1', 1, 'Reads'],
  )
  assert.equal((await get('/csv/referrer')).status, 400)
})

test('numbers that are refused with the comparison are offered without it', async (t) => {
  const { get, at } = await openRefusing(t, ({ compare }) => compare !== undefined)
  const page = await get('?range=7d')
  assert.equal(readDashboard(page.text).metrics.size, 0)
  assert.equal(readDashboard(page.text).panel('sources')[0]?.label, 'google.com')
  const without = await at(linkIn(page, 'Without the comparison') as string)
  assert.equal(readDashboard(without.text).metrics.get('visitors')?.text, '1')
})

test('a list does without the numbers of visits where they are refused', async (t) => {
  const { get } = await openRefusing(t, ({ metrics }) => metrics.length === 5 && metrics[0].name === 'pageviews')
  const page = await get('?more=page&order=bounce_rate')
  assert.deepEqual(readDashboard(page.text).table, [
    ['Page', 'Views ↓', 'Visitors', 'Share'],
    ['/', '1', '1', '100%'],
  ])
  assert.match(textOf(page.text), /Sessions, bounce rate and duration cannot be counted for this range\./)
  assert.equal((await get('/csv/page')).text, 'page,pageviews,visitors\r\n/,1,1\r\n')
})

test('where single visits are not kept, a panel offers the days that are', () => {
  const site = { domain: 'a.example', goals: [] as Site['goals'], coverage: { eventsFrom: '2026-03-01' } } as Site
  const local = Temporal.Instant.from(now).toZonedDateTimeISO('UTC')
  const said = (range: 'all' | '30d') => {
    const state = defaultState(contextOfSite(site))
    const days = {
      name: 'custom',
      firstDay: Temporal.PlainDate.from('2025-01-01'),
      lastDay: local.toPlainDate(),
    } as const
    const shown = { ...state, range: range === 'all' ? days : ({ name: '30d' } as const) }
    const moment = { now: local.epochMilliseconds, local, periods: periodsOf(shown.range, local) }
    const fault = { fault: '', isDown: false, refusal: new ApiError('range_not_kept') }
    return failed(fault, shown, moment, true).text
  }
  assert.match(
    said('all'),
    /of the days before 1 Mar, and .* href="[^"]*range=custom&#38;start=2026-03-01&#38;end=2026-11-15">1 Mar – 15 Nov</,
  )
  // Only the period before is not kept.
  assert.deepEqual(
    Array.from(said('30d').matchAll(/<a [^>]*>(.*?)<\/a>/g), ([, name]) => name),
    ['Without the comparison'],
  )
})
