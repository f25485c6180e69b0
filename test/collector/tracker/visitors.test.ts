// From a browser to the responses of the nine reports: real pages, the real script, collector, shipper, ClickHouse and API.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Browser, chromium } from 'playwright-core'
import { countryFile } from '../../enrichment/country-file.ts'
import { chromiumFlags, chromiumPath } from '../../support/browser.ts'
import { browserAgent, startCollectorProcess } from '../../support/collector-process.ts'
import { openWorld } from '../../support/world.ts'
import { servePages } from './recording-site.ts'

const timeoutMs = 10_000

const phone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1'
const tablet = 'Mozilla/5.0 (Android 14; Tablet; rv:145.0) Gecko/145.0 Firefox/145.0'

/** In Germany, in France, and in no known country. */
const addressOf = { [browserAgent]: '203.0.113.10', [phone]: '198.51.100.20', [tablet]: '192.0.2.30' }

const pagesOf = (script: string, domain: string) => {
  const page = (title: string, before = '', body = '') =>
    `<!doctype html><html><head><title>${title}</title>${before}<script defer src="${script}" data-site="${domain}"></script></head><body>${body}</body></html>`
  return {
    '/': page('Home', '', '<a href="/about">About</a>'),
    '/about': page('About us', '', '<a href="/app">App</a>'),
    '/early': page('Early', "<script>window.footfall = { q: [['Early']] }</script>"),
    '/app': page(
      'App',
      `<script>
        const open = () => { document.title = location.pathname === '/app' ? 'App' : 'Page A' }
        addEventListener('popstate', open)
        const go = (path) => { history.pushState({}, '', path); open() }
      </script>`,
    ),
  }
}

test('three visitors in a browser are in the nine reports within 10 s, exactly', async (t) => {
  const world = await openWorld(t, { zone: zoneAtNoon() }) // no midnight during the test
  const collector = await startCollector(t, world.stores.addresses)
  const proxy = await startProxy(t, collector.url, addressOf)
  const port = await servePages(t, pagesOf(`${proxy}/js/footfall.js`, world.domain))
  const site = `http://${world.domain}:${port}`
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: [...chromiumFlags, `--host-resolver-rules=MAP ${world.domain} 127.0.0.1`],
  })
  t.after(() => browser.close())
  const began = Date.now()

  // From a search engine in Germany: links, an application, back, two events, a second tab, an event before the script has loaded.
  const anna = await openVisitor(browser, browserAgent)
  const tab = await anna.tab(`${site}/`, 'https://www.google.com/')
  await tab.click('a')
  await tab.waitForURL('**/about')
  await tab.click('a')
  await tab.waitForURL('**/app')
  await tab.waitForFunction('window.footfall?.isLoaded')
  await tab.evaluate("go('/app/a')")
  await pause(300)
  await tab.goBack()
  await pause(300)
  await tab.evaluate("footfall('Sign up')")
  await tab.evaluate("footfall('Sign up')")
  await anna.tab(`${site}/about`)
  await anna.tab(`${site}/early`)

  // From a newsletter in France, one page only.
  await (await openVisitor(browser, phone)).tab(`${site}/?utm_source=newsletter&utm_medium=email&token=secret`)

  // From a social network, from no known country.
  const chris = await (await openVisitor(browser, tablet)).tab(`${site}/about`, 'https://t.co/abc')
  await chris.evaluate("footfall('Sign up')")

  const ended = Date.now()
  const expected = {
    timeseries: [...Array<object>(6).fill({ visitors: 0, pageviews: 0 }), { visitors: 3, pageviews: 9 }],
    pages: [
      { pathname: '/about', title: 'About us', views: 3, visitors: 2 },
      { pathname: '/', title: 'Home', views: 2, visitors: 2 },
      { pathname: '/app', title: 'App', views: 2, visitors: 1 },
      { pathname: '/app/a', title: 'Page A', views: 1, visitors: 1 },
      { pathname: '/early', title: 'Early', views: 1, visitors: 1 },
    ],
    referrers: [
      { referrer: 'google.com', views: 7, visitors: 1 },
      { referrer: 't.co', views: 1, visitors: 1 },
    ],
    channels: [
      { channel: 'Email', visitors: 1, percentage: 33 },
      { channel: 'Organic Search', visitors: 1, percentage: 33 },
      { channel: 'Organic Social', visitors: 1, percentage: 33 },
    ],
    devices: [
      { name: 'Desktop', visitors: 1 },
      { name: 'Mobile', visitors: 1 },
      { name: 'Tablet', visitors: 1 },
    ],
    geo: [
      { name: 'France', visitors: 1 },
      { name: 'Germany', visitors: 1 },
      { name: 'Unknown', visitors: 1 },
    ],
    events: [
      { name: 'Sign up', count: 3, visitors: 2 },
      { name: 'Early', count: 1, visitors: 1 },
    ],
    utm: [{ name: 'newsletter', visitors: 1 }],
  }

  const answers = async () => {
    const all = ['overview', ...Object.keys(expected)].map(async (name) => [
      name,
      await world.data(`/stats/${name}`, { range: '7d' }),
    ])
    const { overview, timeseries, ...lists } = Object.fromEntries(await Promise.all(all))
    const days = timeseries.map(({ date: _, ...numbers }: { date: string }) => numbers)
    return { overview, lists: { timeseries: days, ...lists } }
  }
  let seen = await answers()
  while (
    Date.now() - ended < timeoutMs &&
    JSON.stringify(seen.lists) !== JSON.stringify(inOrderOf(seen.lists, expected))
  ) {
    await pause(100)
    seen = await answers()
  }
  t.diagnostic(`everything was there ${Date.now() - ended} ms after the last event`)
  assert.deepEqual(seen.lists, expected)
  // Read again: in the round that had all lists, the overview may have been read before the last event arrived.
  const { avg_duration, ...current } = (await answers()).overview.current
  assert.deepEqual(current, { visitors: 3, pageviews: 9, sessions: 3, bounce_rate: 33 })
  // Only the first visitor stayed: at least for the two pauses, at most for the whole test.
  assert.ok(avg_duration >= 0 && avg_duration <= (ended - began) / 1000 / 3 + 1, `${avg_duration} s`)
})

