// The dashboard in a real browser, with the keyboard alone: every range, filter and panel is reached and used. And without JavaScript.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { createGoal } from '../../src/accounts/goals.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { openBrowser } from '../support/browser.ts'
import { custom, eventOf, pageview } from '../support/events.ts'
import { openConsole } from './console.ts'

const now = '2026-11-15T12:00:00Z'

async function openDashboard(t: TestContext, options: BrowserContextOptions = {}) {
  const console = await openConsole(t, { now })
  const hits = [
    pageview({ at: '2026-11-15T11:58:00Z', visitor: 'a', pathname: '/pricing', title: 'Pricing' }),
    pageview({
      at: '2026-11-14T10:00:00Z',
      visitor: 'b',
      country: 'FR',
      device: 'Mobile',
      utmSource: 'news',
      channel: 'Email',
    }),
    pageview({ at: '2026-11-10T10:00:00Z', visitor: 'c', country: 'US', device: 'Unknown', referrer: 'example.org' }),
    custom('signup', { at: '2026-11-10T10:01:00Z', visitor: 'c', country: 'US', device: 'Unknown' }),
  ]
  await recordBatch(console.stores.clickhouse, {
    id: console.siteId,
    events: hits.map((hit) => eventOf({ hostname: console.domain, ...hit }, console.siteId, 'UTC')),
  })
  const visitor = await console.signedIn('viewer')
  const browser = await openBrowser()
  t.after(() => browser.close())
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  for (const [name, value] of visitor.cookies) await context.addCookies([{ name, value, url: console.url }])
  const page = await context.newPage()
  const address = `${console.url}/sites/${console.domain}`
  await page.goto(address)
  return { console, page, address, domain: console.domain }
}

const queryOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)

/** Presses Tab until the element has the focus, and fails if it never gets there. */
async function reach(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 150; presses++) {
    await page.keyboard.press('Tab')
    if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)})`)) return
  }
  assert.fail(`Tab never reaches ${selector}`)
}

async function follow(page: Page, selector: string): Promise<void> {
  await reach(page, selector)
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
}

test('with the keyboard alone every range, filter, tab and panel is reached and used', {
  timeout: 300_000,
}, async (t) => {
  const { page, address, domain } = await openDashboard(t)
  const steps: [selector: string, expected: Record<string, string>][] = [
    ['.range a[href*="range=7d"]', { range: '7d' }],
    ['.range + .menu a[href*="compare=off"]', { range: '7d', compare: 'off' }],
    ['#metric-bounce_rate', { range: '7d', compare: 'off', metric: 'bounce_rate' }],
    ['#sources .choices a:nth-child(1)', { range: '7d', compare: 'off', metric: 'bounce_rate', sources: 'channel' }],
    [
      '#places .choices a:nth-child(2)',
      { range: '7d', compare: 'off', metric: 'bounce_rate', sources: 'channel', countries: 'map' },
    ],
  ]
  const menus = ['.range .menu > summary', '.range + .menu > summary']
  for (const [selector, expected] of steps) {
    const menu = menus.shift()
    if (menu) {
      await reach(page, menu)
      await page.keyboard.press('Enter')
    }
    await follow(page, selector)
    assert.deepEqual(queryOf(page), expected)
  }
  await follow(page, '#places .choices a:nth-child(1)')
  await follow(page, '#places a[href*="country:is:FR"]')
  assert.equal(queryOf(page).filter, 'country:is:FR')
  await follow(page, '.chip a[aria-label="Remove the filter Country is France"]')
  assert.equal(queryOf(page).filter, undefined)

  await page.goto(address)
  await follow(page, '#devices a[href*="device:is:mobile"]')
  assert.equal(await page.locator('#metric-visitors .number').textContent(), '1')
  await reach(page, '.operator > summary')
  await page.keyboard.press('Enter')
  await follow(page, '.operator a[href*="device:is_not:mobile"]')
  assert.equal(await page.locator('#metric-visitors .number').textContent(), '2')
  await page.goBack()
  assert.equal(queryOf(page).filter, 'device:is:mobile')
  await page.goto(`${address}?sources=utm_source`)
  await follow(page, '#sources a[href*="utm_source:is:news"]')
  assert.equal(queryOf(page).filter, 'utm_source:is:news')

  // A row filters; the page itself is one step further.
  await page.goto(address)
  await reach(page, '#pages a[href*="page:is:/pricing"]')
  await reach(page, '#pages a.to-page')
  assert.equal(await page.evaluate('document.activeElement.href'), `https://${domain}/pricing`)
  assert.equal(await page.evaluate('getComputedStyle(document.activeElement).opacity'), '1')

  await page.goto(address)
  await follow(page, '#pages .foot a')
  assert.equal(queryOf(page).more, 'page')
  assert.match((await page.locator('table').textContent()) ?? '', /\/pricing/)
  await follow(page, 'thead th:nth-child(3) a')
  assert.equal(queryOf(page).order, 'visitors')
  await reach(page, 'input[type=search]')
  await page.keyboard.type('pric')
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
  assert.deepEqual(await page.locator('tbody .path').allTextContents(), ['/pricing'])

  // Menus: the picker of host names, a custom range, and the command.
  await page.goto(address)
  await reach(page, '.filters > summary')
  await page.keyboard.press('Enter')
  await follow(page, `.hosts a[href*="hostname:is:${domain}"]`)
  assert.equal(queryOf(page).filter, `hostname:is:${domain}`)
  await page.goto(address)
  await reach(page, '.filters > summary')
  await page.keyboard.press('Enter')
  await reach(page, 'select[name=field]')
  await page.keyboard.type('Country')
  await reach(page, 'input[name=value]')
  await page.keyboard.type('germany')
  await follow(page, '.filters form button')
  assert.deepEqual([queryOf(page).filter, await page.locator('.fault').count()], ['country:is:DE', 0])
  await page.goto(address)
  await reach(page, '.range .menu > summary')
  await page.keyboard.press('Enter')
  await follow(page, '.range form button')
  assert.deepEqual(
    [queryOf(page).range, queryOf(page).start, queryOf(page).end],
    ['custom', '2026-10-17', '2026-11-15'],
  )
  await page.goto(address)
  await reach(page, '#pages .dots > summary')
  await page.keyboard.press('Enter')
  await reach(page, '#pages .curl summary')
  await page.keyboard.press('Enter')
  assert.match(
    (await page.locator('#curl-pages').textContent()) ?? '',
    /curl -H .*\/api\/v2\/stats\/breakdown\?site_id=site_\w+&range=30d&by=page&metrics=pageviews,visitors&limit=10/s,
  )
  await page.keyboard.press('Escape')
  assert.equal(await page.locator('#curl-pages').isVisible(), false)
})

