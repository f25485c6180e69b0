// Browser features: the back/forward cache and prerendering.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { chromium, type Page } from 'playwright-core'
import { chromiumFlags, chromiumPath } from '../../support/browser.ts'
import { openRecordingSite, tag } from './recording-site.ts'

test('a page restored from the back/forward cache is a new view', async (t) => {
  const site = await openRecordingSite(t, (src) => ({
    '/': `<!doctype html><title>Home</title>
      <script>addEventListener('pageshow', ({ persisted }) => { window.wasKept = persisted })</script>
      ${tag(src)}<a href="/about">About</a>`,
    '/about': `<!doctype html><title>About</title>${tag(src)}`,
  }))
  const tab = await openTabWithCache(t)
  await tab.goto(`${site.origin}/`, { referer: 'https://search.example/' })
  await site.arrived(1)
  await tab.click('a')
  await site.arrived(2)
  await tab.evaluate('history.back()')
  await site.arrived(3)
  assert.equal(await tab.evaluate('window.wasKept'), true) // otherwise this test proves nothing
  assert.deepEqual(site.seen(), ['pageview /', 'pageview /about', 'pageview /'])
  assert.deepEqual(
    site.events.map(({ r }) => r),
    ['https://search.example/', `${site.origin}/`, site.origin],
  )
})

test('clicks of a page that was left by a link and came back are recorded, each once', async (t) => {
  const attributes = 'data-track="outbound 404"'
  const site = await openRecordingSite(t, (src) => ({
    '/': `<!doctype html><title>Gone</title><meta name="footfall" content="404">
      <script>addEventListener('pageshow', ({ persisted }) => { window.wasKept = persisted })</script>
      ${tag(src, attributes)}<a href="http://localhost:1/">Out</a><i id="about"><a href="/about">About</a></i>`,
    '/about': `<!doctype html><title>About</title>${tag(src, attributes)}`,
  }))
  const tab = await openTabWithCache(t)
  await tab.route('http://localhost:1/', (route) => route.fulfill({ status: 204 })) // the browser stays where it is
  await tab.goto(`${site.origin}/`)
  await site.arrived(2)
  await tab.click('a')
  await site.arrived(3)
  await tab.click('#about a')
  await site.arrived(4)
  await tab.evaluate('history.back()')
  await site.arrived(5)
  assert.equal(await tab.evaluate('window.wasKept'), true)
  await tab.click('a')
  await site.arrived(6)
  // Going back to the error page counts as a page view. It is no second 404, because nobody followed a broken link again.
  const seen = ['pageview /', '404 /', 'Outbound Link /', 'pageview /about', 'pageview /', 'Outbound Link /']
  assert.deepEqual(site.seen().toSorted(), seen.toSorted())
})

test('a prerendered page is a view when it is shown, and never otherwise', async (t) => {
  const site = await openRecordingSite(t, (src) => ({
    '/': `<!doctype html><title>Home</title>
      <script type="speculationrules">{"prerender":[{"urls":["/next","/never"],"eagerness":"immediate"}]}</script>
      ${tag(src)}<script>setTimeout(() => { location.href = '/next' }, 3000)</script>`,
    '/next': `<!doctype html><title>Next</title>
      <script>window.footfall = { q: [['prerendering: ' + document.prerendering, { props: { a: 1 } }]] }</script>${tag(src)}`,
    '/never': `<!doctype html><title>Never</title>${tag(src)}`,
  }))
  runChromium(t, `${site.origin}/`)
  await site.arrived(1)
  assert.deepEqual(site.seen(), ['pageview /'])
  await site.arrived(3)
  assert.deepEqual(site.seen().toSorted(), ['pageview /', 'pageview /next', 'prerendering: true /next'])
  assert.deepEqual(site.events.find(({ n }) => n.startsWith('prerendering'))?.p, { a: 1 })
})

/** In a browser with a back/forward cache, which Playwright disables. */
async function openTabWithCache(t: TestContext): Promise<Page> {
  const ignoreDefaultArgs = ['--disable-back-forward-cache']
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: chromiumFlags, ignoreDefaultArgs })
  t.after(() => browser.close())
  return browser.newPage()
}

/** Without a debugger, because one disables prerendering. */
function runChromium(t: TestContext, address: string): void {
  const profile = mkdtempSync(join(tmpdir(), 'footfall-chromium-'))
  const flags = ['--headless', ...chromiumFlags, '--disable-dev-shm-usage', `--user-data-dir=${profile}`]
  // A process group of its own, so that its child processes end with it.
  const chromium = spawn(chromiumPath(), [...flags, address], { stdio: 'ignore', detached: true })
  const ended = once(chromium, 'exit')
  t.after(async () => {
    process.kill(-(chromium.pid as number), 'SIGKILL')
    await ended
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  })
}
