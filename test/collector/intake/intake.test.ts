// Each step of the intake: what it adds to the event, and which hits it drops.
import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import type { Site } from '../../../src/accounts/sites.ts'
import { type Sources, takeIn } from '../../../src/collector/intake/intake.ts'
import { openMemorySessions } from '../../../src/collector/sessions/memory-sessions.ts'
import type { SpooledEvent } from '../../../src/collector/spool/spooled-event.ts'
import { browserAgent } from '../../support/collector-process.ts'

const site: Site = {
  id: 'site_aaaaaaaaaaaaaaaa',
  accountId: 'acct_aaaaaaaaaaaaaaaa',
  domain: 'example.com',
  timeZone: 'Asia/Kathmandu',
  hostnames: ['example.com', 'shop.example'],
  allowSubdomains: false,
  excludedCountries: [],
  goals: [],
  shard: 1,
  coverage: {
    versions: [],
    today: null,
    settledThrough: null,
    invalidations: 0,
    eventsFrom: '1970-01-01',
    imported: [],
  },
}

const sender = { ip: '193.0.6.139', userAgent: browserAgent, secChUaMobile: undefined }
const good = { n: 'pageview', u: 'https://example.com/a?b#c', d: 'example.com' }

/** Salts that differ by zone and day, and a clock that the test sets. */
function openSources(now = '2026-11-15T12:00:00Z') {
  const sessions = openMemorySessions()
  const clock = { at: Date.parse(now) }
  const sources: Sources = {
    siteOfDomain: async (domain) => (domain === site.domain ? site : undefined),
    countries: { countryOf: (ip) => (ip === sender.ip ? 'NL' : 'ZZ') },
    salts: { of: (zone, day) => createSecretKey(Buffer.from(`${zone} ${day}`)) },
    sessions,
    values: { ofEvent: () => undefined },
    limits: { takeOfSite: () => 0 },
    now: () => clock.at,
  }
  return { sources, clock, close: () => sessions.close() }
}

async function take(sent: unknown, from = sender): Promise<SpooledEvent | string> {
  const { sources, close } = openSources()
  try {
    return await takeIn(sent, from, sources)
  } finally {
    close()
  }
}

const eventOf = async (sent: object) => {
  const taken = await take({ ...good, ...sent })
  assert.ok(typeof taken !== 'string', `dropped: ${String(taken)}`)
  return taken.event
}

const dropped: [what: string, sent: unknown, reason: string][] = [
  ['a number', 7, 'not_an_object'],
  ['null', null, 'not_an_object'],
  ['a list in a list', [good], 'not_an_object'],
  ['no name', { u: good.u, d: good.d }, 'invalid_name'],
  ['a name that is a number', { ...good, n: 404 }, 'invalid_name'],
  ['a blank name', { ...good, n: ' ' }, 'invalid_name'],
  ['a name of 121 characters', { ...good, n: 'x'.repeat(121) }, 'invalid_name'],
  ['an engagement event', { ...good, n: 'engagement' }, 'no_page_event'],
  ['no address', { n: 'pageview', d: good.d }, 'invalid_url'],
  ['a path alone', { ...good, u: '/a' }, 'invalid_url'],
  ['a file', { ...good, u: 'file:///etc/passwd' }, 'invalid_url'],
  ['an address of 2,001 characters', { ...good, u: `https://example.com/${'a'.repeat(1981)}` }, 'invalid_url'],
  ['an id that is no UUID', { ...good, id: '1' }, 'invalid_id'],
  ['no domain', { n: good.n, u: good.u }, 'unknown_site'],
  ['a domain without a site', { ...good, d: 'other.example' }, 'unknown_site'],
  ['a domain with a NUL', { ...good, d: 'example.com\0' }, 'unknown_site'],
  ['a page of another site', { ...good, u: 'https://evil.example/' }, 'hostname_not_allowed'],
  ['a host that only ends like ours', { ...good, u: 'https://notexample.com/' }, 'hostname_not_allowed'],
  ['a subdomain that is not listed', { ...good, u: 'https://blog.example.com/' }, 'hostname_not_allowed'],
  ['www. of a subdomain', { ...good, u: 'https://www.blog.example.com/' }, 'hostname_not_allowed'],
  ['a spam referrer', { ...good, r: 'https://a.semalt.com/x' }, 'spam_referrer'],
]

for (const [what, sent, reason] of dropped) {
  test(`${what} is dropped as ${reason}`, async () => assert.equal(await take(sent), reason))
}

test('bots and senders without a user agent are dropped', async () => {
  for (const userAgent of ['', 'Googlebot/2.1 (+http://www.google.com/bot.html)', 'curl/8.5.0']) {
    assert.equal(await take(good, { ...sender, userAgent }), 'bot')
  }
})

test('subdomains count where the owner of the site allows them, and no others', async () => {
  const { sources, close } = openSources()
  const open: Sources = { ...sources, siteOfDomain: () => ({ ...site, allowSubdomains: true }) }
  const at = async (host: string, from: Sources, referrer = '') => {
    const taken = await takeIn({ ...good, u: `https://${host}/`, r: referrer }, sender, from)
    return typeof taken === 'string' ? taken : `${taken.event.hostname} ${taken.event.referrer}`
  }
  assert.equal(await at('www.example.com', sources, 'https://blog.example.com/'), 'www.example.com blog.example.com')
  assert.equal(await at('a.blog.example.com', open), 'a.blog.example.com blog.example.com') // the same session
  assert.equal(await at('notexample.com', open), 'hostname_not_allowed')
  assert.equal(await at('example.com.evil.example', open), 'hostname_not_allowed')
  close()
})