test('the chart is read and a range chosen with the arrow keys, or by dragging', { timeout: 300_000 }, async (t) => {
  const { page, address } = await openDashboard(t)
  await reach(page, '.plot')
  await page.keyboard.press('ArrowLeft')
  assert.match((await page.locator('.tip').textContent()) ?? '', /Sun 15 November1 visitors/)
  await page.keyboard.press('ArrowLeft')
  assert.match(
    (await page.locator('.tip').textContent()) ?? '',
    /Sat 14 November1 visitors0 before Thu 15 October33% of the range/,
  )
  await page.keyboard.press('Shift+ArrowLeft')
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
  assert.deepEqual(queryOf(page), { range: 'custom', start: '2026-11-13', end: '2026-11-14' })

  await page.goto(`${address}?filter=country:is:US&range=7d`)
  const box = await page.locator('.plot').boundingBox()
  assert.ok(box)
  await page.mouse.move(box.x + 2, box.y + 50)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 6, box.y + 60)
  await Promise.all([page.waitForNavigation(), page.mouse.up()])
  assert.deepEqual(queryOf(page), { range: 'custom', start: '2026-11-09', end: '2026-11-10', filter: 'country:is:US' })
})

test('a click on a point of the chart, or Enter, opens its day by the hour', { timeout: 300_000 }, async (t) => {
  const { page, address } = await openDashboard(t)
  await page.goto(`${address}?range=7d`)
  await reach(page, '.plot')
  for (const key of ['ArrowLeft', 'ArrowLeft']) await page.keyboard.press(key)
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
  assert.deepEqual(queryOf(page), { range: 'custom', start: '2026-11-14', end: '2026-11-14' })
  assert.equal(await page.locator('.plot').getAttribute('data-unit'), 'hour')
  await page.locator('.plot').hover({ position: { x: 500, y: 100 } })
  assert.match((await page.locator('.tip').textContent()) ?? '', /^14 Nov, \d\d:00 to \d\d:00\d visitors/)
  await follow(page, 'a.beside[aria-label^="The day before"]')
  assert.equal(queryOf(page).start, '2026-11-13')
  await page.goto(`${address}?range=7d&metric=pageviews`)
  const box = await page.locator('.plot').boundingBox()
  assert.ok(box)
  await Promise.all([page.waitForNavigation(), page.mouse.click(box.x + box.width / 6, box.y + 60)])
  assert.deepEqual(queryOf(page), { range: 'custom', start: '2026-11-10', end: '2026-11-10', metric: 'pageviews' })
})

