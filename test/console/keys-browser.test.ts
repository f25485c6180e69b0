// API keys in real Chromium against `footfall serve` as a real process, with another API process on the same databases.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { reports } from '../../src/stats/reports.ts'
import { addMember } from '../../src/users/members.ts'
import { createSession } from '../../src/users/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import { clickhouseText, postgresText, redisText } from '../checks/canary/places.ts'
import { type ApiProcess, startApiProcess } from '../support/api-process.ts'
import { openBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { inTime } from '../support/in-time.ts'
import { launchServe, type ServeProcess } from '../support/serve-process.ts'
import type { Stores } from '../support/stores.ts'

const ends: (() => Promise<unknown>)[] = []
let stores: Stores
let server: ServeProcess
let other: ApiProcess
let browser: Browser
let url: string

before(async () => {
  // Its own: serve also rolls up every site that it finds.
  stores = await freshStores((end) => void ends.push(end))
  server = await launchServe(stores.addresses)
  ends.push(server.stop)
  other = await startApiProcess(stores.addresses)
  ends.push(other.stop)
  // Playwright turns off the back/forward cache, in which a browser keeps the pages that were left.
  browser = await openBrowser({ ignoreDefaultArgs: ['--disable-back-forward-cache'] })
  ends.push(() => browser.close())
  await server.untilReady()
  url = server.url.replace('127.0.0.1', 'localhost') // PUBLIC_URL is not set
})
after(async () => {
  for (const end of ends.toReversed()) await end()
})

/** The page of keys of a new site, as its owner sees it. */
async function openKeys(javaScriptEnabled: boolean) {
  const { postgres } = stores
  const accountId = await createAccount(postgres, { name: 'A browser', plan: 'Growth' })
  const domain = `${randomUUID()}.example`
  await createSite(postgres, { accountId, domain })
  const userId = await createUser(postgres, `${randomUUID()}@example.com`, 'no password')
  await addMember(postgres, accountId, userId, 'owner')
  const session = await createSession(postgres, userId, { address: '192.0.2.0', browser: 'A test' })
  const context = await browser.newContext({ javaScriptEnabled })
  await context.addCookies([{ name: 'footfall-session', value: session, url, httpOnly: true }])
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  const list = `${url}/sites/${domain}/settings/keys`
  await page.goto(list)
  const countKeys = async () => (await postgres`SELECT FROM api_keys WHERE account_id = ${accountId}`).length
  return { page, context, list, accountId, countKeys, complaints }
}

async function createInPage(page: Page, name: string): Promise<string> {
  await page.getByRole('link', { name: 'Create a key' }).click()
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('In 30 days').check()
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST'),
    page.getByRole('button', { name: 'Create key' }).click(),
  ])
  assert.deepEqual([answer.status(), answer.headers()['cache-control']], [200, 'no-store'])
  await page.locator('#whole-key').waitFor()
  const key = (await page.locator('#whole-key').textContent()) ?? ''
  assert.match(key, /^ff_s_[0-9A-Za-z]{36}$/)
  return key
}

async function call(base: string, key: string, report = 'overview'): Promise<string> {
  const response = await fetch(`${base}/api/v1/stats/${report}?range=7d`, {
    headers: { Authorization: `Bearer ${key}` },
  })
  const body = (await response.json()) as { error?: { code: string } }
  return body.error?.code ?? String(response.status)
}

