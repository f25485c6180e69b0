// Files are sent, previewed, imported and taken back in Chromium, with JavaScript and without it, on a phone and a wide screen.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { openBrowser } from '../support/browser.ts'
import { openConsole, type TestConsole } from './console.ts'

/** Pictures of each step go there. */
const pictures = process.env.FOOTFALL_PICTURES

let browser: Browser
let folder: string
before(async () => {
  browser = await openBrowser()
  folder = mkdtempSync(join(tmpdir(), 'footfall-imports-'))
  if (pictures) mkdirSync(pictures, { recursive: true })
})
after(async () => {
  await browser.close()
  rmSync(folder, { recursive: true })
})

function umamiFile(rows: number): string {
  const path = join(folder, `website_event_${rows}.csv`)
  const lines = Array.from({ length: rows }, (_, nth) => {
    const time = new Date(Date.UTC(2025, 0, 1) + nth * 600_000).toISOString().slice(0, 19).replace('T', ' ')
    return nth % 50 === 7
      ? `visitor,/broken,1,yesterday ${nth}`
      : `visitor${nth % 40},/${nth % 9},${nth % 20 === 3 ? 4 : 1},${time}`
  })
  writeFileSync(path, `session_id,url_path,event_type,created_at\n${lines.join('\n')}\n`)
  return path
}

async function openPage(t: TestContext, console: TestConsole, options: BrowserContextOptions): Promise<Page> {
  const owner = await console.signedIn('owner')
  const context = await browser.newContext(options)
  t.after(() => context.close())
  const value = owner.cookies.get('footfall-session') as string
  await context.addCookies([{ name: 'footfall-session', value, url: console.url }])
  const page = await context.newPage()
  await page.goto(`${console.url}/sites/${console.domain}/settings/imports`)
  return page
}

const looks: [name: string, options: BrowserContextOptions][] = [
  ['phone, dark', { viewport: { width: 360, height: 800 }, colorScheme: 'dark' }],
  ['wide, light', { viewport: { width: 1_280, height: 900 }, colorScheme: 'light' }],
  [
    'phone, light, without JavaScript',
    { viewport: { width: 360, height: 800 }, colorScheme: 'light', javaScriptEnabled: false },
  ],
  [
    'wide, dark, without JavaScript',
    { viewport: { width: 1_280, height: 900 }, colorScheme: 'dark', javaScriptEnabled: false },
  ],
]

for (const [look, options] of looks) {
  test(`an import from the file to its undo: ${look}`, { timeout: 240_000 }, async (t) => {
    const console = await openConsole(t, { uploadMaxMegabytes: 1 })
    const page = await openPage(t, console, options)
    const picture = async (step: string) => {
      if (pictures) await page.screenshot({ path: join(pictures, `${step} ${look}.png`), fullPage: true })
      const overflow = await page
        .locator('html')
        .evaluate((html) => html.scrollWidth - html.clientWidth)
        .catch(() => 0)
      assert.ok(overflow <= 0, `${step}: ${overflow} px too wide`)
    }
    await picture('1 form')

    if (options.javaScriptEnabled !== false) {
      await page
        .getByLabel('Files')
        .setInputFiles({ name: 'large.csv', mimeType: 'text/csv', buffer: Buffer.alloc(1_000_000) })
      await page.getByRole('button', { name: 'Send and preview' }).click()
      await page.getByText('These files are larger than 1 MB').waitFor()
      await picture('2 too large')
    }
    await page.getByLabel('Files').setInputFiles(umamiFile(1_000))
    await page.getByRole('button', { name: 'Send and preview' }).click()
    // 20 lines are broken, and 50 are of another kind.
    await page.getByText('930 events to import').waitFor()
    assert.match((await page.locator('.left-out').textContent()) ?? '', /20.*50|50.*20/s)
    await page.getByText('The first lines that cannot be read').click()
    await picture('3 preview')

    await page.getByLabel('Last day').fill('2025-01-02')
    await page.getByRole('button', { name: 'Preview again' }).click()
    await page.getByText('days after 2025-01-02').waitFor()
    // Two days are 288 lines, of which 6 are broken and 15 of another kind.
    await page.getByRole('button', { name: 'Import 267 events' }).click()
    await page.getByText('Imported 267 events on 2 days').waitFor()
    await picture('4 imported')

    await page.getByText('Take back the import of').click()
    await picture('5 take back')
    await page.getByRole('button', { name: 'Take it back' }).click()
    await page.getByText('The import is taken back').or(page.getByText('is being taken back')).waitFor()
    await picture('6 taken back')
  })
}
