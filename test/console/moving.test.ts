// An open dashboard moves: in a real browser, whose clock the tests turn forward together with that of the server.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { createStatsService } from '../../src/stats/service.ts'
import type { ClickHouseReader } from '../../src/stores/clickhouse.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { openBrowser } from '../support/browser.ts'
import { eventOf, type Hit, pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { openStores } from '../support/stores.ts'
import { openConsole } from './console.ts'
import { readDashboard } from './dashboard-page.ts'

const noon = Date.parse('2026-11-15T12:00:10Z')

/** A console whose clock stands still until a test moves it, and a count of the statements of its statistics. */
async function openMoving(t: TestContext) {
  const { clickhouse } = await openStores()
  const state = { now: noon, statements: 0 }
  const counting: ClickHouseReader = {
    rows(statement, signal, limits) {
      state.statements++
      return clickhouse.rows(statement, signal, limits)
    },
  }
  const now = () => state.now
  const stats = createStatsService({ cluster: { of: () => counting }, now, cacheBytes: 1e7 })
  const console = await openConsole(t, { now, stats })
  const path = `/sites/${console.domain}`
  const record = (...hits: Hit[]) =>
    recordBatch(clickhouse, { id: randomUUID(), events: hits.map((hit) => eventOf(hit, console.siteId, 'UTC')) })
  const seen = (visitor: string, before = 0) =>
    record(pageview({ at: new Date(state.now - before).toISOString(), visitor, pathname: `/${visitor}` }))
  return { console, state, path, record, seen }
}

async function openPage(t: TestContext, { console, state, path }: Awaited<ReturnType<typeof openMoving>>, query = '') {
  const visitor = await console.signedIn('viewer')
  const browser = await openBrowser()
  t.after(() => browser.close())
  const context: BrowserContext = await browser.newContext({ reducedMotion: 'reduce' })
  for (const [name, value] of visitor.cookies) await context.addCookies([{ name, value, url: console.url }])
  const page = await context.newPage()
  await page.clock.install({ time: state.now })
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (/\/(numbers|now)$/.test(pathname)) asked.push(pathname.split('/').at(-1) as string)
  })
  await page.goto(`${console.url}${path}${query}`)
  /** Both clocks go on, and what is due happens. */
  const pass = async (milliseconds: number) => {
    state.now += milliseconds
    await page.clock.runFor(milliseconds)
  }
  return { page, pass, asked }
}

const numberOf = (page: Page) => page.locator('#metric-visitors .number').textContent()
const nowOf = async (page: Page) => Number(/\d+/.exec((await page.locator('#now').textContent()) ?? '')?.[0])

/** What browsers say of a tab in the background. */
const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)

test('who is there now changes every 15 seconds, numbers and chart every minute', async (t) => {
  const moving = await openMoving(t)
  await moving.seen('first', 1_000)
  const { page, pass, asked } = await openPage(t, moving)
  assert.deepEqual([await numberOf(page), await nowOf(page)], ['1', 1])

  await moving.seen('second')
  await pass(15_000)
  await eventually(async () => assert.equal(await nowOf(page), 2))
  assert.deepEqual([asked, await numberOf(page)], [['now'], '1'])

  await pass(40_000)
  await eventually(async () => assert.equal(await numberOf(page), '2'))
  const last = page.locator('#chart-numbers tbody tr').last()
  assert.equal(await last.getAttribute('data-value'), '2')
  assert.equal(await page.locator('#numbers-at').textContent(), '12:01:00')
  assert.match((await page.locator('.note').textContent()) ?? '', /numbers as of 12:01:00, the lists as of 12:00:10/)
})

test('a range that is over stands still, and so does a page with a list', async (t) => {
  const moving = await openMoving(t)
  await moving.seen('first', 1_000)
  for (const query of ['?range=custom&start=2026-11-01&end=2026-11-14', '?more=page']) {
    const { page, pass, asked } = await openPage(t, moving, query)
    await pass(130_000)
    assert.equal(asked.includes('numbers'), false, query)
    await page.close()
  }
})

test('a hidden tab asks for nothing, and catches up when it is seen', async (t) => {
  const moving = await openMoving(t)
  await moving.seen('first', 1_000)
  const { page, pass, asked } = await openPage(t, moving)
  await setHidden(page, true)
  await moving.seen('second')
  await pass(600_000)
  assert.deepEqual([asked, await numberOf(page)], [[], '1'])
  await setHidden(page, false)
  await eventually(async () => assert.equal(await numberOf(page), '2'))
  assert.deepEqual(asked.toSorted(), ['now', 'numbers'])
})

