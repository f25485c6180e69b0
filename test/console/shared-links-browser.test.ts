// Shared links in real Chromium: created by an owner, opened by somebody else, revoked; and the widget on a page of another site.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createKey } from '../../src/accounts/keys.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { openBrowser } from '../support/browser.ts'
import { eventOf, pageview } from '../support/events.ts'
import { keySecrets } from '../support/stores.ts'
import { openConsole } from './console.ts'

const now = '2026-11-15T12:00:00Z'

async function openLinks(t: TestContext, javaScriptEnabled: boolean) {
  const console = await openConsole(t, { now })
  const { stores, siteId, domain } = console
  const hits = [
    pageview({ at: '2026-11-15T11:00:00Z', visitor: 'a', country: 'DE' }),
    pageview({ at: '2026-11-14T10:00:00Z', visitor: 'b', country: 'DE', device: 'Mobile' }),
    pageview({ at: '2026-11-13T10:00:00Z', visitor: 'c', country: 'FR' }),
  ]
  await recordBatch(stores.clickhouse, { id: siteId, events: hits.map((hit) => eventOf(hit, siteId, 'UTC')) })
  const browser = await openBrowser()
  t.after(() => browser.close())
  const complaints: string[] = []
  const open = async (cookies: Iterable<[string, string]>): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled, reducedMotion: 'reduce' })
    for (const [name, value] of cookies) await context.addCookies([{ name, value, url: console.url }])
    const page = await context.newPage()
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(error.message))
    return page
  }
  const owner = await open((await console.signedIn('owner')).cookies)
  await owner.goto(`${console.url}/sites/${domain}/settings/links`)
  return { console, owner, visitor: await open([]), openAnother: () => open([]), complaints }
}

async function createInPage(page: Page, fill: () => Promise<void>): Promise<string> {
  await page.getByRole('link', { name: 'Create a link' }).click()
  await page.locator('input[name=name]').fill('Agency')
  await fill()
  await page.getByRole('button', { name: 'Create link' }).click()
  await page.locator('#whole-link').waitFor()
  return (await page.locator('#whole-link').textContent()) ?? ''
}

async function revokeInPage(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Shared links' }).click()
  await page.getByRole('link', { name: 'Manage Agency' }).click()
  await page.getByLabel('Yes, revoke Agency').check()
  await page.getByRole('button', { name: 'Revoke link' }).click()
  await page.getByText('The link is revoked.').waitFor()
}

for (const javaScript of [true, false]) {
  const how = javaScript ? 'with JavaScript' : 'without JavaScript'

  test(`${how}: a link is created, opened with its password, filtered, and revoked`, {
    timeout: 300_000,
  }, async (t) => {
    const { owner, visitor, complaints } = await openLinks(t, javaScript)
    const address = await createInPage(owner, async () => {
      await owner.locator('select[name=country]').selectOption('DE')
      await owner.locator('input[name=password]').fill('four unrelated words')
    })
    await visitor.goto(address)
    await visitor.locator('input[name=password]').fill('not the right one')
    await visitor.getByRole('button', { name: 'Open' }).click()
    await visitor.getByText('That is not the password').waitFor()
    await visitor.locator('input[name=password]').fill('four unrelated words')
    await visitor.getByRole('button', { name: 'Open' }).click()
    await visitor.locator('#metric-visitors').waitFor()
    assert.equal(visitor.url(), address)
    assert.equal(await visitor.locator('#metric-visitors .number').textContent(), '2')
    await visitor.locator('#devices a[href*="device:is:mobile"]').click()
    await visitor.waitForURL(/device:is:mobile/)
    assert.equal(await visitor.locator('#metric-visitors .number').textContent(), '1')
    assert.equal(await visitor.locator('.chip', { hasText: 'Germany' }).count(), 1)
    await visitor.getByLabel('Remove the filter Device is Mobile').click()
    await visitor.waitForURL((url) => !url.search.includes('device'))
    // The visitor has the cookie of the link and nothing else.
    const cookies = await visitor.context().cookies()
    assert.deepEqual(
      cookies.map(({ name, path }) => [name, path]),
      [['footfall-link', new URL(address).pathname]],
    )
    assert.deepEqual(
      complaints.filter((text) => !text.includes('status of 401')),
      [],
    )
    await revokeInPage(owner)
    const answer = await visitor.reload()
    assert.equal(answer?.status(), 404)
    await visitor.getByText('This link does not work').waitFor()
  })
}

test('a page of another site shows the widget and the frame of an embeddable link, until it is revoked', {
  timeout: 300_000,
}, async (t) => {
  const { console, owner, visitor, openAnother } = await openLinks(t, true)
  await createInPage(owner, async () => {
    const chosen = () => owner.locator('.options:not(.filter-choice) label:has(:checked):visible').allInnerTexts()
    assert.deepEqual(await chosen(), ['In 30 days'])
    await owner.getByLabel('Other sites may embed it').check()
    assert.deepEqual(await chosen(), ['Never'])
  })
  assert.match((await owner.locator('tbody tr').first().textContent()) ?? '', /never expires/)
  const gap = await owner.evaluate<number>(`(() => {
    const bottom = document.querySelector('[data-copy=frame]').getBoundingClientRect().bottom
    return document.getElementById('widget-title').getBoundingClientRect().top - bottom
  })()`)
  assert.ok(gap >= 16, `the heading is ${gap} px below the button`)
  const [frame, widget] = [await owner.locator('#frame').textContent(), await owner.locator('#widget').textContent()]
  // Another origin, with a policy that allows no style of its own.
  const policy = `default-src 'none'; script-src ${console.url}; connect-src ${console.url}; frame-src ${console.url}`
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy })
    response.end(
      `<!doctype html><title>Another site</title><p id="before">Our visitors:</p>${widget}<p id="after"></p>${frame}`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const foreign = `http://localhost:${(server.address() as AddressInfo).port}`

  const key = await createKey(console.stores.postgres, keySecrets, {
    accountId: console.accountId,
    siteId: console.siteId,
    name: 'A key',
  })
  const { json } = await console.api.fetch('/api/v1/stats/overview?range=30d', {
    headers: { Authorization: `Bearer ${key.text}` },
  })
  await visitor.goto(foreign)
  await visitor.locator('#after').waitFor({ state: 'attached' })
  await visitor.locator('b', { hasText: '3' }).waitFor() // Playwright looks into open shadow roots
  const shown = await visitor.evaluate<[string, string, number, string]>(`(() => {
    const place = document.querySelector('script[data-link]').nextElementSibling
    const line = place.shadowRoot.querySelector('polyline')
    return [
      place.shadowRoot.querySelector('b').textContent,
      place.nextElementSibling.id,
      line.getAttribute('points').split(' ').length,
      getComputedStyle(line).fill,
    ]
  })()`)
  assert.deepEqual(shown, [String(json.data.current.visitors), 'after', 30, 'none'])
  const inFrame = visitor.frameLocator('iframe')
  assert.equal(await inFrame.locator('#metric-visitors .number').textContent(), '3')
  assert.deepEqual(await visitor.context().cookies(), [])

  await revokeInPage(owner)
  // Another visitor: this one's browser may keep the numbers for a minute (decision D-208). Without the permission to read the refusal,
  // the browser calls the request failed.
  const later = await openAnother()
  const refused = later.waitForEvent('requestfailed', (request) => request.url().endsWith('/widget.json'))
  await later.goto(foreign)
  await refused
  assert.equal(await later.locator('script[data-link] + p').count(), 1)
})
