import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { writeDroppedEvents } from '../../src/accounts/dropped-events.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { findSite, setHostnames } from '../../src/accounts/sites.ts'
import { sitesWithRows } from '../../src/erasure/rows.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { readTracker } from '../../src/tracker/script.ts'
import { trackerTag } from '../../src/tracker/tag.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf } from '../support/events.ts'
import { connect, createStores, disconnect, keySecrets, openStores } from '../support/stores.ts'
import { entriesOf, forgottenBy, mainOf, openConsole, type TestConsole } from './console.ts'

const recordOne = ({ stores, siteId }: TestConsole) =>
  recordBatch(stores.clickhouse, { id: randomUUID(), events: [eventOf({ at: '2026-03-14T10:00:00Z' }, siteId, 'UTC')] })

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

test('the settings show the tag of the command line, and when the first event has arrived', async (t) => {
  const console = await openConsole(t)
  const viewer = await console.signedIn('viewer')
  const settings = `/sites/${console.domain}/settings`
  const before = await viewer.get(settings)
  assert.ok(before.text.includes(escaped(trackerTag(console.url, console.domain, readTracker()).tag)))
  assert.match(before.text, /Waiting for the first event/)
  assert.match((await viewer.get(`${settings}/first-event`)).text, /Waiting for the first event/)

  await recordOne(console)
  const part = (await viewer.get(`${settings}/first-event`)).text
  assert.match(part, /data-done.*First event received/)
  assert.doesNotMatch(part, /<html|Check again/)
  assert.ok((await viewer.get(settings)).text.includes(part))
})

test('while the site waits, its last dropped hit is shown with the reason, and an owner may allow its host', async (t) => {
  const console = await openConsole(t)
  const { postgres } = console.stores
  const [owner, viewer] = [await console.signedIn('owner'), await console.signedIn('viewer')]
  const settings = `/sites/${console.domain}/settings`
  const part = async (visitor = owner) => (await visitor.get(`${settings}/first-event`)).text
  const drop = (hostname: string, reason = 'hostname_not_allowed', at = Date.now()) =>
    writeDroppedEvents(postgres, [{ siteId: console.siteId, eventId: randomUUID(), at, reason, hostname }])
  assert.doesNotMatch(await part(), /dropped/)
  await drop('old.example', 'hostname_not_allowed', Date.now() - 25 * 3_600_000)
  assert.doesNotMatch(await part(), /dropped/)
  await drop('<img src=x onerror=alert(1)>')
  assert.match(await part(), /Foreign host name: <b>&#60;img src=x onerror=alert\(1\)&#62;<\/b>/)
  assert.doesNotMatch(await part(), /<form|<img/)
  await drop('shop.example.com', 'spam_referrer')
  assert.match(await part(), /known for spam/)

  await drop('shop.example.com')
  assert.match(await part(viewer), /Foreign host name: <b>shop\.example\.com<\/b> is not one of/)
  assert.doesNotMatch(await part(viewer), /<form/)
  const [, hostnames] = /name="hostnames" value="([^"]+)"/.exec(await part()) ?? []
  assert.equal(hostnames, `${console.domain} shop.example.com`)
  const saved = await owner.post(settings, `${settings}/hostnames`, { hostnames: hostnames as string })
  assert.equal(saved.status, 303)
  assert.deepEqual((await findSite(postgres, console.domain))?.hostnames, [console.domain, 'shop.example.com'])
  assert.doesNotMatch(await part(), /dropped/)
})

test('a change of the time zone is checked, stored and recorded', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  const page = `/sites/${console.domain}/settings`
  await console.api.directory.site(console.siteId)
  const forgotten = forgottenBy(console)
  const saved = await owner.post(page, `${page}/time-zone`, { zone: 'Asia/Kathmandu' })
  assert.deepEqual([saved.status, saved.headers.get('location')], [303, `${page}?saved=time-zone`])
  assert.deepEqual(forgotten, [console.siteId])
  assert.equal((await console.api.directory.site(console.siteId))?.timeZone, 'Asia/Kathmandu')
  assert.equal((await owner.post(page, `${page}/time-zone`, { zone: 'asia/kathmandu' })).status, 303)

  const wrong = await owner.post(page, `${page}/time-zone`, { zone: 'Mars/<b>' })
  assert.equal(wrong.status, 422)
  assert.ok(wrong.text.includes('value="Mars/&#60;b&#62;"') && !wrong.text.includes('Mars/<b>'))
  assert.equal((await findSite(console.stores.postgres, console.domain))?.timeZone, 'Asia/Kathmandu')
  assert.deepEqual(await entriesOf(console, console.domain), [
    [owner.email, 'site.time_zone_changed', 'UTC → Asia/Kathmandu', '127.0.0.0'],
  ])
})

test('a change of the host names is checked, stored and recorded', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  const page = `/sites/${console.domain}/settings`
  const save = (hostnames: string, more: Record<string, string> = {}) =>
    owner.post(page, `${page}/hostnames`, { hostnames, ...more })
  const saved = await save('Shop.example\r\n\r\nhttps://münchen.example/\nshop.example', { subdomains: 'yes' })
  assert.equal(saved.status, 303)
  const site = await findSite(console.stores.postgres, console.domain)
  assert.deepEqual([site?.hostnames, site?.allowSubdomains], [['shop.example', 'xn--mnchen-3ya.example'], true])

  const many = Array.from({ length: 101 }, (_, index) => `h${index}.example`).join('\n')
  for (const [typed, wrong] of [
    ['<script>alert(1)</script>', /is not a domain/],
    ['', /at least one host name/],
    [many, /101 host names; a site has at most 100/],
  ] as const) {
    const refused = await save(typed)
    assert.equal(refused.status, 422)
    assert.match(refused.text, wrong)
    assert.ok(refused.text.includes(`>\n${escaped(typed)}</textarea>`))
    assert.doesNotMatch(refused.text, /<script>alert/)
  }
  assert.equal((await save('x'.repeat(70_000))).status, 413)
  assert.deepEqual((await findSite(console.stores.postgres, console.domain))?.hostnames, site?.hostnames)
  assert.deepEqual(await entriesOf(console, console.domain), [
    [
      owner.email,
      'site.hostnames_changed',
      `${console.domain} → shop.example, xn--mnchen-3ya.example and their subdomains`,
      '127.0.0.0',
    ],
  ])
})