test('focus, scroll, an open menu, the tooltip and what is under the pointer stay', async (t) => {
  const moving = await openMoving(t)
  await moving.seen('first', 1_000)
  const { page, pass } = await openPage(t, moving)
  const minute = async (expected: string) => {
    await pass(60_000)
    await eventually(async () => assert.equal(await numberOf(page), expected))
  }
  await moving.seen('second')
  await page.locator('#metric-pageviews').focus()
  await page.evaluate('window.scrollTo(0, 120)')
  await page.evaluate("document.querySelector('#card details.menu').open = true")
  await page.evaluate("document.querySelector('#metric-pageviews').isSame = true")
  await minute('2')
  assert.deepEqual(
    await page.evaluate(
      `[document.activeElement.id, document.activeElement.isSame, scrollY, document.querySelector('#card details.menu').open]`,
    ),
    ['metric-pageviews', true, 120, true],
  )

  await page.evaluate("document.querySelector('#card details.menu').open = false; window.scrollTo(0, 0)")
  const plot = await page.locator('.plot').boundingBox()
  if (!plot) throw new Error('no chart')
  await page.mouse.move(plot.x + plot.width - 2, plot.y + 60)
  const tip = page.locator('.plot .tip')
  assert.match((await tip.textContent()) ?? '', /2 visitors/)
  await moving.seen('third')
  await minute('3')
  assert.equal(await tip.isVisible(), true)
  assert.match((await tip.textContent()) ?? '', /3 visitors/)
})

test('an open dashboard without visitors shows the first one, and so does one of a site without events', async (t) => {
  const moving = await openMoving(t)
  const waiting = await openPage(t, moving)
  assert.match((await waiting.page.locator('main').textContent()) ?? '', /Waiting for the first event/)
  const arrived = waiting.page.waitForEvent('load')
  await moving.seen('first')
  moving.state.now += 10_000
  for (let second = 0; second < 12; second++) {
    await waiting.page.clock.runFor(1_000)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await arrived
  await eventually(async () => assert.equal(await numberOf(waiting.page), '1'))

  // Today nobody came yet.
  moving.state.now += 24 * 3_600_000
  const { page, pass } = await openPage(t, moving, '?range=today&compare=off')
  await page.locator('#no-visitors').waitFor()
  await moving.seen('second')
  await Promise.all([page.waitForEvent('load'), pass(60_000)])
  await eventually(async () => assert.equal(await numberOf(page), '1'))
  assert.equal(await page.locator('#no-visitors').count(), 0)
})

test('somebody who is signed out is not asked for any more, and the page stays', async (t) => {
  const moving = await openMoving(t)
  await moving.seen('first', 1_000)
  const { page, pass, asked } = await openPage(t, moving)
  await page.context().clearCookies()
  await pass(60_000)
  await eventually(async () => assert.deepEqual([...new Set(asked)].toSorted(), ['now', 'numbers']))
  await new Promise((resolve) => setTimeout(resolve, 500))
  const before = asked.length
  await pass(180_000)
  assert.equal(asked.length, before)
  assert.equal(await numberOf(page), '1')
})

test('fifty open dashboards of a site cost the statements of one', async (t) => {
  const moving = await openMoving(t)
  const { console, state, path } = moving
  await moving.seen('first', 1_000)
  const visitors = await Promise.all(Array.from({ length: 5 }, () => console.signedIn('viewer')))
  const query = '?range=30d&compare=previous'
  const addressOf = async () => {
    const { text } = await (visitors[0] as (typeof visitors)[number]).get(`${path}${query}`)
    return /data-moving="([^"]*numbers[^"]*)"/.exec(text)?.[1]?.replaceAll('&#38;', '&') as string
  }
  const address = await addressOf()
  const refresh = async (dashboards: number) => {
    state.now = 60_000 * Math.ceil((state.now + 1) / 60_000)
    const before = state.statements
    for (let nth = 0; nth < dashboards; nth++) {
      const visitor = visitors[nth % visitors.length] as (typeof visitors)[number]
      // They do not come all at once.
      state.now += 80
      const [numbers, now] = await Promise.all([visitor.get(address), visitor.get(`${path}/now`)])
      assert.deepEqual([numbers.status, now.status], [200, 200])
      assert.equal(readDashboard(numbers.text).metrics.get('visitors')?.text, '1')
    }
    return state.statements - before
  }
  const one = await refresh(1)
  assert.ok(one > 0)
  assert.equal(await refresh(50), one)
})
