import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite, findSite } from '../../src/accounts/sites.ts'
import { addMember } from '../../src/users/members.ts'
import { entriesOf, openConsole } from './console.ts'

const linksIn = (text: string): string[] =>
  Array.from(text.matchAll(/class="card site-card" href="\/sites\/([^/"]+)"/g), ([, domain]) => domain as string)

test('all sites of the user are found by a part of their name and sorted', async (t) => {
  const console = await openConsole(t)
  const { postgres } = console.stores
  const end = `${randomUUID()}.example`
  for (const name of ['b', 'a', 'c'])
    await createSite(postgres, { accountId: console.accountId, domain: `${name}.${end}` })
  const other = await console.addAccount()
  const visitor = await console.signedIn('viewer')

  const named = (await visitor.get(`/?q=${end.toUpperCase()}`)).text
  assert.deepEqual(linksIn(named), [`a.${end}`, `b.${end}`, `c.${end}`])
  assert.deepEqual(linksIn((await visitor.get(`/?q=${end}&sort=newest`)).text), [`c.${end}`, `a.${end}`, `b.${end}`])
  assert.ok(!(await visitor.get('/')).text.includes(other.domain))

  const none = (await visitor.get('/?q=%3Cscript%3E%22')).text
  assert.deepEqual(linksIn(none), [])
  assert.ok(none.includes('No site matches “&#60;script&#62;&#34;”'))
  assert.ok(!none.includes('<script>"'))
})

test('without sites an owner is asked to add one, and a viewer is told to wait', async (t) => {
  const console = await openConsole(t)
  const accountId = await createAccount(console.stores.postgres, { name: 'Empty', plan: 'Free' })
  const owner = await console.signedIn('owner', accountId)
  const viewer = await console.signedIn('viewer', accountId)
  const asked = (await owner.get('/')).text
  assert.match(asked, /Add your first site/)
  assert.ok(asked.includes(`href="/sites/new?account=${accountId}"`))
  const told = (await viewer.get('/')).text
  assert.match(told, /No sites yet/)
  assert.doesNotMatch(told, /sites\/new/)
})

test('an owner adds a site and comes to its snippet; the log says who did', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  const domain = `${randomUUID()}.example`
  const added = await owner.post('/sites/new', '/sites/new', {
    account: console.accountId,
    domain: ` https://${domain.toUpperCase()}/a/page?b=c `,
    zone: 'europe/berlin',
  })
  assert.deepEqual([added.status, added.headers.get('location')], [303, `/sites/${domain}/settings?saved=created`])
  const site = await findSite(console.stores.postgres, domain)
  assert.ok(site)
  assert.deepEqual(
    [site.accountId, site.timeZone, site.hostnames, site.allowSubdomains],
    [console.accountId, 'Europe/Berlin', [domain], false],
  )
  const page = (await owner.get(`/sites/${domain}/settings?saved=created`)).text
  assert.ok(page.indexOf('&#60;script defer src=') < page.indexOf('name="zone"'))
  assert.deepEqual(await entriesOf(console, domain), [
    [owner.email, 'site.created', `Europe/Berlin, ${domain}`, '127.0.0.0'],
  ])
})

test('a domain that any site has is refused with the same words, and what was typed stays', async (t) => {
  const console = await openConsole(t)
  const other = await console.addAccount()
  const owner = await console.signedIn('owner')
  const add = (fields: Record<string, string>) => owner.post('/sites/new', '/sites/new', fields)
  const own = await add({ domain: console.domain, zone: 'Asia/Tokyo' })
  const foreign = await add({ domain: other.domain, zone: 'Asia/Tokyo' })
  assert.deepEqual([own.status, foreign.status], [422, 422])
  assert.equal(foreign.text.replaceAll(other.domain, console.domain), own.text)
  assert.ok(own.text.includes(`value="${console.domain}"`) && own.text.includes('value="Asia/Tokyo"'))

  const unknown = `${randomUUID()}.example`
  for (const [domain, zone, wrong] of [
    [
      '<script>alert(1)</script>',
      'UTC',
      /&#60;script&#62;alert\(1\)&#60; is not a domain|&#60;script&#62;.* is not a domain/,
    ],
    ['example.com:8080', 'UTC', /is not a domain/],
    ['new', 'UTC', /cannot be the name of a site/],
    [`${'a'.repeat(260)}.example`, 'UTC', /is not a domain/],
    ['', 'UTC', /is not a domain/],
    ['control\x01character.example', 'UTC', /is not a domain/],
    [unknown, 'Mars/Olympus', /Mars\/Olympus is not a time zone/],
    [unknown, '+02:00', /is not a time zone/],
    [unknown, '<b>UTC</b>', /&#60;b&#62;UTC&#60;\/b&#62; is not a time zone/],
  ] as const) {
    const refused = await add({ domain, zone })
    assert.equal(refused.status, 422, domain)
    assert.match(refused.text, wrong)
    assert.ok(!refused.text.includes('<script>alert') && !refused.text.includes('<b>UTC'), domain)
  }
  assert.equal(await findSite(console.stores.postgres, unknown), undefined)
})

test('an owner of several accounts chooses one; a viewer cannot add a site to an account', async (t) => {
  const console = await openConsole(t)
  const owner = await console.signedIn('owner')
  const second = await createAccount(console.stores.postgres, { name: 'Second <b>', plan: 'Free' })
  const seen = await createAccount(console.stores.postgres, { name: 'Only seen', plan: 'Free' })
  await addMember(console.stores.postgres, second, owner.userId, 'owner')
  await addMember(console.stores.postgres, seen, owner.userId, 'viewer')
  const page = (await owner.get('/sites/new')).text
  assert.ok(page.includes('>Second &#60;b&#62;</option>') && !page.includes('Only seen'))

  const domain = `${randomUUID()}.example`
  const forbidden = await owner.post('/sites/new', '/sites/new', { account: seen, domain, zone: 'UTC' })
  assert.equal(forbidden.status, 403)
  const foreign = await console.addAccount()
  assert.equal(
    (await owner.post('/sites/new', '/sites/new', { account: foreign.accountId, domain, zone: 'UTC' })).status,
    404,
  )
  assert.equal(await findSite(console.stores.postgres, domain), undefined)
  assert.equal((await owner.post('/sites/new', '/sites/new', { account: second, domain, zone: 'UTC' })).status, 303)
  assert.equal((await findSite(console.stores.postgres, domain))?.accountId, second)

  const viewer = await console.signedIn('viewer')
  assert.equal((await viewer.get('/sites/new')).status, 403)
})
