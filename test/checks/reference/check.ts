// The reference pages of both versions in real Chromium, in both themes at 360, 768 and 1,440 px, as it opens and as readers use it. Each look must pass what
// pages of the console pass: no violation that axe-core finds, no horizontal scrolling, few bytes, no errors, targets that a finger hits.
//   npm run check:reference -- [--looks 2] [--pictures <folder>]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { openBrowser } from '../../support/browser.ts'
import { launchServe } from '../../support/serve-process.ts'
import { connect, createStores, disconnect, keySecrets } from '../../support/stores.ts'
import { inPage, judge, type Look, lookName } from '../console/judge.ts'
import { runCheck } from '../runner.ts'

/** The two at either end first, for the short form. */
const looks: readonly Look[] = [
  { isDark: true, width: 360, byCookie: false },
  { isDark: false, width: 1440, byCookie: false },
  { isDark: false, width: 360, byCookie: false },
  { isDark: true, width: 1440, byCookie: false },
  { isDark: false, width: 768, byCookie: false },
  { isDark: true, width: 768, byCookie: false },
]

interface State {
  name: string
  /** Without it, the reference of /api/v1. */
  address?: string
  prepare?(page: Page, key: string): Promise<void>
}

async function send(page: Page, endpoint: string, key: string): Promise<void> {
  await page.locator(`#${endpoint} .key`).fill(key)
  await page.locator(`#${endpoint} .send`).click()
  await page.locator(`#${endpoint} .answer`).waitFor()
}

const states: readonly State[] = [
  { name: 'as it opens' },
  {
    name: 'in use',
    async prepare(page, key) {
      await send(page, 'overview', key)
      await send(page, 'pages', key)
      await send(page, 'geo', 'ff_s_wrong')
      await page.locator('#pages .answer').getByText('Headers', { exact: true }).click()
      await page.locator('#timeseries').getByText('Python', { exact: true }).click()
      await page.locator('#channels select[name=range]').selectOption('custom')
      await page.locator('#search').fill('vis')
    },
  },
  { name: 'questions', address: '/api/v2/docs' },
  {
    name: 'questions in use',
    address: '/api/v2/docs',
    async prepare(page, key) {
      await page.locator('#breakdown input[name=by]').fill('page')
      await send(page, 'breakdown', key)
      await send(page, 'totals', 'ff_s_wrong')
    },
  },
  {
    name: 'contents',
    async prepare(page) {
      if ((page.viewportSize()?.width ?? 0) < 720) await page.getByRole('button', { name: 'Contents' }).click()
      await page.locator('.contents a[href="#errors"]').hover()
    },
  },
]

await runCheck(
  { name: 'reference', options: { looks: looks.length, pictures: '' }, seconds: ({ looks }) => 90 + looks * 90 },
  async (check, { looks: count, pictures }) => {
    const created = await createStores()
    check.onEnd(created.remove)
    const stores = connect(created.addresses)
    check.onEnd(() => disconnect(stores))
    const accountId = await createAccount(stores.postgres, { name: 'Reference', plan: 'Agency' })
    const siteId = await createSite(stores.postgres, { accountId, domain: 'demo.example' })
    const key = await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'Reference' })
    const { postgres, clickhouse } = created.addresses
    const server = await launchServe({ postgres, clickhouse }, { LOG_LEVEL: 'warn' })
    check.onEnd(() => server.kill())
    await server.untilReady()
    const browser = await openBrowser()
    check.onEnd(() => browser.close())
    if (pictures) mkdirSync(pictures, { recursive: true })

    let [pages, maxBytes, maxScriptBytes] = [0, 0, 0]
    for (const look of looks.slice(0, count)) {
      for (const { name, prepare, address = '/api/v1/docs' } of states) {
        const context = await browser.newContext({
          viewport: { width: look.width, height: 900 },
          colorScheme: look.isDark ? 'dark' : 'light',
          reducedMotion: 'reduce',
        })
        await context.addInitScript({ path: inPage })
        const page = await context.newPage()
        const view = {
          name,
          person: undefined,
          address,
          status: 200,
          ...(prepare && { prepare: (opened: Page) => prepare(opened, key.text) }),
        }
        const { faults, bytes, scriptBytes } = await judge(page, view, server.url, look)
        for (const [kind, text] of faults) {
          // What a reader opens moves what is below it. A refused call is an error to Chromium, too.
          const isMeant = prepare && (kind === 'layout shift' || /\b401\b/.test(text))
          if (!isMeant) check.fault(kind, `${name}, ${lookName(look)}`, text)
        }
        if (pictures) {
          const file = `reference ${name} ${look.isDark ? 'dark' : 'light'} ${look.width}`.replace(/\W+/g, '-')
          await page.screenshot({ path: join(pictures, `${file}.png`), fullPage: true })
        }
        pages++
        maxBytes = Math.max(maxBytes, bytes)
        maxScriptBytes = Math.max(maxScriptBytes, scriptBytes)
        await context.close()
      }
    }
    return { pages, maxBytes, maxScriptBytes }
  },
)
