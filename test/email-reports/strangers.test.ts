// Everybody can send events, so paths, titles, referrers and names of events are texts of strangers. They never become markup, another line,
// another header, or text that reads backwards; and no letter becomes too large by them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGoal } from '../../src/accounts/goals.ts'
import type { Letter } from '../../src/mail/letter.ts'
import { type CountryCode, countryNames } from '../../src/traffic/country.ts'
import { openBrowser } from '../support/browser.ts'
import { custom, eventOf, type Hit, pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'
import { compose, siteOf } from './composing.ts'
import { readSiteHtml, readSiteText } from './letter-reading.ts'

const week = { interval: 'week', firstDay: '2026-03-02' } as const
const month = { interval: 'month', firstDay: '2026-03-01' } as const

const attacks = [
  '<script>window.hit=1</script>',
  '"><img src=x onerror=window.hit=1>',
  "' style='position:fixed;inset:0' onmouseover='window.hit=1",
  'a\r\nBcc: victim@example.com\r\n\r\n<h1>Hello</h1>',
  '\u202egnp.exe\u2066\u200b\u0000\u001b[31m\u2028\u2029\u0085x',
  '</td></table></body></html>&lt;&#60;',
]
/** What a person sees of each. */
const shown = [
  '<script>window.hit=1</script>',
  '"><img src=x onerror=window.hit=1>',
  "' style='position:fixed;inset:0' onmouseover='window.hit=1",
  'a Bcc: victim@example.com <h1>Hello</h1>',
  'gnp.exe [31m x',
  '</td></table></body></html>&lt;&#60;',
]

/** The n-th attack is seen n times less often than the first, so that lists have a known order. */
const hitsOf = (make: (text: string, at: string, visitor: string) => Hit): Hit[] =>
  attacks.flatMap((text, index) =>
    Array.from({ length: attacks.length - index }, (_, turn) =>
      make(text, `2026-03-04T12:0${index}:0${turn}Z`, `${index} ${turn}`),
    ),
  )

test('paths, titles, referrers and names of events are inert in both parts', { timeout: 600_000 }, async (t) => {
  const world = await openWorld(t)
  await world.record(
    ...hitsOf((text, at, visitor) =>
      pageview({ at, visitor, pathname: text, title: text, referrer: text, channel: 'Referral' }),
    ),
    ...hitsOf((text, at, visitor) =>
      custom(text, { at, visitor, pathname: text, referrer: text, channel: 'Referral' }),
    ),
  )
  const [script = ''] = attacks
  await createGoal(world.stores.postgres, world.siteId, { name: script, condition: { kind: 'event', event: script } })
  const site = await siteOf(world.stores, world.siteId)
  const { subject, text, html } = await compose(world.stores, { ...week, about: { site } })
  const read = readSiteHtml(html)
  assert.ok(typeof read === 'object')
  assert.deepEqual(readSiteText(text), read)
  for (const title of ['Pages', 'Sources', 'Custom events']) {
    const rows = read.lists[title] as readonly (readonly string[])[]
    assert.deepEqual(
      rows.map(([name]) => name),
      shown.slice(0, 5),
      title,
    )
  }
  // The script was sent by six of 21 visitors.
  assert.deepEqual(read.lists.Goals, [[script, '6', '28.6%']])
  // Line breaks of the letter are the only control characters, and no bidi or invisible character is left.
  for (const part of [subject, text.replaceAll('\n', ''), html.replaceAll('\n', '')])
    assert.doesNotMatch(part, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  assert.doesNotMatch(text, /^(Bcc|<h1)/m)

  const browser = await openBrowser()
  t.after(() => browser.close())
  const page = await browser.newPage()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  await page.setContent(html)
  const found = await page.evaluate(
    '({ hit: window.hit, elements: document.querySelectorAll("script,img,h1 ~ h1,[onerror],[onmouseover]").length, rows: document.querySelectorAll(".half").length })',
  )
  assert.deepEqual(found, { hit: undefined, elements: 0, rows: 5 })
  assert.deepEqual(requests, [])
})

test('names of sites and accounts are inert, also in the subject', async (t) => {
  const world = await openWorld(t)
  await world.record(pageview({ at: '2026-03-04T12:00:00Z' }))
  const known = await siteOf(world.stores, world.siteId)
  for (const [index, attack] of attacks.entries()) {
    const site = { ...known, domain: attack }
    for (const about of [{ site }, { account: attack, sites: [site] }]) {
      const { subject, text, html } = await compose(world.stores, { ...week, about })
      assert.equal(subject.split(': ').slice(0, -1).join(': '), shown[index])
      assert.doesNotMatch(subject, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      assert.equal(text.split('\n')[0], shown[index])
      assert.doesNotMatch(html, /<script|<img|onmouseover='|<h1>/)
      assert.equal(html.match(/<\/html>/g)?.length, 1)
      for (const [, href = ''] of html.matchAll(/href="([^"]*)"/g))
        assert.match(href, /^https:\/\/stats\.example(\/|$)/)
    }
  }
})

const maxBytes = 60_000

/** Of both parts together. */
const bytesOf = ({ text, html }: Letter): number => Buffer.byteLength(text) + Buffer.byteLength(html)

test('the largest report of a site has at most 60 kB in both parts', async (t) => {
  // All countries but five are excluded, and every text is as long as it may be, of the characters that take most room when escaped.
  const codes = Object.keys(countryNames) as CountryCode[]
  const kept: CountryCode[] = ['DE', 'HM', 'GS', 'UM', 'VC']
  const world = await openWorld(t, { excludedCountries: codes.filter((code) => !kept.includes(code)) })
  const many = Array.from({ length: 6 }, (_, index) => index)
  await world.record(
    ...many.flatMap((index) =>
      Array.from({ length: 28 }, (_, day) => {
        const at = `2026-03-${String(day + 1).padStart(2, '0')}T12:0${index}:00Z`
        const about = { at, visitor: `${index}`, country: kept[index % 5] as CountryCode, channel: 'Referral' } as const
        return [
          pageview({ ...about, pathname: `/${index}${'"'.repeat(1_990)}`, referrer: `${index}${'&'.repeat(240)}` }),
          custom(`${index}${'>'.repeat(118)}`, about),
        ]
      }).flat(),
    ),
  )
  const site = { ...(await siteOf(world.stores, world.siteId)), domain: longDomain(1) }
  for (const period of [week, month]) {
    const letter = await compose(world.stores, { ...period, about: { site }, lateMs: 9_000_000 })
    const bytes = bytesOf(letter)
    t.diagnostic(`${period.interval}: ${bytes} bytes`)
    const read = readSiteHtml(letter.html)
    assert.ok(typeof read === 'object' && read.lists.Pages?.length === 5 && read.lists['Custom events']?.length === 5)
    assert.ok(bytes <= maxBytes, `${bytes} bytes`)
  }
})

test('the largest report of an account has at most 60 kB in both parts', async (t) => {
  const world = await openWorld(t)
  const known = await siteOf(world.stores, world.siteId)
  const sites = Array.from({ length: 300 }, (_, index) => ({
    ...known,
    id: `${world.siteId} ${index}`,
    domain: longDomain(index),
  }))
  // Every site has fewer visitors than before, which takes more room than no change.
  await world.recordEvents(
    sites.flatMap(({ id }) => [
      eventOf({ at: '2026-03-04T12:00:00Z' }, id, 'UTC'),
      ...['a', 'b', 'c'].map((visitor) => eventOf({ at: '2026-02-14T12:00:00Z', visitor }, id, 'UTC')),
    ]),
  )
  const letter = await compose(world.stores, {
    ...{ ...month, about: { account: '"'.repeat(500), sites }, lateMs: 9_000_000 },
    publicUrl: 'https://statistics.a-company-with-a-long-name.example',
  })
  const bytes = bytesOf(letter)
  t.diagnostic(`${bytes} bytes`)
  assert.equal(letter.html.match(/range=custom/g)?.length, 35)
  assert.equal(letter.html.match(/▼ 66\.7%/g)?.length, 36)
  assert.ok(bytes <= maxBytes, `${bytes} bytes`)
})

/** 253 characters, the most that DNS allows. */
const longDomain = (number: number): string =>
  `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${String(number).padStart(53, 'd')}.example`