test('values exactly at the limits are accepted', async () => {
  assert.equal((await eventOf({ n: 'x'.repeat(120) })).name.length, 120)
  assert.equal((await eventOf({ u: `https://example.com/${'a'.repeat(1980)}` })).pathname.length, 1981)
})

test('fields have a short and a long name, and the long one wins', async () => {
  const event = await eventOf({
    name: 'Signup',
    url: 'https://WWW.Example.com:8443/Some/Path/?utm_source=News&utm_medium=e-mail&utm_term=a+b#x',
    domain: 'EXAMPLE.com',
    referrer: 'https://www.google.com/',
    title: ' A title ',
    props: { plan: 'pro', seats: 3 },
    revenue: { amount: '19.90', currency: 'eur' },
    id: '0193D8AA-0000-7000-8000-00000000000A',
  })
  assert.deepEqual(
    { ...event, visitorId: '', sessionId: '' },
    {
      siteId: site.id,
      day: '2026-11-15',
      time: Date.parse('2026-11-15T12:00:00Z'),
      visitorId: '',
      sessionId: '',
      eventId: '0193d8aa-0000-7000-8000-00000000000a',
      name: 'Signup',
      hostname: 'www.example.com',
      pathname: '/Some/Path/',
      title: 'A title',
      referrer: 'google.com',
      channel: 'Email', // with a source, a medium that names a channel counts more than the referrer (D-229)
      utmSource: 'News',
      campaign: { medium: 'e-mail', campaign: '', content: '', term: 'a b' },
      country: 'NL',
      device: 'Desktop',
      browser: 'Chrome',
      os: 'Linux',
      props: { plan: 'pro', seats: '3' },
      revenue: { amount: 1990, currency: 'EUR' },
    },
  )
})

test('malformed text is repaired, and a long title is cut', async () => {
  const event = await eventOf({ n: 'a\ud800b', t: `${'x'.repeat(499)}\ud83d\ude00` })
  assert.equal(event.name, 'a\ufffdb')
  assert.equal(event.title, `${'x'.repeat(499)}\ufffd`)
})

test("at the site's midnight a new visitor and a new session begin, also at +5:45 and when clocks change", async () => {
  const midnights = [
    ['Asia/Kathmandu', '2026-11-15T18:15:00Z'],
    ['Europe/Berlin', '2026-03-28T23:00:00Z'],
    ['Europe/Berlin', '2026-03-29T22:00:00Z'],
    ['Europe/Berlin', '2026-10-24T22:00:00Z'],
    ['Europe/Berlin', '2026-10-25T23:00:00Z'],
  ] as const
  for (const [timeZone, midnight] of midnights) {
    const { sources, clock, close } = openSources()
    const there: Sources = { ...sources, siteOfDomain: async () => ({ ...site, timeZone }) }
    const at = async (milliseconds: number) => {
      clock.at = Date.parse(midnight) + milliseconds
      return ((await takeIn(good, sender, there)) as SpooledEvent).event
    }
    const [early, before, after, later] = [await at(-60_000), await at(-1), await at(0), await at(60_000)]
    close()
    assert.equal(early.visitorId, before.visitorId)
    assert.equal(early.sessionId, before.sessionId)
    assert.notEqual(before.day, after.day, `${timeZone} ${midnight}`)
    assert.notEqual(before.visitorId, after.visitorId)
    assert.notEqual(before.sessionId, after.sessionId)
    assert.deepEqual([after.visitorId, after.sessionId], [later.visitorId, later.sessionId])
  }
})

test('a dependency that is down makes the intake throw, and no hit is dropped', async () => {
  const { sources, close } = openSources()
  const away = async () => {
    throw new Error('away')
  }
  await assert.rejects(async () => takeIn(good, sender, { ...sources, siteOfDomain: away }), /away/)
  await assert.rejects(async () => takeIn(good, sender, { ...sources, salts: { of: away } }), /away/)
  close()
})

test('properties and revenue have the names of other trackers too, and what cannot be recorded is named', async () => {
  for (const props of [{ p: { a: 'b' } }, { p: '{"a":"b"}' }, { m: { a: 'b' } }, { meta: { a: 'b' } }]) {
    assert.deepEqual((await eventOf(props)).props, { a: 'b' })
  }
  assert.deepEqual((await eventOf({ $: { amount: 5, currency: 'JPY' } })).revenue, { amount: 5, currency: 'JPY' })
  const { props, revenue } = await eventOf({ props: {}, revenue: { amount: '1.001', currency: 'EUR' } })
  assert.deepEqual([props, revenue], [undefined, undefined])

  const { sources, close } = openSources()
  const ignored: string[] = []
  const sent = { ...good, p: { 'bad key': 'x', good: 'y' }, $: { amount: -1, currency: 'EUR' } }
  await takeIn(sent, sender, sources, (fields) => ignored.push(...fields))
  close()
  assert.deepEqual(ignored, ['props.bad key', 'revenue'])
})

test('a session keeps all tags of its first hit, and browser and system follow from the user agent alone', async () => {
  const { sources, close } = openSources()
  const at = async (url: string, secChUaMobile?: string) =>
    ((await takeIn({ ...good, u: url }, { ...sender, secChUaMobile }, sources)) as SpooledEvent).event
  const tags = 'utm_medium=cpc&utm_campaign=Spring&utm_content=blue&utm_term=shoes'
  const first = await at(`https://example.com/?${tags}`)
  const second = await at('https://example.com/next?utm_campaign=Autumn')
  close()
  assert.deepEqual(first.campaign, { medium: 'cpc', campaign: 'Spring', content: 'blue', term: 'shoes' })
  assert.deepEqual(second.campaign, first.campaign)
  assert.deepEqual([second.browser, second.os], ['Chrome', 'Linux'])
})
