import { type TestContext, test } from 'node:test'
import type { Browser, BrowserContext } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'

let browser: Promise<Browser> | undefined

/** A separate browser profile for a test, in the one browser of its file. */
export async function openProfile(t: TestContext): Promise<BrowserContext> {
  browser ??= openBrowser()
  const context = await (await browser).newContext()
  t.after(() => context.close())
  return context
}

test.after(async () => (await browser)?.close())
