// The live page in a real browser: hits come by themselves, and the page can be paused, hidden and refused.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { recordBatch } from '../../src/traffic/recording.ts'
import { openBrowser } from '../support/browser.ts'
import { eventOf, pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { openConsole } from './console.ts'

async function openLive(t: TestContext, options: { javaScriptEnabled?: boolean } = {}) {
  const console = await openConsole(t)
  const visitor = await console.signedIn('viewer')
  const browser = await openBrowser()
  t.after(() => browser.close())
  const context = await browser.newContext(options)
  for (const [name, value] of visitor.cookies) await context.addCookies([{ name, value, url: console.url }])
  const address = `${console.url}/sites/${console.domain}/live`
  const hit = (name: string) =>
    recordBatch(console.stores.clickhouse, {
      id: randomUUID(),
      events: [
        eventOf(
          pageview({ at: new Date(Date.now() - 300).toISOString(), visitor: name, pathname: `/${name}` }),
          console.siteId,
          'UTC',
        ),
      ],
    })
  const open = async (): Promise<Page> => {
    const page = await context.newPage()
    await page.goto(address)
    return page
  }
  return { console, visitor, context, open, hit }
}

const stateOf = async (page: Page) => (await page.locator('.live-state').textContent())?.trim() ?? ''
const isConnected = (page: Page) =>
  eventually(async () => assert.equal(await stateOf(page), 'Connected, at most 2 seconds behind'))
const hitsOf = async (page: Page) => (await page.locator('.hits .what').allInnerTexts()).map((text) => text.trim())
const shows = (page: Page, hits: string[]) => eventually(async () => assert.deepEqual(await hitsOf(page), hits))

test('a hit appears at the top by itself, and focus and scroll stay', async (t) => {
  const { open, hit } = await openLive(t)
  await hit('first')
  const page = await open()
  await isConnected(page)
  await page.setViewportSize({ width: 1200, height: 400 })
  await page.locator('.live-lists .line').first().focus()
  await page.evaluate('window.scrollTo(0, 90)')
  await page.evaluate("document.querySelector('.hits li').isSame = true")
  await hit('second')
  await shows(page, ['/second', '/first'])
  assert.match((await page.locator('.live-who').textContent()) ?? '', /^2 visitors now/)
  assert.deepEqual(
    await page.evaluate(
      "[document.activeElement.className, scrollY, document.querySelectorAll('.hits li')[1].isSame, document.querySelectorAll('.hits .new').length]",
    ),
    ['line', 90, true, 1],
  )
})

test('a paused page stands still until it goes on', async (t) => {
  const { open, hit } = await openLive(t)
  const page = await open()
  await isConnected(page)
  await page.getByRole('button', { name: 'Pause' }).click()
  assert.equal(await stateOf(page), 'Paused')
  await hit('first')
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  assert.deepEqual(await hitsOf(page), [])
  await page.getByRole('button', { name: 'Go on' }).click()
  await shows(page, ['/first'])
  await isConnected(page)
})

test('a hidden tab has no stream', async (t) => {
  const { open, visitor, console } = await openLive(t)
  const pages = []
  for (let number = 0; number < 5; number++) {
    const page = await open()
    await isConnected(page)
    pages.push(page)
  }
  const stream = async () => (await openOne(console.url, console.domain, visitor)).status
  assert.equal(await stream(), 429)
  const [first] = pages as [Page]
  await first.evaluate(`
    Object.defineProperty(document, 'hidden', { value: true, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
  await eventually(async () => assert.equal(await stream(), 200))
  await first.evaluate(`
    Object.defineProperty(document, 'hidden', { value: false, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)
  await isConnected(first)

  const sixth = await open()
  await eventually(async () => assert.match(await stateOf(sixth), /^You have five live pages open/))
})

/** Whether there is room for a stream: it is opened and closed again. */
async function openOne(url: string, domain: string, { cookies }: { cookies: Map<string, string> }) {
  const Cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
  const leaving = new AbortController()
  const response = await fetch(`${url}/sites/${domain}/live/stream`, { headers: { Cookie }, signal: leaving.signal })
  leaving.abort()
  return response
}

test('somebody who is signed out elsewhere is told so', async (t) => {
  const { open, visitor, console } = await openLive(t)
  const page = await open()
  await isConnected(page)
  await console.stores.postgres`DELETE FROM user_sessions WHERE user_id = ${visitor.userId}`
  await eventually(async () => assert.match(await stateOf(page), /^Not connected: you are signed out/))
})

test('without a script there is the state of a moment and a link', async (t) => {
  const { open, hit } = await openLive(t, { javaScriptEnabled: false })
  await hit('first')
  const page = await open()
  assert.deepEqual(await hitsOf(page), ['/first'])
  await hit('second')
  await page.getByRole('link', { name: 'Refresh' }).click()
  await shows(page, ['/second', '/first'])
  assert.equal(await page.getByRole('button', { name: 'Pause' }).isVisible(), false)
})
