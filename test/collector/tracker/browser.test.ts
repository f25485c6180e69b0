import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readTracker } from '../../../src/tracker/script.ts'
import { chromiumFlags, openBrowser } from '../../support/browser.ts'
import { openProfile } from './browser-profile.ts'
import { openRecordingSite, type Pages, page, queue, tag } from './recording-site.ts'

const twoPages = (src: string, attributes = ''): Pages => ({
  '/': page('Home', tag(src, attributes), '<a href="/about">About</a>'),
  '/about': page('About us', tag(src, attributes), '<a href="/">Home</a>'),
})

test('a page view has page, site, referrer, title and id, and needs no preflight and no cookie', async (t) => {
  const site = await openRecordingSite(t, twoPages)
  const context = await openProfile(t)
  await context.addCookies([{ name: 'secret', value: '1', url: site.scriptUrl }])
  const tab = await context.newPage()
  await tab.goto(`${site.origin}/?utm_source=news&token=secret&utm_content=a&utm_term=b&gclid=1#part`, {
    referer: 'https://search.example/',
  })
  const [view] = await site.arrived(1)
  assert.deepEqual(
    { ...view, id: '' },
    {
      n: 'pageview',
      u: `${site.origin}/?utm_source=news&utm_content=a&utm_term=b&gclid=1`,
      d: 'site.example',
      r: 'https://search.example/',
      t: 'Home',
      id: '',
    },
  )
  assert.match(view?.id ?? '', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.deepEqual(site.requests, [
    { contentType: 'text/plain;charset=UTF-8', cookie: undefined, preflight: false, id: view?.id },
  ])
  assert.deepEqual(await context.cookies(site.origin), [])
  assert.equal(await tab.evaluate('localStorage.length + sessionStorage.length'), 0)
})

test('links, reloads and a second tab each count as one view', async (t) => {
  const site = await openRecordingSite(t, twoPages)
  const context = await openProfile(t)
  const tab = await context.newPage()
  await tab.goto(`${site.origin}/`)
  await tab.click('a')
  await tab.waitForURL('**/about')
  await tab.reload()
  const other = await context.newPage()
  await other.goto(`${site.origin}/about`)
  await site.arrived(4)
  assert.deepEqual(site.seen(), ['pageview /', 'pageview /about', 'pageview /about', 'pageview /about'])
  assert.equal(new Set(site.events.map(({ id }) => id)).size, 4)
})

const application = (src: string): Pages => ({
  '*': page(
    'Start',
    `${tag(src)}<script>
      function go(path, title) {
        history.pushState({}, '', path)
        setTimeout(() => { document.title = title }, 20) // after the URL changes, as applications do
      }
    </script>`,
  ),
})

test('in a single-page application every change of path is a view, with the title that was set after it', async (t) => {
  const site = await openRecordingSite(t, application)
  const tab = await (await openProfile(t)).newPage()
  await tab.goto(`${site.origin}/`, { referer: 'https://search.example/' })
  await site.arrived(1)
  await tab.evaluate("go('/a', 'Page A')")
  await site.arrived(2)
  await tab.evaluate("go('/a?tab=2', 'Page A')") // another query string is not another page
  await tab.evaluate("history.replaceState({}, '', '/a#part')")
  await tab.evaluate("go('/b', 'Page B')")
  await site.arrived(3)
  await tab.evaluate("history.replaceState({}, '', '/c')")
  await site.arrived(4)
  await tab.goBack() // to /a?tab=2, whose fragment was replaced, not its path
  await site.arrived(5)
  assert.deepEqual(
    site.events.map(({ u, t: title, r }) => [new URL(u).pathname, title, r]),
    [
      ['/', 'Start', 'https://search.example/'],
      ['/a', 'Page A', site.origin],
      ['/b', 'Page B', site.origin],
      ['/c', 'Page B', site.origin],
      ['/a', 'Page B', site.origin],
    ],
  )
})

test('a view that is left before its title is set counts without a title', async (t) => {
  const site = await openRecordingSite(t, application)
  const tab = await (await openProfile(t)).newPage()
  // On a busy machine the browser may need longer to leave a page than the tracker waits for a title.
  await tab.addInitScript('const set = setTimeout; setTimeout = (run, ms, ...rest) => set(run, ms * 20, ...rest)')
  await tab.goto(`${site.origin}/`)
  await site.arrived(1)
  await tab.evaluate("go('/a', 'Page A'); go('/b', 'Page B')")
  await site.arrived(3)
  await tab.evaluate("history.pushState({}, '', '/c'); location.href = '/d'")
  await site.arrived(5)
  assert.deepEqual(
    site.events.map(({ u, t: title }) => [new URL(u).pathname, title]).sort(), // sent at the same time, so they may arrive in any order
    [
      ['/', 'Start'],
      ['/a', ''],
      ['/b', 'Page B'],
      ['/c', ''],
      ['/d', 'Start'],
    ],
  )
})

test('with data-hash the part after # is a page; without it, it is not', async (t) => {
  const hashed = await openRecordingSite(t, (src) => ({ '*': page('App', tag(src, 'data-hash')) }))
  const plain = await openRecordingSite(t, application)
  const tab = await (await openProfile(t)).newPage()
  for (const site of [hashed, plain]) {
    await tab.goto(`${site.origin}/app/?utm_source=news#/start`)
    await site.arrived(1)
    await tab.evaluate("location.hash = '#/settings/keys'")
    await site.arrived(site === hashed ? 2 : 1)
    await tab.evaluate("location.hash = ''")
    await site.arrived(site === hashed ? 3 : 1)
  }
  assert.deepEqual(hashed.seen(), ['pageview /app/start', 'pageview /app/settings/keys', 'pageview /app/'])
  assert.equal(new URL(hashed.events[0]?.u ?? '').search, '?utm_source=news')
  assert.deepEqual(plain.seen(), ['pageview /app/'])
})

test('custom events before and after the script loads are counted, after the view of their page', async (t) => {
  const site = await openRecordingSite(t, (src) => ({
    '/': page('Home', `${queue}<script>footfall('early'); footfall('404')</script>${tag(src)}`),
  }))
  const tab = await (await openProfile(t)).newPage()
  await tab.goto(`${site.origin}/`, { referer: 'https://search.example/' })
  await site.arrived(3)
  await tab.evaluate("footfall('Sign up')")
  await tab.evaluate('footfall(404)')
  await site.arrived(5)
  assert.deepEqual(site.seen().toSorted(), ['404 /', '404 /', 'Sign up /', 'early /', 'pageview /'])
  // The session is the same whichever event arrives first.
  assert.deepEqual([...new Set(site.events.map(({ r }) => r))], ['https://search.example/'])
})

test('an event sent while the page is left arrives', async (t) => {
  const site = await openRecordingSite(t, (src) => ({
    '/': page('Home', tag(src), '<a href="/away" onclick="footfall(\'Left\')">Away</a>'),
    '/away': page('Away', ''),
  }))
  const tab = await (await openProfile(t)).newPage()
  await tab.goto(`${site.origin}/`)
  await site.arrived(1)
  await tab.click('a')
  await site.arrived(2)
  assert.deepEqual(site.seen(), ['pageview /', 'Left /'])
})

test('a visitor with footfall_ignore set is not counted', async (t) => {
  const site = await openRecordingSite(t, twoPages)
  const tab = await (await openProfile(t)).newPage()
  await tab.goto(`${site.origin}/`)
  await site.arrived(1)
  await tab.evaluate("localStorage.footfall_ignore = 'true'")
  await tab.evaluate("footfall('Ignored')")
  await tab.goto(`${site.origin}/about`)
  await tab.evaluate("localStorage.footfall_ignore = 'false'")
  await tab.evaluate("footfall('Back')")
  await site.arrived(2)
  assert.deepEqual(site.seen(), ['pageview /', 'Back /about'])
})

test('an attempt with a server error is repeated with the same id; a refused event is not', async (t) => {
  const site = await openRecordingSite(t, twoPages)
  const tab = await (await openProfile(t)).newPage()
  site.answer(503, 202, 400)
  await tab.goto(`${site.origin}/`)
  await site.arrived(1)
  assert.deepEqual(
    site.requests.map(({ id }) => id),
    [site.events[0]?.id, site.events[0]?.id],
  )
  await tab.evaluate("footfall('Bad')")
  await site.arrived(2)
  await tab.waitForTimeout(1_500)
  assert.equal(site.requests.length, 3)
})

test('an event over a limit is not sent again, even with Retry-After', async (t) => {
  const site = await openRecordingSite(t, twoPages)
  const tab = await (await openProfile(t)).newPage()
  site.answer(429)
  await tab.goto(`${site.origin}/`)
  await site.arrived(1)
  await tab.waitForTimeout(1_500) // a repetition would come after one second
  assert.equal(site.requests.length, 1)
})

test('a script included twice counts once, and the configured endpoint and site are used', async (t) => {
  const site = await openRecordingSite(t, (src) => {
    const elsewhere = src.replace('/js/footfall.js', '/api/event')
    return {
      '/': page('Home', tag(src) + tag(src)),
      '/other': page(
        'Other',
        `<script defer src="${src}" data-domain="other.example" data-endpoint="${elsewhere}?x=1"></script>`,
      ),
      '/bare': page('Bare', `<script defer src="${src}"></script>`),
    }
  })
  const tab = await (await openProfile(t)).newPage()
  await tab.goto(`${site.origin}/`)
  await site.arrived(1)
  await tab.goto(`${site.origin}/other`)
  await site.arrived(2)
  await tab.goto(`${site.origin}/bare`)
  await site.arrived(3)
  assert.deepEqual(site.seen(), ['pageview /', 'pageview /other', 'pageview /bare'])
  assert.deepEqual(
    site.events.map(({ d }) => d),
    ['site.example', 'other.example', '127.0.0.1'],
  )
})

test('a browser runs the script with its integrity hash and refuses a changed one', async (t) => {
  const { integrity, version } = readTracker()
  const wrong = `sha384-${'A'.repeat(64)}`
  const site = await openRecordingSite(t, (src) => {
    const versioned = src.replace('footfall.js', `footfall-${version}.js`)
    return {
      '/right': page('Right', tag(versioned, `integrity="${integrity}" crossorigin="anonymous"`)),
      '/wrong': page('Wrong', tag(versioned, `integrity="${wrong}" crossorigin="anonymous"`)),
    }
  })
  const tab = await (await openProfile(t)).newPage()
  await tab.goto(`${site.origin}/wrong`)
  await tab.goto(`${site.origin}/right`)
  await site.arrived(1)
  assert.deepEqual(site.seen(), ['pageview /right'])
})

test('a browser that a program steers is not counted', async (t) => {
  const site = await openRecordingSite(t, twoPages)
  const browser = await openBrowser({ args: chromiumFlags.filter((flag) => !flag.includes('AutomationControlled')) })
  t.after(() => browser.close())
  const tab = await browser.newPage()
  const said: string[] = []
  tab.on('console', (message) => message.type() === 'info' && said.push(message.text()))
  await tab.goto(`${site.origin}/`)
  assert.equal(await tab.evaluate('navigator.webdriver'), true)
  assert.deepEqual([await site.arrived(0), said], [[], []])
  await tab.goto(`${site.origin}/?debug`)
  assert.deepEqual([await site.arrived(0), said], [[], ['Footfall: not counted: webdriver']])
})

test('with ?debug or on localhost, and only then, the console says what became of an event', async (t) => {
  const site = await openRecordingSite(t, twoPages)
  site.says('not counted: the host of this page is not one of the site')
  const context = await openProfile(t)
  const tab = await context.newPage()
  const said: string[] = []
  tab.on('console', (message) => message.type() === 'info' && said.push(message.text()))
  await tab.goto(`${site.origin}/?a=debug`)
  await site.arrived(1)
  assert.deepEqual([site.queries, said], [[undefined], []])
  await tab.goto(`${site.origin}/?debug`)
  await site.arrived(2)
  await tab.goto(site.origin.replace('127.0.0.1', 'localhost'))
  await site.arrived(3)
  assert.deepEqual(site.queries, [undefined, 'debug=text', 'debug=text'])
  const sentence = 'Footfall: not counted: the host of this page is not one of the site'
  assert.deepEqual(said, [sentence, sentence])
  await tab.evaluate("localStorage.footfall_ignore = 'true'; footfall('Sign up')")
  assert.equal((await site.arrived(3)).length, 3)
  assert.equal(said.at(-1), 'Footfall: not counted: ignore')
})

test('the line of docs/tracker.md keeps browsers out that send Global Privacy Control or Do Not Track', async (t) => {
  const documents = readFileSync(new URL('../../../docs/tracker.md', import.meta.url), 'utf8')
  const [line] = /^<script>.*globalPrivacyControl.*<\/script>$/m.exec(documents) ?? ['']
  const site = await openRecordingSite(t, (src) => ({
    '/': page('Home', line + tag(src)),
    '/counts': page('Counts', tag(src)),
  }))
  for (const signal of ['globalPrivacyControl: { value: true }', "doNotTrack: { value: '1' }"]) {
    const context = await openProfile(t)
    await context.addInitScript(`Object.defineProperties(navigator, { ${signal} })`)
    const tab = await context.newPage()
    await tab.goto(`${site.origin}/`)
    await tab.evaluate("footfall('Sign up')")
    await tab.goto(`${site.origin}/counts`) // without the line, these browsers count
  }
  const plain = await (await openProfile(t)).newPage()
  await plain.goto(`${site.origin}/`)
  await site.arrived(3)
  assert.deepEqual(site.seen(), ['pageview /counts', 'pageview /counts', 'pageview /'])
})
