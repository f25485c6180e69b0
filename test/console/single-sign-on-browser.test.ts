// Single sign-on in Chromium, with JavaScript and without it: the policy of our pages must let people leave and come back.
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { password } from './console.ts'
import { openSignOn, somebody } from './single-sign-on.ts'

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

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with JavaScript' : 'without JavaScript'

  test(`an invitation, signing in and connecting, ${how}`, { timeout: 300_000 }, async (t) => {
    const console = await openSignOn(t)
    const account = somebody()
    console.provider.account = account
    const token = await console.invite(account.email)

    const invited = await openPage(t, javaScriptEnabled)
    await invited.goto(`${console.url}/invitation/${token}`)
    await invited.getByRole('link', { name: 'Continue with localhost' }).click()
    await invited.getByText(console.domain).first().waitFor()
    assert.equal(pathOf(invited), '/')

    // The same person in another browser, on the way to a page.
    const again = await openPage(t, javaScriptEnabled)
    await again.goto(`${console.url}/account/security`)
    await again.getByRole('link', { name: 'Sign in with localhost' }).click()
    await again.getByRole('heading', { name: 'Where you are signed in' }).waitFor()
    assert.equal(pathOf(again), '/account/security')

    // Somebody with a password connects.
    const { email } = await console.addUser('owner')
    console.provider.account = somebody()
    const owner = await openPage(t, javaScriptEnabled)
    await owner.goto(`${console.url}/login?next=/account/security`)
    await owner.getByLabel('Email').fill(email)
    await owner.getByLabel('Password').fill(password)
    await owner.getByRole('button', { name: 'Sign in' }).click()
    await owner.getByRole('link', { name: 'Connect' }).click()
    await owner.getByLabel('Your password').fill(password)
    await owner.getByRole('button', { name: 'Connect' }).click()
    await owner.getByRole('link', { name: 'Continue at localhost' }).click()
    await owner.getByText('Single sign-on is connected').waitFor()

    // Cancelled at the provider, or anything else: a page with a way back.
    await owner.goto(`${console.url}/login/oidc/callback?error=access_denied`)
    await owner.getByRole('link', { name: 'Back to sign-in' }).waitFor()
  })
}
