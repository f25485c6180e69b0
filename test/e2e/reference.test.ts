import assert from 'node:assert/strict'
import test from 'node:test'
import { reports } from '../../src/stats/reports.ts'
import { openBrowser } from '../support/browser.ts'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'

test('in a browser without internet, the reference shows every endpoint and a call made from it succeeds', async (t) => {
  const world = await openWorld(t, { now: '2026-11-15T12:00:00Z' })
  await world.record(pageview({ at: '2026-11-14T10:00:00Z', pathname: '/hello', title: 'Hello' }))
  const browser = await openBrowser()
  t.after(() => browser.close())
  const page = await browser.newPage()
  const requested: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => requested.push(new URL(request.url()).host))
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(`http://127.0.0.1:${world.api.port}/api/v1/docs`)

  const headings = await page.locator('section h2').allInnerTexts()
  assert.deepEqual(
    headings.slice(0, 9),
    Object.keys(reports).map((name) => `GET /api/v1/stats/${name}`),
  )

  await page.fill('#key', world.key.text)
  const section = page.locator('#pages')
  await section.locator('select[name=range]').selectOption('7d')
  await section.locator('input[name=limit]').fill('5')
  await section.locator('button').click()
  await section.locator('.answer', { hasText: 'generated_at' }).waitFor()
  const shown = (await section.locator('.answer').textContent()) ?? ''
  assert.match(shown, /^GET \/api\/v1\/stats\/pages\?range=7d&limit=5\n200\n/)
  assert.match(shown, /x-ratelimit-remaining: \d+/)
  assert.match(shown, /stats-period: 2026-11-09T00:00:00\+00:00\/2026-11-15T12:00:00\+00:00/)
  const body = JSON.parse(shown.slice(shown.indexOf('{')))
  assert.deepEqual(body.data, [{ pathname: '/hello', title: 'Hello', views: 1, visitors: 1 }])

  assert.deepEqual([...new Set(requested)], [`127.0.0.1:${world.api.port}`])
  assert.deepEqual(complaints, [])
})
