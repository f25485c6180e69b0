// The pages of sites in Chromium, with JavaScript and without it.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { createSite, findSite } from '../../src/accounts/sites.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { openBrowser } from '../support/browser.ts'
import { eventOf } from '../support/events.ts'
import { openConsole, type TestConsole } from './console.ts'

let browser: Browser

before(async () => {
  browser = await openBrowser()
})

after(() => browser.close())

async function openPage(t: TestContext, console: TestConsole, options: BrowserContextOptions): Promise<Page> {
  const owner = await console.signedIn('owner')
  const context = await browser.newContext({ timezoneId: 'Asia/Tokyo', ...options })
  t.after(() => context.close())
  const value = owner.cookies.get('footfall-session') as string
  await context.addCookies([{ name: 'footfall-session', value, url: console.url }])
  return context.newPage()
}

const record = ({ stores: { clickhouse } }: TestConsole, siteId: string, countries: readonly ('FR' | 'DE')[]) =>
  recordBatch(clickhouse, {
    id: randomUUID(),
    events: countries.map((country, index) =>
      eventOf({ at: new Date().toISOString(), visitor: `visitor ${index}`, country }, siteId, 'UTC'),
    ),
  })

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with JavaScript' : 'without JavaScript'

  test(`a site from the first form to its deletion, ${how}`, async (t) => {
    const console = await openConsole(t)
    const { postgres } = console.stores
    const page = await openPage(t, console, { javaScriptEnabled })
    const domain = `${randomUUID()}.example`

    await page.goto(console.url)
    await page.getByRole('link', { name: 'Add a site' }).click()
    await page.getByLabel('Domain').fill(domain)
    const zone = page.getByLabel('Time zone')
    assert.equal(await zone.inputValue(), javaScriptEnabled ? 'Asia/Tokyo' : 'UTC')
    await zone.fill('Nowhere')
    await page.getByRole('button', { name: 'Add site' }).click()
    assert.match((await page.getByRole('alert').textContent()) ?? '', /Nowhere is not a time zone/)
    assert.deepEqual([await page.getByLabel('Domain').inputValue(), await zone.inputValue()], [domain, 'Nowhere'])
    await zone.fill('Europe/Berlin')
    await page.getByRole('button', { name: 'Add site' }).click()
    const site = await findSite(postgres, domain)
    assert.ok(site)

    assert.ok((await page.locator('#snippet').textContent())?.includes(`data-site="${domain}"`))
    const copy = page.getByRole('button', { name: 'Copy snippet' })
    assert.equal(await copy.isVisible(), javaScriptEnabled)
    const state = page.locator('.first-event')
    assert.match((await state.textContent()) ?? '', /Waiting for the first event/)
    await watchShifts(page, javaScriptEnabled)
    await record(console, site.id, ['FR'])
    const again = page.getByRole('link', { name: 'Check again' })
    assert.equal(await again.isVisible(), !javaScriptEnabled)
    if (!javaScriptEnabled) await again.click()
    await state.getByText('First event received').waitFor()
    assert.equal(await shiftsOf(page, javaScriptEnabled), 0)

    await page.getByLabel('Hosts of the site').fill(`${domain}\nshop.example`)
    await page.getByLabel('Also all subdomains').check()
    await page.getByRole('button', { name: 'Save host names' }).click()
    assert.match((await page.locator('.notice').textContent()) ?? '', /host names are saved/)
    await page.getByLabel('Time zone').fill('Asia/Kathmandu')
    await page.getByRole('button', { name: 'Save time zone' }).click()
    assert.match((await page.locator('.notice').textContent()) ?? '', /time zone is saved/)
    const changed = await findSite(postgres, domain)
    assert.deepEqual(
      [changed?.timeZone, changed?.hostnames, changed?.allowSubdomains],
      ['Asia/Kathmandu', [domain, 'shop.example'], true],
    )

    const confirm = page.getByLabel(`Type ${domain} to confirm`)
    await confirm.fill('another.example')
    await page.getByRole('button', { name: 'Delete site for good' }).click()
    assert.match((await page.getByRole('alert').textContent()) ?? '', /Nothing was deleted/)
    await confirm.fill(domain)
    await page.getByRole('button', { name: 'Delete site for good' }).click()
    await page.getByRole('rowheader', { name: domain }).waitFor()
    assert.equal(new URL(page.url()).pathname, '/deletions')
    assert.equal(await findSite(postgres, domain), undefined)
  })

  test(`countries are found, previewed and excluded, ${how}`, async (t) => {
    const console = await openConsole(t)
    await record(console, console.siteId, ['FR', 'FR', 'DE'])
    const page = await openPage(t, console, { javaScriptEnabled })
    await page.goto(`${console.url}/sites/${console.domain}/settings/exclusions`)
    const then = page.locator('[data-then="visitors"]')
    assert.equal(await then.textContent(), '3')
    await watchShifts(page, javaScriptEnabled)

    const find = page.getByLabel('Find a country')
    assert.equal(await find.isVisible(), javaScriptEnabled)
    if (javaScriptEnabled) {
      await find.fill('reunion')
      assert.deepEqual(await page.locator('.countries-list li:visible').allInnerTexts(), ['Réunion'])
      await find.fill('no such country')
      assert.ok(await page.getByText('No country matches.').isVisible())
      await find.press('Enter')
      await find.fill('franc')
      await page.getByLabel('France').check()
    } else {
      await page.getByLabel('France').check()
      await page.getByRole('button', { name: 'Preview' }).click()
    }
    await then.getByText('1', { exact: true }).waitFor()
    assert.equal(await page.locator('[data-now="visitors"]').textContent(), '3')
    assert.equal(await shiftsOf(page, javaScriptEnabled), 0)
    assert.deepEqual((await findSite(console.stores.postgres, console.domain))?.excludedCountries, [])

    await page.getByRole('button', { name: 'Save exclusions' }).click()
    assert.match((await page.locator('.notice').textContent()) ?? '', /leaves out France/)
    assert.deepEqual((await findSite(console.stores.postgres, console.domain))?.excludedCountries, ['FR'])
    assert.ok(await page.getByLabel('France').isChecked())
  })

  test(`sites are searched and sorted, ${how}`, async (t) => {
    const console = await openConsole(t)
    const { domain } = await console.addAccount()
    const page = await openPage(t, console, { javaScriptEnabled })
    await page.goto(console.url)
    assert.deepEqual(await page.locator('.site-card b').allInnerTexts(), [console.domain])
    assert.ok(!(await page.content()).includes(domain))
    await page.goto(`${console.url}/sites/new`)
    const added = `added-${randomUUID()}.example`
    await page.getByLabel('Domain').fill(added)
    await page.getByRole('button', { name: 'Add site' }).click()
    await page.goto(console.url)
    await page.getByLabel('Sort by').selectOption('newest')
    if (javaScriptEnabled) await page.waitForURL(/sort=newest/)
    else await page.getByRole('button', { name: 'Show' }).click()
    assert.deepEqual(await page.locator('.site-card b').allInnerTexts(), [added, console.domain])
    await page.getByLabel('Search sites').fill('ADDED-')
    await page.getByLabel('Search sites').press('Enter')
    assert.deepEqual(await page.locator('.site-card b').allInnerTexts(), [added])
  })
}

