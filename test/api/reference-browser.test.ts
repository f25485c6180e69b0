// The reference page in a real browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConsole } from '../console/console.ts'
import { openBrowser } from '../support/browser.ts'

test('the examples of a call follow the fields that try it', { timeout: 120_000 }, async (t) => {
  const console = await openConsole(t)
  const browser = await openBrowser()
  t.after(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`${console.url}/api/v1/docs`)
  const curl = page.locator('#pages .samples [data-language=curl]')
  assert.match((await curl.textContent()) ?? '', /\/api\/v1\/stats\/pages\?range=7d&limit=3"$/)
  await page.locator('#pages select[name=range]').selectOption('12m')
  await page.locator('#pages input[name=utm_source]').fill('a b$(c)"d')
  const address = `${console.url}/api/v1/stats/pages?range=12m&utm_source=a+b%24%28c%29%22d`
  assert.ok((await curl.textContent())?.endsWith(`"${address}"`), (await curl.textContent()) ?? '')
  const python = page.locator('#pages .samples [data-language=Python]')
  assert.ok((await python.textContent())?.includes(`url = "${address}"`))
  assert.match(
    (await page.locator('#geo .samples [data-language=curl]').textContent()) ?? '',
    /\/stats\/geo\?range=7d&limit=3"$/,
  )
})
