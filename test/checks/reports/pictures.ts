// The pictures of docs/reports.md: the report of a week in both themes, for wide screens and phones.
//   npm run docs:pictures
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createGoal } from '../../../src/accounts/goals.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { generateDemo } from '../../../src/demo/generate.ts'
import { compose, siteOf } from '../../email-reports/composing.ts'
import { openBrowser } from '../../support/browser.ts'
import { connect, createStores, disconnect } from '../../support/stores.ts'
import { runCheck } from '../runner.ts'

const folder = new URL('../../../docs/reports/', import.meta.url).pathname
/** Always the same traffic, so that the pictures change only with the report. */
const until = Date.UTC(2026, 10, 18)
const zone = 'Europe/Berlin'
const domain = 'demo.example'

await runCheck({ name: 'pictures of reports', options: {}, seconds: () => 300 }, async (check) => {
  const created = await createStores()
  check.onEnd(created.remove)
  const stores = connect(created.addresses)
  check.onEnd(() => disconnect(stores))
  const { postgres, clickhouse } = stores
  const accountId = await createAccount(postgres, { name: 'Northwind Trading', plan: 'Agency' })
  const siteId = await createSite(postgres, { accountId, domain, timeZone: zone, excludedCountries: ['CN', 'RU'] })
  await createGoal(postgres, siteId, { name: 'Signed up', condition: { kind: 'event', event: 'signup' } })
  await createGoal(postgres, siteId, { name: 'Saw the prices', condition: { kind: 'path', pattern: '/pricing' } })
  await generateDemo({ clickhouse, siteId, domain, zone, events: 500_000, seed: 1, until })
  const site = await siteOf(stores, siteId)
  const { html } = await compose(stores, { interval: 'week', firstDay: '2026-11-09', about: { site } })
  const browser = await openBrowser()
  check.onEnd(() => browser.close())
  mkdirSync(folder, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [name, width] of [
      ['week', 700],
      ['week-phone', 360],
    ] as const) {
      const page = await browser.newPage({ viewport: { width, height: 640 }, colorScheme })
      await page.setContent(html)
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
      if (wide > width) check.fault('too wide', `${name}: ${wide} px`)
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), fullPage: true })
      await page.close()
    }
  }
  return { pictures: 4 }
})