test('script in a stored host name stays text', async (t) => {
  const console = await openConsole(t)
  await setHostnames(console.stores.postgres, console.siteId, {
    hostnames: ['</textarea><script>alert(1)</script>'],
    allowSubdomains: false,
  })
  for (const role of ['owner', 'viewer'] as const) {
    const { text } = await (await console.signedIn(role)).get(`/sites/${console.domain}/settings`)
    assert.ok(text.includes('&#60;script&#62;alert(1)') && !text.includes('<script>alert'))
  }
})

test('a viewer sees the settings without forms, and cannot change them', async (t) => {
  const console = await openConsole(t)
  const viewer = await console.signedIn('viewer')
  const page = `/sites/${console.domain}/settings`
  const text = mainOf(await viewer.get(page))
  assert.doesNotMatch(text, /<form|<input|<textarea/)
  assert.ok(text.includes('Time zone') && text.includes('UTC') && text.includes(console.siteId))
  // The page has no token, so take one from a page that has.
  for (const [action, fields] of [
    ['time-zone', { zone: 'Asia/Tokyo' }],
    ['hostnames', { hostnames: 'evil.example' }],
    ['delete', { confirm: console.domain }],
  ] as const) {
    assert.equal((await viewer.post('/account', `${page}/${action}`, fields)).status, 403, action)
  }
  const site = await findSite(console.stores.postgres, console.domain)
  assert.deepEqual([site?.timeZone, site?.hostnames], ['UTC', [console.domain]])
  assert.deepEqual(await entriesOf(console, console.domain), [])
})

test('a site is deleted by its typed name: keys end at once, no row is left, and its owners see the progress', async (t) => {
  // Databases of its own: a deletion goes through every part of a table, and waits only five seconds for it.
  const created = await createStores()
  const stores = connect(created.addresses)
  const console = await openConsole(t, { stores })
  t.after(async () => {
    await disconnect(stores)
    await created.remove()
  })
  const { postgres, clickhouse } = console.stores
  const { accountId, siteId, domain } = console
  const key = await createKey(postgres, keySecrets, { accountId, siteId, name: 'A key' })
  const ask = () =>
    console.api.fetch('/api/v1/stats/overview?range=7d', { headers: { Authorization: `Bearer ${key.text}` } })
  await recordOne(console)
  assert.equal((await ask()).status, 200)
  const owner = await console.signedIn('owner')
  const page = `/sites/${domain}/settings`

  for (const confirm of ['', 'another.example', `${domain}.`]) {
    const refused = await owner.post(page, `${page}/delete`, { confirm })
    assert.equal(refused.status, 422)
    assert.match(refused.text, /Nothing was deleted/)
  }
  assert.ok(await findSite(postgres, domain))
  assert.equal((await ask()).status, 200)

  const forgotten = forgottenBy(console)
  const deleted = await owner.post(page, `${page}/delete`, { confirm: domain })
  assert.deepEqual(forgotten, [siteId, accountId])
  assert.deepEqual([deleted.status, deleted.headers.get('location')], [303, '/deletions'])
  assert.equal((await ask()).json.error.code, 'invalid_key')
  assert.equal(await findSite(postgres, domain), undefined)
  assert.deepEqual(await sitesWithRows(clickhouse, [siteId]), [])
  assert.equal((await owner.get(page)).status, 404)
  assert.deepEqual(await entriesOf(console, domain), [[owner.email, 'site.deleted', siteId, '127.0.0.0']])

  const [job] = await postgres<{ erased: boolean }[]>`
    SELECT erased_at IS NOT NULL AS erased FROM deleted_sites WHERE id = ${siteId} AND account_id = ${accountId}`
  assert.deepEqual(job, { erased: true })
  assert.ok((await owner.get('/deletions')).text.includes(`>${domain}</th>`))
  assert.match((await owner.get('/')).text, /One deleted site is being erased/)
  const other = await console.addAccount()
  for (const stranger of [await console.signedIn('viewer'), await console.signedIn('owner', other.accountId)]) {
    assert.ok(!(await stranger.get('/deletions')).text.includes(domain))
    assert.doesNotMatch((await stranger.get('/')).text, /being erased/)
  }
})

test('while ClickHouse does not answer, settings are changed and sites deleted; the erasure waits', async (t) => {
  const stores = await openStores()
  const clickhouse = openClickHouse('http://127.0.0.1:1/nothing')
  t.after(() => clickhouse.close())
  const console = await openConsole(t, { stores: { ...stores, clickhouse } })
  const owner = await console.signedIn('owner')
  const page = `/sites/${console.domain}/settings`
  assert.match((await owner.get(page)).text, /Cannot tell right now/)
  const exclusions = `${page}/exclusions`
  assert.match((await owner.get(exclusions)).text, /The numbers cannot be read right now/)
  assert.equal((await owner.post(exclusions, exclusions, { country: 'FR' })).status, 303)
  assert.deepEqual((await findSite(stores.postgres, console.domain))?.excludedCountries, ['FR'])
  assert.equal((await owner.post(page, `${page}/delete`, { confirm: console.domain })).status, 303)
  assert.match((await owner.get('/deletions')).text, /in a minute/)
})
