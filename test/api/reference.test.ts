// The reference in Chromium: calls from it, the key, copying, search, permalinks, and the page without scripts.
import assert from 'node:assert/strict'
import test, { after, before, type TestContext } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { reports } from '../../src/stats/reports.ts'
import { openBrowser } from '../support/browser.ts'
import { pageview } from '../support/events.ts'
import { openStores } from '../support/stores.ts'
import { makeWorld, type World } from '../support/world.ts'

interface Opened {
  context: BrowserContext
  page: Page
  requested: string[]
  complaints: string[]
}

let browser: Browser
let world: World
before(async () => {
  browser = await openBrowser()
  world = await makeWorld(await openStores(), { now: '2026-11-15T12:00:00Z' })
  await world.record(pageview({ at: '2026-11-14T10:00:00Z', pathname: '/hello', title: '<b>Hello' }))
})
after(async () => {
  await browser.close()
  await world.close()
})

async function openReference(
  t: TestContext,
  options: { javaScriptEnabled?: boolean; width?: number } = {},
): Promise<Opened> {
  const { width = 1440, ...more } = options
  const context = await browser.newContext({ viewport: { width, height: 900 }, ...more })
  t.after(() => context.close())
  const page = await context.newPage()
  const requested: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => requested.push(request.url()))
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(addressOf())
  return { context, page, requested, complaints }
}

const addressOf = (hash = ''): string => `http://127.0.0.1:${world.api.port}/api/v1/docs${hash}`

test('in a browser without internet, the reference shows every endpoint and a call made from it succeeds', async (t) => {
  const { page, requested, complaints } = await openReference(t)
  assert.deepEqual(
    (await page.locator('.route').allInnerTexts())
      .slice(0, Object.keys(reports).length)
      .map((text) => text.replace(/\s+/g, ' ')),
    Object.keys(reports).map((name) => `GET /api/v1/stats/${name}`),
  )

  const section = page.locator('#pages')
  await section.locator('.key').fill(world.key.text)
  await section.locator('select[name=range]').selectOption('7d')
  await section.locator('input[name=limit]').fill('5')
  await section.getByRole('button', { name: 'Send' }).click()
  const answer = section.locator('.answer')
  await answer.waitFor()
  assert.equal(await answer.locator('.status').textContent(), '200')
  assert.equal(await answer.locator('.request').textContent(), 'GET /api/v1/stats/pages?range=7d&limit=5')
  assert.match((await answer.locator('.took').textContent()) ?? '', /^\d+ ms$/)
  const body = JSON.parse((await answer.locator('[data-part=body]').textContent()) ?? '')
  assert.deepEqual(body.data, [{ pathname: '/hello', title: '<b>Hello', views: 1, visitors: 1 }])
  assert.ok(await answer.locator('[data-part=headers]').isHidden())

  await answer.getByText('Headers', { exact: true }).click()
  assert.ok(await answer.locator('[data-part=body]').isHidden())
  const headers = ((await answer.locator('[data-part=headers]').textContent()) ?? '').split('\n')
  assert.ok(headers.includes('stats-period: 2026-11-09T00:00:00+00:00/2026-11-15T12:00:00+00:00'), headers.join('\n'))
  assert.ok(headers.some((line) => /^x-ratelimit-remaining: \d+$/.test(line)))

  assert.deepEqual([...new Set(requested.map((url) => new URL(url).host))], [`127.0.0.1:${world.api.port}`])
  assert.deepEqual(complaints, [])
})

test('a refused call shows its status and leads to what to do', async (t) => {
  const { page } = await openReference(t)
  const section = page.locator('#overview')
  await section.locator('.key').fill('ff_s_wrong')
  await section.getByRole('button', { name: 'Send' }).click()
  await section.locator('.answer .status', { hasText: '401' }).waitFor()
  await section.getByRole('link', { name: 'What to do about it' }).click()
  assert.equal(new URL(page.url()).hash, '#invalid_key')
  await page.locator('tr#invalid_key').filter({ hasText: 'Check the key for typing errors' }).waitFor()
})

test('start and end are asked for with a custom range only', async (t) => {
  const { page } = await openReference(t)
  const section = page.locator('#timeseries')
  assert.ok(await section.locator('input[name=start]').isHidden())
  await section.locator('select[name=range]').selectOption('custom')
  await section.locator('input[name=start]').fill('2026-11-14')
  await section.locator('input[name=end]').fill('2026-11-14')
  await section.locator('.key').fill(world.key.text)
  await section.locator('.key').press('Enter')
  await section.locator('.answer').waitFor()
  assert.deepEqual(JSON.parse((await section.locator('.answer [data-part=body]').textContent()) ?? '').data, [
    { date: '2026-11-14', visitors: 1, pageviews: 1 },
  ])
})