for (const javaScript of [true, false]) {
  const how = javaScript ? 'with JavaScript' : 'without JavaScript'

  test(`${how}: a key is made in the page, calls all nine endpoints, and is disabled in the page`, async () => {
    const { page, complaints } = await openKeys(javaScript)
    const key = await createInPage(page, 'Weekly report')
    const curl = (await page.locator('#curl').textContent()) ?? ''
    assert.ok(curl.includes(`Bearer ${key}`) && curl.includes(`${url}/api/v1/stats/overview?range=7d`), curl)
    assert.equal(await page.getByRole('button', { name: 'Try it now' }).isVisible(), javaScript)
    assert.equal(await page.getByRole('button', { name: 'Copy' }).isVisible(), javaScript)
    if (javaScript) {
      await page.getByRole('button', { name: 'Try it now' }).click()
      await page.locator('#answer', { hasText: 'generated_at' }).waitFor()
      assert.match((await page.locator('#answer').textContent()) ?? '', /^200 OK\n\{\n {2}"data"/)
    }
    for (const base of [server.url, other.url]) {
      for (const report of Object.keys(reports)) assert.equal(await call(base, key, report), '200', report)
    }
    await page.getByRole('link', { name: 'Manage Weekly report' }).click()
    await page.getByRole('button', { name: 'Disable key' }).click()
    await page.getByText('The key is disabled.').waitFor()
    assert.equal(await call(server.url, key), 'key_disabled')
    const disabledAt = performance.now()
    let answer = await call(other.url, key)
    while (answer === '200' && performance.now() - disabledAt < 1_000) answer = await call(other.url, key)
    inTime(answer !== '200', 'another process accepts the key after a second')
    assert.equal(answer, 'key_disabled')

    await page.getByRole('button', { name: 'Enable key' }).click()
    await page.getByText('The key is enabled').waitFor()
    assert.equal(await call(server.url, key), '200')
    await page.getByLabel('Yes, delete Weekly report').check()
    await page.getByRole('button', { name: 'Delete key' }).click()
    await page.getByText('The key is deleted.').waitFor()
    assert.equal(await call(server.url, key), 'invalid_key')
    assert.deepEqual(complaints, [])
  })

  test(`${how}: after its page is left, the text of a key is nowhere, and reloading makes no second key`, async () => {
    const { page, context, list, countKeys } = await openKeys(javaScript)
    const key = await createInPage(page, 'Once')
    assert.equal(await call(server.url, key), '200')
    await page.getByRole('link', { name: 'Manage Once' }).click()
    await page.getByRole('heading', { name: 'Rotate' }).waitFor()

    await page.goBack().catch(() => {}) // Chromium asks whether to send the form again
    assert.ok(!(await eventually(() => page.content())).includes(key), 'by going back')
    await page.reload() // sends the form again
    await page.getByText('This key was already created and is shown only once').waitFor()
    assert.ok(!(await page.content()).includes(key), 'by reloading')
    assert.equal(await countKeys(), 1)
    await page.goto(list)
    assert.ok(!(await page.content()).includes(key), 'in the list')

    const kept = [JSON.stringify(await context.storageState({ indexedDB: javaScript }))]
    if (javaScript) {
      kept.push(
        await page.evaluate(`(async () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie,
        history.state, await indexedDB.databases(), await caches?.keys()]))()`),
      )
      assert.match(kept[1] ?? '', /^\[\{\},\{\},"",null,\[\],\[\]\]$/)
    }
    const { postgres, addresses } = stores
    const places = {
      browser: kept.join(),
      'log of serve': server.log(),
      'log of the API': other.log(),
      PostgreSQL: await postgresText(postgres),
      ClickHouse: await clickhouseText(addresses.clickhouse),
      Redis: await redisText(addresses.redis),
    }
    const hex = Buffer.from(key).toString('hex')
    for (const [place, text] of Object.entries(places)) {
      assert.ok(text.length > 0, `${place} was read`)
      assert.ok(!text.includes(key.slice(5)) && !text.includes(hex), `the key is in: ${place}`)
    }
    assert.ok(places.PostgreSQL.includes(key.slice(0, 9)), 'the prefix is what is stored')
  })

  test(`${how}: a rotated key is shown once, with its lineage; the old one works for the chosen time`, async () => {
    const { page, list } = await openKeys(javaScript)
    const old = await createInPage(page, 'Grafana')
    await page.getByRole('link', { name: 'Manage Grafana' }).click()
    await page.getByLabel('In 1 hour').check()
    await page.getByRole('button', { name: 'Rotate key' }).click()
    await page.getByText('has a new key').waitFor()
    const next = (await page.locator('#whole-key').textContent()) ?? ''
    assert.deepEqual([await call(server.url, old), await call(server.url, next)], ['200', '200'])
    await page.goto(list)
    await page.getByText(`replaces ${old.slice(0, 9)}…`).waitFor()
    await page.getByText(`replaced by ${next.slice(0, 9)}…`).waitFor()
    await page
      .getByRole('row', { name: `${old.slice(0, 9)}…` })
      .getByText('expires in 1 hour')
      .waitFor()

    await page
      .getByRole('row', { name: `${next.slice(0, 9)}… replaces` })
      .getByRole('link', { name: 'Manage' })
      .click()
    await page.getByLabel('Now', { exact: true }).check()
    await page.getByRole('button', { name: 'Rotate key' }).click()
    await page.getByText('has ended').waitFor()
    assert.equal(await call(server.url, next), 'key_expired')
  })
}

test('what a browser might keep for going back is cleared, and a double click sends one form', async () => {
  const { page, countKeys } = await openKeys(true)
  const key = await createInPage(page, 'Kept')
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: false }))`)
  assert.ok((await page.content()).includes(key))
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`)
  assert.ok(!(await page.content()).includes(key.slice(5, 20)))

  const second = await openKeys(true)
  await second.page.getByRole('link', { name: 'Create a key' }).click()
  await second.page.getByLabel('Name').fill('Twice')
  await second.page.getByRole('button', { name: 'Create key' }).dblclick()
  await second.page.getByText('Twice is ready').waitFor()
  assert.deepEqual([await countKeys(), await second.countKeys()], [1, 1])
})
