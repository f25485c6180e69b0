// Addresses of shared links that somebody has made up: they cost nobody anything.
import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import postgresJs from 'postgres'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { openLinkTokens } from '../../src/users/link-tokens.ts'
import { addSharedLink } from '../../src/users/shared-links.ts'
import { keySecrets, openStores } from '../support/stores.ts'
import { openConsole } from './console.ts'

const random = (bytes: number) => randomBytes(bytes).toString('base64url')
/** Of the form of new links and of older ones. */
const madeUp = [() => random(32) + random(6), () => random(32)]

const retired = { version: 99, secret: randomBytes(32) }

/** A link of today, one of the form that links had before, and one whose secret was removed from KEY_SECRETS. */
async function threeLinks(site: Site) {
  const { postgres } = await openStores()
  const share = async (secrets = keySecrets) => {
    const usual = { name: 'A link', expiresAt: null, passwordHash: null, isEmbeddable: true, filters: [] }
    return (await addSharedLink(postgres, secrets, { actor: 'maria@example.com' }, site, {
      ...usual,
      nonce: random(16),
    })) as string
  }
  const older = random(32)
  const replaced = await share()
  await postgres`
    UPDATE shared_links SET hash = ${hash('sha256', older, 'buffer')}, secret_version = NULL
    WHERE hash = ${hash('sha256', replaced, 'buffer')}`
  return { today: await share(), older, retired: await share([retired]), replaced }
}

test('strangers with made-up addresses close no link', async (t) => {
  const console = await openConsole(t)
  const { stores, siteId } = console
  const { replaced, ...links } = await threeLinks((await findSite(stores.postgres, siteId)) as Site)
  const stranger = console.stranger()
  for (const make of madeUp) {
    for (let index = 0; index < 60; index++) {
      const from = { 'X-Forwarded-For': `2001:db8:1:${index.toString(16)}::1` }
      assert.equal((await stranger.get(`/share/${make()}`, from)).status, 404)
    }
  }
  for (const [name, token] of Object.entries(links)) {
    const page = await console.stranger().get(`/share/${token}`, { 'X-Forwarded-For': '2001:db8:1:1::2' })
    assert.deepEqual([name, page.status], [name, 200])
  }
  assert.equal((await stranger.get(`/share/${replaced}`)).status, 404) // its checksum is right, but no link has it
})

test('a made-up address is refused without reading anything', async (t) => {
  const console = await openConsole(t)
  const { stores, siteId } = console
  const { today, older } = await threeLinks((await findSite(stores.postgres, siteId)) as Site)
  const read: string[] = []
  const counted = postgresJs(stores.addresses.postgres, {
    max: 1,
    debug: (_connection, query) => void read.push(query),
  })
  t.after(() => counted.end())
  await counted`SELECT 1`
  read.length = 0
  let now = 0
  const tokens = openLinkTokens(counted, keySecrets, () => now)
  assert.equal(await tokens.mayBeLink(today), true)
  assert.deepEqual(read, [])
  for (const make of madeUp)
    for (let index = 0; index < 100; index++) assert.equal(await tokens.mayBeLink(make()), false)
  assert.equal(await tokens.mayBeLink(older), true)
  for (const token of ['', 'x', `${today}x`, today.slice(1), `${older}%00`])
    assert.equal(await tokens.mayBeLink(token), false)
  assert.equal(read.length, 1) // the hashes of older links, once
  now += 60_000
  await Promise.all([tokens.mayBeLink(random(32)), tokens.mayBeLink(random(32))])
  assert.equal(read.length, 2)
})

test('the numbers of a widget may be kept for a minute', async (t) => {
  const console = await openConsole(t)
  const { today } = await threeLinks((await findSite(console.stores.postgres, console.siteId)) as Site)
  const { status, headers } = await console.stranger().get(`/share/${today}/widget.json`)
  assert.deepEqual(
    [status, headers.get('cache-control'), headers.get('vary')],
    [200, 'public, max-age=60', 'Accept-Encoding'],
  )
  const unknown = await console.stranger().get(`/share/${random(32)}/widget.json`)
  assert.deepEqual([unknown.status, unknown.headers.get('cache-control')], [404, 'no-store'])
})
