// The pictures of docs/console.md and of the reference, in both themes and for wide screens and phones. GitHub shows the theme that fits the reader.
//   npm run docs:pictures
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../../support/browser.ts'
import { runCheck } from '../runner.ts'
import type { Content } from './content.ts'
import { install } from './installation.ts'

const folder = new URL('../../../docs/console/', import.meta.url).pathname

interface Picture {
  name: string
  address(content: Content): string
  /** On a wide screen. Everything is also shown on a phone of 360 px. */
  width: number
  /** The lowest pixel that is shown on a wide screen. */
  most: number
  isStranger?: boolean
  /** What a person does before the picture is taken. */
  prepare?(page: Page): Promise<void>
}

const pictures: readonly Picture[] = [
  { name: 'sign-in', address: () => '/login', width: 640, most: 420, isStranger: true },
  { name: 'sites', address: () => '/', width: 1120, most: 560 },
  { name: 'dashboard', address: ({ usual }) => `/sites/${usual.domain}`, width: 1280, most: 1520 },
  {
    name: 'map',
    address: ({ usual }) =>
      `/sites/${usual.domain}?countries=map&sources=channel&filter=page:starts_with:/blog&filter=device:is_not:tablet`,
    width: 1280,
    most: 1520,
  },
  {
    name: 'live',
    address: ({ usual }) => `/sites/${usual.domain}/live`,
    width: 1280,
    most: 960,
    prepare: (page) => page.locator('.live-state.good').waitFor(),
  },
  { name: 'settings', address: ({ usual }) => `/sites/${usual.domain}/settings`, width: 960, most: 640 },
  { name: 'exclusions', address: ({ usual }) => `/sites/${usual.domain}/settings/exclusions`, width: 960, most: 520 },
  { name: 'goals', address: ({ usual }) => `/sites/${usual.domain}/settings/goals`, width: 960, most: 1_100 },
  { name: 'import', address: ({ usual }) => `/sites/${usual.domain}/settings/imports`, width: 960, most: 640 },
  { name: 'segments', address: ({ usual }) => `/sites/${usual.domain}/settings/segments`, width: 960, most: 520 },
  { name: 'keys', address: ({ usual }) => `/sites/${usual.domain}/settings/keys`, width: 1120, most: 480 },
  { name: 'links', address: ({ usual }) => `/sites/${usual.domain}/settings/links`, width: 1120, most: 560 },
  { name: 'members', address: ({ usual }) => `/account/members?account=${usual.accountId}`, width: 960, most: 720 },
  { name: 'audit-log', address: ({ usual }) => `/account/audit?account=${usual.accountId}`, width: 960, most: 440 },
  { name: '../reference', address: () => '/api/v1/docs#overview', width: 1320, most: 1_000, isStranger: true },
  // The last: it creates a key.
  {
    name: 'new-key',
    address: ({ usual }) => `/sites/${usual.domain}/settings/keys/new`,
    width: 960,
    most: 460,
    async prepare(page) {
      await page.getByLabel('Name').fill('Monthly report')
      await page
        .getByRole('main')
        .getByRole('button', { name: /create/i })
        .click()
    },
  },
]

const phone = { width: 360, most: 1_200 }

/** Readers have another address than this machine. */
const asPublic = `(origin) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) walker.currentNode.data = walker.currentNode.data.replaceAll(origin, 'https://stats.example.com')
  document.activeElement?.blur()
}`

await runCheck({ name: 'pictures', options: { only: '' }, seconds: () => 300 }, async (check, { only }) => {
  const { origin, content } = await install(check)
  const browser = await openBrowser()
  check.onEnd(() => browser.close())
  mkdirSync(folder, { recursive: true })
  const chosen = pictures.filter(({ name }) => !only || name === only)
  for (const one of chosen) {
    for (const isDark of [false, true]) {
      await take(browser, one, { origin, content, isDark })
      await take(browser, { ...one, ...phone, name: `${one.name}-phone` }, { origin, content, isDark })
    }
  }
  return { pictures: 4 * chosen.length }
})

async function take(
  browser: Browser,
  { name, address, width, most, isStranger, prepare }: Picture,
  { origin, content, isDark }: { origin: string; content: Content; isDark: boolean },
): Promise<void> {
  const page = await browser.newPage({
    viewport: { width, height: most },
    colorScheme: isDark ? 'dark' : 'light',
    reducedMotion: 'reduce',
  })
  if (!isStranger)
    await page.context().addCookies([{ name: 'footfall-session', value: content.usual.owner.cookie, url: origin }])
  await page.goto(origin + address(content))
  await prepare?.(page)
  await page.evaluate(`(${asPublic})(${JSON.stringify(origin)})`)
  const height = await page.evaluate<number>('Math.ceil(document.querySelector("main").getBoundingClientRect().bottom)')
  const clip = { x: 0, y: 0, width, height: Math.min(most, height + 24) }
  await page.screenshot({ path: join(folder, `${name}-${isDark ? 'dark' : 'light'}.png`), clip })
  await page.close()
}
