// People in Chromium, with JavaScript and without it: setup, invitation, second factor, signing out everywhere.
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { recordAction } from '../../src/users/audit-log.ts'
import { createSetupLink } from '../../src/users/setup.ts'
import { codeAt, stepAt } from '../../src/users/totp.ts'
import { openBrowser } from '../support/browser.ts'
import { freshStores } from '../support/fresh-stores.ts'
import { openConsole } from './console.ts'

const password = 'a password of my own choice'
const pathOf = (page: Page): string => new URL(page.url()).pathname

let browser: Browser
before(async () => {
  browser = await openBrowser()
})
after(() => browser.close())

async function openPage(t: TestContext, javaScriptEnabled: boolean): Promise<Page> {
  const context = await browser.newContext({ javaScriptEnabled })
  t.after(() => context.close())
  return context.newPage()
}

async function choosePassword(page: Page, button: string): Promise<void> {
  await page.getByLabel('New password').fill(password)
  await page.getByLabel('The same again').fill(password)
  await page.getByRole('button', { name: button }).click()
}

async function givePassword(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function giveCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('Code').fill(code)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with JavaScript' : 'without JavaScript'

  test(`from the setup link to a viewer and a second factor, ${how}`, { timeout: 300_000 }, async (t) => {
    const stores = await freshStores((end) => t.after(end))
    const console = await openConsole(t, { stores })

    // The setup link makes the first owner, who is signed in.
    const owner = await openPage(t, javaScriptEnabled)
    await owner.goto(`${console.url}/setup/${await createSetupLink(stores.postgres, undefined)}`)
    await owner.getByLabel('Email').fill('owner@example.com')
    await choosePassword(owner, 'Create owner')
    assert.equal(pathOf(owner), '/')
    assert.ok(await owner.getByText(console.domain).first().isVisible())

    // The owner invites a viewer, who comes with a browser of their own.
    await owner.getByRole('link', { name: 'Your account' }).click()
    await owner.getByRole('link', { name: 'Members' }).click()
    await owner.getByLabel('Email').fill('viewer@example.com')
    await owner.getByRole('button', { name: 'Create invitation' }).click()
    const link = (await owner.locator('#link').textContent()) ?? ''
    assert.equal(await owner.getByRole('button', { name: 'Copy link' }).isVisible(), javaScriptEnabled)
    const viewer = await openPage(t, javaScriptEnabled)
    await viewer.goto(link)
    await choosePassword(viewer, 'Join A test')
    assert.equal(pathOf(viewer), '/')
    await viewer.goto(`${console.url}/account/members`)
    assert.equal(await viewer.getByRole('button').count(), 0)
    await viewer.goto(link)
    assert.ok(await viewer.getByRole('heading', { name: 'This link no longer works' }).isVisible())

    // The owner turns the second factor on.
    await owner.getByRole('link', { name: 'Your sign-in' }).click()
    await owner.getByRole('link', { name: 'Turn on' }).click()
    assert.ok(await owner.getByRole('img', { name: /QR code/ }).isVisible())
    const secret = await owner.locator('input[name="secret"]').inputValue()
    await owner.getByLabel('Your password').fill(password)
    // The code of the step before, so that the sign-in below can use the current one.
    await owner.getByRole('textbox', { name: 'Code' }).fill(codeAt(secret, stepAt(Date.now()) - 1))
    await owner.getByRole('button', { name: 'Turn on' }).click()
    const recovery = ((await owner.locator('#codes').textContent()) ?? '').split('\n')
    assert.equal(recovery.length, 10)
    await owner.getByRole('link', { name: 'I have saved them' }).click()

    // Signing in asks for a code of the app, or takes a recovery code.
    const phone = await openPage(t, javaScriptEnabled)
    await phone.goto(`${console.url}/account/security`)
    await givePassword(phone, 'owner@example.com')
    assert.equal(pathOf(phone), '/login')
    await giveCode(phone, '000000')
    assert.match((await phone.getByRole('alert').textContent()) ?? '', /This code is not right/)
    await giveCode(phone, codeAt(secret, stepAt(Date.now())))
    assert.equal(pathOf(phone), '/account/security')
    const tablet = await openPage(t, javaScriptEnabled)
    await tablet.goto(`${console.url}/login`)
    await givePassword(tablet, 'owner@example.com')
    await giveCode(tablet, recovery[0] as string)
    assert.equal(pathOf(tablet), '/')

    // Signing out everywhere ends all three.
    await owner.reload()
    assert.equal(await owner.locator('tbody tr').count(), 3)
    await owner.getByRole('button', { name: 'Sign out everywhere' }).click()
    assert.match((await owner.getByRole('status').textContent()) ?? '', /signed out everywhere/)
    for (const page of [owner, phone, tablet]) {
      await page.goto(console.url)
      assert.equal(pathOf(page), '/login')
    }
    await viewer.goto(console.url)
    assert.equal(pathOf(viewer), '/')
  })
}

test('the audit log breaks no word, whatever the width', async (t) => {
  const console = await openConsole(t)
  for (const address of ['2001:db8:85a3::', '203.0.113.0'])
    await recordAction(console.stores.postgres, {
      accountId: console.accountId,
      actor: 'maria.keller@example.com',
      action: 'site.exclusions_changed',
      subject: 'demo.example',
      address,
    })
  const owner = await console.signedIn('owner')
  const page = await openPage(t, true)
  await page
    .context()
    .addCookies([
      { name: 'footfall-session', value: owner.cookies.get('footfall-session') as string, url: console.url },
    ])
  await page.goto(`${console.url}/account/audit`)
  for (const width of [360, 721, 768, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    assert.deepEqual(await page.evaluate<string[]>(brokenWords), [], `at ${width} px`)
  }
})

/** The words of the table that stand on two lines. */
const brokenWords = `(() => {
  const broken = []
  const texts = document.createTreeWalker(document.querySelector('.people-log tbody'), NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    for (const { 0: word, index } of texts.currentNode.data.matchAll(/[^\\s-]+/g)) {
      const range = new Range()
      range.setStart(texts.currentNode, index)
      range.setEnd(texts.currentNode, index + word.length)
      if (range.getClientRects().length > 1) broken.push(word)
    }
  }
  return broken
})()`