test('the key is in every form of this tab, survives a reload, and is in no other tab, cookie or address', async (t) => {
  const { context, page, requested } = await openReference(t)
  await page.locator('#overview .key').fill(world.key.text)
  assert.equal(await page.locator('#utm .key').inputValue(), world.key.text)
  await page.reload()
  assert.equal(await page.locator('#utm .key').inputValue(), world.key.text)
  const other = await context.newPage()
  await other.goto(addressOf())
  assert.equal(await other.locator('#overview .key').inputValue(), '')
  assert.deepEqual(await context.cookies(), [])
  assert.equal(await page.evaluate('localStorage.length'), 0)
  // If its script has failed, the browser itself would send the form. The content policy forbids that.
  const violated = await page.evaluate<string>(`new Promise((resolve) => {
    document.addEventListener('securitypolicyviolation', (event) => resolve(event.violatedDirective))
    document.querySelector('#overview form').submit()
  })`)
  assert.equal(violated, 'form-action')
  assert.deepEqual(
    requested.filter((url) => url.includes(world.key.text)),
    [],
  )
})

test('copying takes the chosen language with the address of this server, and all examples follow the choice', async (t) => {
  const { context, page } = await openReference(t)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.locator('#pages').getByText('Python', { exact: true }).click()
  assert.ok(await page.locator('#utm [data-language=Python]').isVisible())
  assert.ok(await page.locator('#utm [data-language=curl]').isHidden())
  await page.locator('#pages .copy').click()
  await page.locator('#pages .copy', { hasText: 'Copied' }).waitFor()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  assert.match(copied, /^import json, os, urllib\.request\n\nurl = "/)
  assert.ok(copied.includes(`"http://127.0.0.1:${world.api.port}/api/v1/stats/pages?range=7d&limit=3"`), copied)
  await page.reload()
  assert.ok(await page.locator('#geo [data-language=Python]').isVisible())
})

test('search finds endpoints, fields, errors and countries, by keyboard alone', async (t) => {
  const { page } = await openReference(t)
  const cases = {
    referr: '#referrers',
    bounce_rate: '#overview.data.current.bounce_rate',
    rate_limit: '#rate_limit_exceeded',
    'Stats-Per': '#Stats-Period',
    germany: '#country.DE',
  }
  for (const [text, hash] of Object.entries(cases)) {
    await page.reload()
    await page.keyboard.press('/')
    await page.keyboard.type(text)
    await page.keyboard.press('Enter')
    assert.equal(new URL(page.url()).hash, hash)
    assert.ok(await page.locator('#found').isHidden())
  }
  await page.keyboard.press('/')
  await page.keyboard.press('Control+A')
  await page.keyboard.type('pathname')
  await page.keyboard.press('ArrowDown')
  assert.equal(await page.locator('#found a:focus').getAttribute('href'), '#pages.data.pathname')
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Control+A')
  await page.keyboard.type('nothing like this')
  assert.equal(await page.locator('#found').textContent(), '0 foundNothing found')
  await page.keyboard.press('Escape')
  assert.ok(await page.locator('#found').isHidden())
})

test('a permalink opens its row, and the contents mark the section that is read', async (t) => {
  const { page } = await openReference(t)
  await page.goto(addressOf('#pages.data.title'))
  const row = page.locator('[id="pages.data.title"]')
  await row.waitFor()
  const { y } = (await row.boundingBox()) as { y: number }
  assert.ok(y >= 0 && y < 120, `the row is ${y} px below the top`)
  await page.goto(addressOf('#geo'))
  await page.locator('.contents a[href="#geo"][aria-current]').waitFor()
})

test('on a phone the contents open and close, no name breaks, and everything is there without scripts', async (t) => {
  const { page } = await openReference(t, { width: 360 })
  const link = page.locator('.contents a[href="#channels"]')
  assert.ok(await link.isHidden())
  await page.getByRole('button', { name: 'Contents' }).click()
  await link.click()
  await link.waitFor({ state: 'hidden' })
  assert.equal(new URL(page.url()).hash, '#channels')
  const names = await page.evaluate<[string, number][]>(`
    [...document.querySelectorAll('.name code')].map((name) => {
      const text = document.createRange()
      text.selectNodeContents(name)
      return [name.textContent, new Set(Array.from(text.getClientRects(), ({ top }) => top)).size]
    })`)
  assert.ok(names.length > 100)
  assert.deepEqual(
    names.filter(([, lines]) => lines !== 1),
    [],
    'a name is on one line',
  )

  const bare = (await openReference(t, { javaScriptEnabled: false, width: 360 })).page
  for (const hidden of ['.search', '#overview .try', '#overview .copy'])
    assert.ok(await bare.locator(hidden).isHidden(), hidden)
  await bare.locator('#overview').getByText('JavaScript', { exact: true }).click()
  assert.ok(await bare.locator('#overview [data-language=JavaScript]').isVisible())
  assert.ok(await bare.locator('#overview [data-language=curl]').isHidden())
  await bare.getByRole('button', { name: 'Contents' }).click()
  await bare.locator('.contents a[href="#channels"]').click()
  assert.equal(new URL(bare.url()).hash, '#channels')
})
