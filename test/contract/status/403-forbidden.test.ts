import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorld } from '../../support/world.ts'
import { as, foreignSite, newAccountKey, newSite, rateLimitNames, refused, reportNames } from '../vocabulary.ts'

const malformed = (siteId: string) => [
  'x',
  'site_',
  siteId.toUpperCase(),
  `${siteId}a`,
  siteId.slice(0, -1),
  ` ${siteId}`,
  `${siteId}\n`,
  'site_0000000000000000',
  '..',
  '*',
  'null',
]

test('a site of another account is refused on every endpoint, with a site key and with an account key', async (t) => {
  const world = await openWorld(t)
  const site_id = await foreignSite(world.stores)
  const accountKey = await newAccountKey(world)
  for (const name of reportNames) {
    refused(await world.get(`/stats/${name}`, { site_id }), 403, 'forbidden')
    refused(await world.get(`/stats/${name}`, { site_id }, as(accountKey.text)), 403, 'forbidden')
  }
})

test('a site key has no access to another site of its own account', async (t) => {
  const world = await openWorld(t)
  refused(await world.get('/stats/overview', { site_id: await newSite(world) }), 403, 'forbidden')
})

test('a malformed site_id of any kind is forbidden', async (t) => {
  const world = await openWorld(t)
  const accountKey = await newAccountKey(world)
  for (const site_id of malformed(world.siteId)) {
    refused(await world.get('/stats/overview', { site_id }), 403, 'forbidden')
    refused(await world.get('/stats/overview', { site_id }, as(accountKey.text)), 403, 'forbidden')
  }
})

test('an undecodable site_id is malformed, not missing: forbidden with both kinds of key', async (t) => {
  const world = await openWorld(t)
  const accountKey = await newAccountKey(world)
  refused(await world.get('/stats/overview', 'site_id=%zz'), 403, 'forbidden')
  refused(await world.get('/stats/overview', 'site_id=%zz', as(accountKey.text)), 403, 'forbidden')
})

test('foreign, unknown and malformed sites get the same bytes and headers, so nobody can find sites by trying', async (t) => {
  const world = await openWorld(t)
  const accountKey = await newAccountKey(world)
  const ids = [await foreignSite(world.stores), 'site_aaaaaaaaaaaaaaaa', ...malformed(world.siteId)]
  for (const key of [world.key, accountKey]) {
    const seen = new Set<string>()
    for (const site_id of ids) {
      const { status, headers, text } = await world.get('/stats/overview', { site_id }, as(key.text))
      const own: string[] = [...rateLimitNames, 'x-request-id', 'date']
      seen.add(JSON.stringify([status, text, [...headers].filter(([name]) => !own.includes(name))]))
    }
    assert.equal(seen.size, 1)
  }
})
