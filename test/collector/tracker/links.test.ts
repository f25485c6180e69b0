// What the tracker records by itself if the tag says so: outbound links, downloads and error pages (decision D-216).
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openProfile } from './browser-profile.ts'
import { openRecordingSite, page, type RecordingSite, tag } from './recording-site.ts'

const all = 'data-track="outbound downloads 404"'

/** Every page has these links, and no request leaves this machine. */
async function openPage(t: TestContext, attributes: string, body: string): Promise<{ site: RecordingSite; tab: Page }> {
  const site = await openRecordingSite(t, (src) => ({ '*': page('Home', tag(src, attributes), body) }))
  const context = await openProfile(t)
  await context.route(/\.example/, (route) => route.fulfill({ contentType: 'text/html', body: 'Another site' }))
  const tab = await context.newPage()
  await tab.goto(`${site.origin}/`)
  await site.arrived(1)
  return { site, tab }
}

const recorded = ({ events }: RecordingSite) => events.slice(1).map(({ n, p }) => [n, p?.url])

test('a click on a link to another host is recorded without its query, and the browser follows it', async (t) => {
  const link = '<a href="https://user:word@Other.example:8443/a/b?token=secret#part"><b>Other</b></a>'
  const { site, tab } = await openPage(t, all, link)
  await tab.click('b')
  await tab.waitForURL('https://**other.example:8443/a/b?token=secret#part')
  await site.arrived(2)
  assert.deepEqual(recorded(site), [['Outbound Link', 'https://other.example:8443/a/b']])
  assert.doesNotMatch(JSON.stringify(site.events), /secret|word/)
  assert.equal(site.events[1]?.u, `${site.origin}/`)
})

test('the middle button and modified clicks open a tab and are recorded; the right button is not', async (t) => {
  const { site, tab } = await openPage(t, all, '<a href="https://other.example/">Other</a>')
  await tab.click('a', { button: 'middle' })
  await site.arrived(2)
  await tab.click('a', { modifiers: ['ControlOrMeta'] })
  await site.arrived(3)
  await tab.click('a', { modifiers: ['Shift'] })
  await site.arrived(4)
  await tab.click('a', { button: 'right' })
  await site.arrived(4)
  assert.equal(tab.url(), `${site.origin}/`)
  assert.deepEqual(recorded(site), Array(3).fill(['Outbound Link', 'https://other.example/']))
})

test('a link opened with the keyboard is recorded, and one whose click the page stops', async (t) => {
  const link = '<a href="https://other.example/" onclick="event.stopPropagation(); event.preventDefault()">Other</a>'
  const { site, tab } = await openPage(t, all, link)
  await tab.focus('a')
  await tab.keyboard.press('Enter')
  await site.arrived(2)
  await tab.click('a')
  await site.arrived(3)
  assert.deepEqual(recorded(site), Array(2).fill(['Outbound Link', 'https://other.example/']))
})

test('links in SVG images, in a shadow root and around one are found', async (t) => {
  const body = `<svg width="90" height="90"><a href="https://svg.example/x?q=1"><rect width="90" height="90"/></a></svg>
    <div id="inside"></div><a href="https://around.example/"><span id="around"></span></a>
    <script>
      const fill = (id, html) => { document.getElementById(id).attachShadow({ mode: 'open' }).innerHTML = html }
      fill('inside', '<a href="https://inside.example/" target="_blank"><b>Inside</b></a>')
      fill('around', '<b>Around</b>')
    </script>`
  const { site, tab } = await openPage(t, all, body)
  for (const [index, place] of ['rect', '#inside b', '#around b'].entries()) {
    await tab.click(place, { modifiers: ['ControlOrMeta'] })
    await site.arrived(index + 2)
  }
  assert.deepEqual(recorded(site), [
    ['Outbound Link', 'https://svg.example/x'],
    ['Outbound Link', 'https://inside.example/'],
    ['Outbound Link', 'https://around.example/'],
  ])
})