test('on a phone nothing moves when the first event arrives', async (t) => {
  const console = await openConsole(t)
  const page = await openPage(t, console, { viewport: { width: 360, height: 800 } })
  await page.goto(`${console.url}/sites/${console.domain}/settings`)
  await watchShifts(page, true)
  await record(console, console.siteId, ['FR'])
  await page.getByText('First event received').waitFor()
  assert.equal(await shiftsOf(page, true), 0)
})

/** Without JavaScript on the page the answer of the server is a new page, which cannot shift. */
async function watchShifts(page: Page, isScripted: boolean): Promise<void> {
  if (!isScripted) return
  await page.evaluate(() => {
    const place = globalThis as unknown as { shifts: number }
    place.shifts = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[]) place.shifts += entry.value
    }).observe({ type: 'layout-shift' as never })
  })
}

async function shiftsOf(page: Page, isScripted: boolean): Promise<number> {
  if (!isScripted) return 0
  await page.waitForTimeout(300)
  return page.evaluate(() => (globalThis as unknown as { shifts: number }).shifts)
}

for (const javaScriptEnabled of [true, false])
  test(`the menu in the header leads to another site, ${javaScriptEnabled ? 'by the keyboard' : 'without JavaScript'}`, async (t) => {
    const console = await openConsole(t)
    const page = await openPage(t, console, { javaScriptEnabled })
    const domain = `another-${randomUUID()}.example`
    await createSite(console.stores.postgres, { accountId: console.accountId, domain })
    await page.goto(`${console.url}/sites/${console.domain}/settings`)
    const field = page.getByLabel('Go to a site')
    if (javaScriptEnabled) {
      await page.keyboard.press('k')
      await page.keyboard.press('Escape')
      assert.equal(await field.isVisible(), false)
      await page.keyboard.press('k')
      await page.keyboard.type('another')
      await page.locator('.switcher-found a', { hasText: domain }).waitFor()
      await page.locator('.switcher-found a', { hasText: console.domain }).waitFor({ state: 'detached' })
      await page.keyboard.press('Enter')
    } else {
      await page.locator('.switcher summary').click()
      await field.fill('another')
      await field.press('Enter')
      await page.locator('.site-card', { hasText: domain }).click()
    }
    await page.waitForURL(`${console.url}/sites/${domain}`)
  })

for (const javaScriptEnabled of [true, false])
  test(`the choices above the sites act ${javaScriptEnabled ? 'at once' : 'with the button, without JavaScript'}`, async (t) => {
    const console = await openConsole(t)
    await createSite(console.stores.postgres, { accountId: console.accountId, domain: `${randomUUID()}.example` })
    const page = await openPage(t, console, { javaScriptEnabled })
    await page.goto(console.url)
    await page.getByLabel('Range').selectOption('7d')
    const button = page.getByRole('button', { name: 'Show' })
    assert.equal(await button.isVisible(), !javaScriptEnabled)
    if (!javaScriptEnabled) await button.click()
    await page.getByText('Visitors of the last 7 days').waitFor()
  })