test('why there is no change is read where the pointer or the keyboard is', { timeout: 300_000 }, async (t) => {
  const { page } = await openDashboard(t)
  const widthOf = async (metric: string) => (await page.locator(`#metric-${metric} .reason`).boundingBox())?.width ?? 0
  assert.equal(await widthOf('sessions'), 1)
  await reach(page, '#metric-sessions')
  assert.ok((await widthOf('sessions')) > 200)
  await page.locator('#metric-visitors .why').hover()
  assert.ok((await widthOf('visitors')) > 200)
  assert.match(
    (await page.locator('#metric-visitors .reason').textContent()) ?? '',
    /^The compared days begin before the first event, which came on 10 Nov\.$/,
  )
})

test('shortcuts work, but not while typing', { timeout: 300_000 }, async (t) => {
  const { page } = await openDashboard(t)
  for (const [key, field, value] of [
    ['h', 'range', '24h'],
    ['d', 'range', 'today'],
    ['e', 'range', 'yesterday'],
    ['a', 'range', 'all'],
    ['w', 'range', '7d'],
    ['y', 'range', '12m'],
    ['m', 'range', '30d'],
    ['x', 'compare', 'off'],
  ] as const) {
    await Promise.all([page.waitForNavigation(), page.keyboard.press(key)])
    assert.equal(queryOf(page)[field], value)
  }
  await page.keyboard.press('?')
  assert.ok(await page.locator('#help').isVisible())
  await page.keyboard.press('Escape')
  await page.keyboard.press('c')
  assert.ok(await page.locator('input[name=start]').isVisible())
  await page.keyboard.press('Escape')
  const before = page.url()
  await page.keyboard.press('/')
  await page.locator('input[name=value]').focus()
  await page.keyboard.type('dwm?')
  assert.equal(page.url(), before)
  assert.equal(await page.locator('input[name=value]').inputValue(), 'dwm?')
  assert.equal(await page.locator('#help').isVisible(), false)
})

test('without JavaScript the numbers, filters, forms and commands are all there', { timeout: 300_000 }, async (t) => {
  const { page } = await openDashboard(t, { javaScriptEnabled: false })
  assert.equal(await page.locator('#metric-visitors .number').textContent(), '3')
  assert.match((await page.locator('.now').textContent()) ?? '', /1 now/)
  await page.locator('#places a[href*="country:is:FR"]').click()
  assert.equal(await page.locator('#metric-visitors .number').textContent(), '1')
  await page.locator('.range .menu > summary').click()
  await page.locator('input[name=start]').fill('2026-11-10')
  await page.locator('.range form button').click()
  assert.deepEqual(queryOf(page), {
    filter: 'country:is:FR',
    range: 'custom',
    start: '2026-11-10',
    end: '2026-11-15',
  })
  await page.goto(`${page.url()}&interval=day`)
  await page.locator('.opens a').nth(4).click()
  assert.deepEqual([queryOf(page).start, queryOf(page).end], ['2026-11-14', '2026-11-14'])
  await page.locator('.numbers summary').first().click()
  assert.ok(await page.locator('#chart-numbers').isVisible())
  await page.locator('#pages .dots > summary').click()
  await page.locator('#pages .curl summary').click()
  assert.ok(await page.locator('#curl-pages').isVisible())
})

test('on a phone another goal is chosen in a menu that the row of numbers does not cut', {
  timeout: 300_000,
}, async (t) => {
  const { page, address, console } = await openDashboard(t, { viewport: { width: 360, height: 800 } })
  for (const event of ['Signup', 'Trial'])
    await createGoal(console.stores.postgres, console.siteId, { name: event, condition: { kind: 'event', event } })
  console.api.directory.forget(console.siteId)
  await page.goto(`${address}?range=7d`)
  await page.locator('.goals > summary').click()
  await Promise.all([page.waitForNavigation(), page.locator('.goals .item', { hasText: 'Trial' }).click()])
  assert.deepEqual(queryOf(page), { range: '7d', metric: 'conversions', goal: 'Trial' })
})
