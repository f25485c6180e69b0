// What site owners come for, in a real browser from the start page on, with five clicks at most. What they type and keys do not count.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { goalOf } from '../../src/accounts/goal-rules.ts'
import { createGoal } from '../../src/accounts/goals.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { openBrowser } from '../support/browser.ts'
import { custom, eventOf, type Hit, pageview } from '../support/events.ts'
import { openConsole } from './console.ts'

const maxClicks = 5

/** In October: two people of Portugal and one of Japan on /pricing from Google, others from elsewhere, and a campaign with one signup. */
const google = { referrer: 'google.com', channel: 'Organic Search' } as const
const spring = {
  utmSource: 'news',
  channel: 'Email',
  campaign: { medium: 'email', campaign: 'spring', content: '', term: '' },
} as const
const hits: Hit[] = [
  pageview({ ...google, at: '2026-10-05T10:00:00Z', visitor: 'a', country: 'PT', pathname: '/pricing' }),
  pageview({ ...google, at: '2026-10-06T10:00:00Z', visitor: 'b', country: 'PT', pathname: '/pricing' }),
  pageview({ ...google, at: '2026-10-07T10:00:00Z', visitor: 'c', country: 'JP', pathname: '/pricing' }),
  pageview({ ...google, at: '2026-10-08T10:00:00Z', visitor: 'd', country: 'FR', pathname: '/blog/a' }),
  pageview({ at: '2026-10-08T10:00:00Z', visitor: 'e', country: 'FR', pathname: '/pricing' }),
  pageview({ ...google, at: '2026-11-10T10:00:00Z', visitor: 'f', country: 'US', pathname: '/pricing' }),
  pageview({ ...spring, at: '2026-11-11T10:00:00Z', visitor: 'g', country: 'DE', pathname: '/' }),
  custom('Signup', { ...spring, at: '2026-11-11T10:01:00Z', visitor: 'g', country: 'DE', pathname: '/' }),
  pageview({ ...spring, at: '2026-11-12T10:00:00Z', visitor: 'h', country: 'DE', pathname: '/blog/b' }),
  custom('Signup', { at: '2026-11-12T10:01:00Z', visitor: 'i', country: 'DE', pathname: '/' }),
]

async function openStartPage(t: TestContext) {
  const console = await openConsole(t, { now: '2026-11-15T12:00:00Z' })
  const { stores, siteId, domain } = console
  await createGoal(stores.postgres, siteId, goalOf('Signup', { event: 'Signup' }))
  await recordBatch(stores.clickhouse, {
    id: siteId,
    events: hits.map((hit) => eventOf({ hostname: domain, ...hit }, siteId, 'UTC')),
  })
  const owner = await console.signedIn('owner')
  const browser = await openBrowser()
  t.after(() => browser.close())
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  for (const [name, value] of owner.cookies) await context.addCookies([{ name, value, url: console.url }])
  const page = await context.newPage()
  await page.goto(console.url)
  let clicks = 0
  return {
    page,
    clicks: () => clicks,
    async click(locator: Locator): Promise<void> {
      clicks++
      await locator.click()
      await page.waitForLoadState()
    },
    site: page.locator('a.site-card'),
    /** What somebody sees who has the link and nothing else. */
    async openLink(address: string): Promise<Page> {
      const stranger = await (await browser.newContext()).newPage()
      await stranger.goto(address)
      return stranger
    },
  }
}

/** A row of a list, by what it is about. */
const row = (page: Page, text: string): Locator => page.locator('.panels a.line', { hasText: text }).first()
const panel = (page: Page, name: string): Locator =>
  page.locator(`.panels section[aria-labelledby=${name.toLowerCase()}-title]`)

const textIn = async (part: Locator): Promise<string> =>
  ((await part.textContent()) ?? '').replaceAll(/\s+/g, ' ').trim()

test('which country did the visitors of /pricing from Google come from last month?', async (t) => {
  const { page, site, click, clicks } = await openStartPage(t)
  await click(site)
  await click(page.locator('.range summary'))
  await click(page.locator('.range .item', { hasText: 'Last month' }))
  await click(row(page, '/pricing'))
  await click(row(page, 'google.com'))
  const places = panel(page, 'Places')
  assert.match(await textIn(places), /Portugal 2 .*Japan 1 /)
  assert.doesNotMatch(await textIn(places), /France|United States/)
  assert.ok(clicks() <= maxClicks, `${clicks()} clicks`)
})

test('did the campaign bring signups?', async (t) => {
  const { page, site, click, clicks } = await openStartPage(t)
  await click(site)
  await click(panel(page, 'Sources').getByRole('link', { name: 'Campaigns' }))
  await click(row(page, 'spring'))
  assert.match(await textIn(page.locator('#metric-conversions .number')), /^1$/)
  assert.match(await textIn(page.locator('#metric-visitors .number')), /^2$/)
  assert.ok(clicks() <= maxClicks, `${clicks()} clicks`)
})

test('send my client a link with only the blog', async (t) => {
  const { page, site, click, clicks, openLink } = await openStartPage(t)
  await click(site)
  await click(page.getByRole('link', { name: /^Settings/ }))
  await click(page.getByRole('link', { name: 'Shared links' }))
  await click(page.getByRole('link', { name: 'Create a link' }))
  await page.keyboard.type('My client')
  await page.getByLabel('Pages that start with').fill('/blog')
  await click(page.getByRole('button', { name: 'Create link' }))
  assert.ok(clicks() <= maxClicks, `${clicks()} clicks`)
  const seen = await openLink((await page.locator('#whole-link').textContent()) ?? '')
  const pages = await textIn(panel(seen, 'Pages'))
  assert.match(pages, /\/blog\/b/)
  assert.doesNotMatch(pages, /\/pricing/)
})