const inOrderOf = (model: object, values: object) =>
  Object.fromEntries(Object.keys(model).map((key) => [key, (values as Record<string, unknown>)[key]]))

/** The whole-hour zone in which it is about noon now. */
function zoneAtNoon(): string {
  const hours = 12 - new Date().getUTCHours()
  return hours === 0 ? 'UTC' : `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}` // the signs of these zones are inverted
}

/** With its own country file for documentation networks. */
async function startCollector(t: TestContext, { postgres, clickhouse }: { postgres: string; clickhouse: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-tracker-'))
  const file = join(folder, 'countries.mmdb')
  writeFileSync(
    file,
    countryFile([
      { network: '203.0.113.0/24', record: { country_code: 'DE' } },
      { network: '198.51.100.0/24', record: { country_code: 'FR' } },
    ]),
  )
  const environment = { COUNTRY_FILE: file, TRUSTED_PROXIES: '127.0.0.1' }
  const collector = await startCollectorProcess(
    { postgres, clickhouse },
    { environment, spoolFolder: join(folder, 'spool') },
  )
  t.after(async () => {
    await collector.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return collector
}

/** A proxy in front of the collector that names the client. Here all clients are on one machine, so the test sets the address. */
async function startProxy(
  t: TestContext,
  target: string,
  addresses: Readonly<Record<string, string>>,
): Promise<string> {
  const proxy = createServer(async (incoming, outgoing) => {
    const headers = { ...incoming.headers, 'x-forwarded-for': addresses[incoming.headers['user-agent'] ?? ''] ?? '' }
    const passedOn = request(target + incoming.url, { method: incoming.method ?? '', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passedOn.on('error', () => outgoing.destroy())
    incoming.pipe(passedOn)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

async function openVisitor(browser: Browser, userAgent: string) {
  // Chromium also sends a header that says whether it is on a phone.
  const context = await browser.newContext({ userAgent, isMobile: userAgent === phone })
  return {
    async tab(address: string, referer?: string) {
      const page = await context.newPage()
      await page.goto(address, referer === undefined ? {} : { referer })
      await page.waitForFunction('window.footfall?.isLoaded')
      return page
    },
  }
}