test('downloads are known by extension or by the attribute of the link, and count once even on another host', async (t) => {
  const links = [
    '/files/Price list.PDF?v=2',
    '/a.docx',
    'https://files.example/b.tar.gz',
    '/video.mp4#t=10',
    '/sheet.xlsx',
  ]
  const body = [...links.map((href) => `<a href="${href}">File</a>`), '<a href="/export?id=1" download>Export</a>']
  const { site, tab } = await openPage(t, all, body.join(' '))
  for (let index = 0; index < body.length; index++) {
    await tab
      .locator('a')
      .nth(index)
      .click({ modifiers: ['ControlOrMeta'] })
    await site.arrived(index + 2)
  }
  // The pages that the tabs show are views of their own.
  const files = recorded(site).filter(([name]) => name !== 'pageview')
  assert.deepEqual(
    files.map(([name, url]) => [name, String(url).replace(site.origin, '')]),
    [
      ['File Download', '/files/Price%20list.PDF'],
      ['File Download', '/a.docx'],
      ['File Download', 'https://files.example/b.tar.gz'],
      ['File Download', '/video.mp4'],
      ['File Download', '/sheet.xlsx'],
      ['File Download', '/export'],
    ],
  )
})

test('other links are not recorded: pages of the site, mail, scripts, files made by the page, invalid addresses', async (t) => {
  const hrefs = [
    '/about',
    '#part',
    'mailto:a@b.example',
    'tel:1',
    'javascript:void 0',
    'blob:https://x.example/1.pdf',
    'http://[',
    'app://open/x',
  ]
  const body = `${hrefs.map((href) => `<a href="${href}" onclick="event.preventDefault()">Link</a>`).join(' ')}
    <a>No address</a> <a href="data:text/plain,1" download onclick="event.preventDefault()">Data</a> <p>Text</p>`
  const { site, tab } = await openPage(t, all, body)
  const errors: unknown[] = []
  tab.on('pageerror', (error) => errors.push(error))
  for (const link of await tab.locator('a, p').all()) await link.click()
  await site.arrived(1)
  assert.deepEqual(site.seen(), ['pageview /'])
  assert.deepEqual(errors, [])
})

test('nothing of this is recorded by default, and only what the tag names', async (t) => {
  const body = `<meta name="footfall" content="404"><a href="https://other.example/">Other</a> <a href="/a.pdf">File</a>
    <a href="https://other.example/b.pdf">Both</a>`
  for (const [attributes, names] of [
    ['', []],
    ['data-track', []],
    ['data-track="outbound"', ['Outbound Link', 'Outbound Link']],
    ['data-track="downloads"', ['File Download', 'File Download']],
    ['data-track="404"', ['404']],
  ] as const) {
    const { site, tab } = await openPage(t, attributes, body)
    for (const link of await tab.locator('a').all()) {
      await link.evaluate((element) => element.setAttribute('onclick', 'event.preventDefault()'))
      await link.click()
    }
    await site.arrived(1 + names.length)
    assert.deepEqual(
      recorded(site).map(([name]) => name),
      names,
      attributes,
    )
  }
})

test('a page that says it is an error page is a view and a 404 with its path', async (t) => {
  const site = await openRecordingSite(t, (src) => ({
    '/found': page('Found', tag(src, all)),
    '*': page('Not found', `<meta name="footfall" content="404">${tag(src, all)}`),
  }))
  const tab = await (await openProfile(t)).newPage()
  await tab.goto(`${site.origin}/found`)
  await site.arrived(1)
  await tab.goto(`${site.origin}/old/page?token=secret`)
  await site.arrived(3)
  assert.deepEqual(site.seen().toSorted(), ['404 /old/page', 'pageview /found', 'pageview /old/page'])
  assert.deepEqual(site.events.find(({ n }) => n === '404')?.p, { path: '/old/page' })
})

test('a visitor with footfall_ignore set is not recorded by links either', async (t) => {
  const { site, tab } = await openPage(t, all, '<a href="https://other.example/">Other</a>')
  await tab.evaluate("localStorage.footfall_ignore = 'true'")
  await tab.click('a', { button: 'middle' })
  await site.arrived(1)
  assert.deepEqual(site.seen(), ['pageview /'])
})
