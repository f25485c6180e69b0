import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteKey, setKeyDisabled, setKeyExpiry } from '../../src/accounts/keys.ts'
import { pageview } from '../support/events.ts'
import { openWorld, type World } from '../support/world.ts'
import { as, codeOf, newAccountKey, newSite, newSiteKey, noon, refused } from './vocabulary.ts'

const ask = async (world: World, key = world.key) => codeOf(await world.get('/stats/overview', '', as(key.text)))

test('the owner disables a key and enables it again', async (t) => {
  const world = await openWorld(t)
  const { postgres } = world.stores
  const answers = [await ask(world)]
  for (const disabled of [true, false, true]) {
    await setKeyDisabled(postgres, world.key.id, disabled)
    world.api.directory.forget(world.key.id)
    answers.push(await ask(world))
  }
  assert.deepEqual(answers, ['ok', 'key_disabled', 'ok', 'key_disabled'])
})

test('a key expires exactly when now reaches the date, even if it was cached before', async (t) => {
  const world = await openWorld(t, { now: noon })
  const key = await newSiteKey(world, new Date('2026-11-15T13:00:00.500Z'))
  const answers: Record<string, string> = {}
  for (const now of ['12:00:00.000', '13:00:00.499', '13:00:00.500', '13:00:00.501']) {
    world.setNow(`2026-11-15T${now}Z`)
    answers[now] = await ask(world, key)
  }
  assert.deepEqual(answers, {
    '12:00:00.000': 'ok',
    '13:00:00.499': 'ok',
    '13:00:00.500': 'key_expired',
    '13:00:00.501': 'key_expired',
  })
})

test('an expired key is not deleted by its first use: it keeps returning key_expired', async (t) => {
  const world = await openWorld(t, { now: noon })
  const key = await newSiteKey(world, new Date('2026-11-01T00:00:00Z'))
  for (const now of [noon, noon, '2027-11-15T12:00:00Z', '2036-11-15T12:00:00Z']) {
    world.setNow(now)
    world.api.directory.forget(key.id)
    assert.equal(await ask(world, key), 'key_expired')
  }
})

test('a later expiry date, or none, makes an expired key valid again', async (t) => {
  const world = await openWorld(t, { now: noon })
  const key = await newSiteKey(world, new Date('2026-11-01T00:00:00Z'))
  assert.equal(await ask(world, key), 'key_expired')
  for (const date of [new Date('2026-12-01T00:00:00Z'), null]) {
    await setKeyExpiry(world.stores.postgres, key.id, date)
    world.api.directory.forget(key.id)
    assert.equal(await ask(world, key), 'ok')
  }
})

test('key_disabled is reported before key_expired; once enabled again, the key is still expired', async (t) => {
  const world = await openWorld(t, { now: noon })
  const key = await newSiteKey(world, new Date('2026-11-01T00:00:00Z'))
  await setKeyDisabled(world.stores.postgres, key.id, true)
  assert.equal(await ask(world, key), 'key_disabled')
  await setKeyDisabled(world.stores.postgres, key.id, false)
  world.api.directory.forget(key.id)
  assert.equal(await ask(world, key), 'key_expired')
})

test('a deleted key is unknown, whatever its state was', async (t) => {
  const world = await openWorld(t, { now: noon })
  const { postgres } = world.stores
  const expired = await newSiteKey(world, new Date('2026-11-01T00:00:00Z'))
  const disabled = await newSiteKey(world)
  await setKeyDisabled(postgres, disabled.id, true)
  for (const key of [world.key, expired, disabled]) {
    await ask(world, key)
    await deleteKey(postgres, key.id)
    world.api.directory.forget(key.id)
    refused(await world.get('/stats/overview', '', as(key.text)), 401, 'invalid_key')
  }
})

test('a site key of a deleted site is unknown; an account key loses access to that site', async (t) => {
  const world = await openWorld(t)
  const { postgres } = world.stores
  const accountKey = await newAccountKey(world)
  assert.equal(await ask(world), 'ok')
  assert.equal((await world.get('/stats/overview', { site_id: world.siteId }, as(accountKey.text))).status, 200)
  await postgres`DELETE FROM sites WHERE id = ${world.siteId}`
  for (const id of [world.siteId, world.key.id]) world.api.directory.forget(id)
  refused(await world.get('/stats/overview'), 401, 'invalid_key')
  refused(await world.get('/stats/overview', { site_id: world.siteId }, as(accountKey.text)), 403, 'forbidden')
})

test('disabling, expiring or deleting one key does not affect the other keys of the site', async (t) => {
  const world = await openWorld(t, { now: noon })
  const { postgres } = world.stores
  const [disabled, deleted] = [await newSiteKey(world), await newSiteKey(world)]
  await newSiteKey(world, new Date('2026-11-01T00:00:00Z'))
  await setKeyDisabled(postgres, disabled.id, true)
  await deleteKey(postgres, deleted.id)
  assert.equal(await ask(world), 'ok')
})

test('a site key reads its site without site_id and with its own site_id', async (t) => {
  const world = await openWorld(t, { now: noon })
  for (const query of ['', `site_id=${world.siteId}`]) {
    const { status, json } = await world.get('/stats/overview', query)
    assert.deepEqual([status, json.meta.site_id], [200, world.siteId])
  }
})

test('an account key reads every site of its account, each with its own numbers', async (t) => {
  const world = await openWorld(t, { now: noon })
  const key = await newAccountKey(world)
  const second = await newSite(world)
  await world.record(pageview({ at: '2026-11-14T10:00:00Z' }))
  const visitors = async (site_id: string) => {
    const { json } = await world.get('/stats/overview', { site_id }, as(key.text))
    return [json.meta.site_id, json.data.current.visitors]
  }
  assert.deepEqual(await visitors(world.siteId), [world.siteId, 1])
  assert.deepEqual(await visitors(second), [second, 0])
})

test('the Bearer scheme may be in any case, followed by any number of spaces', async (t) => {
  const { api, key } = await openWorld(t)
  for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR   ']) {
    const headers = { Authorization: `${scheme}${key.text}` }
    assert.equal((await api.fetch('/api/v1/stats/overview', { headers })).status, 200, scheme)
  }
})

test('a key in the URL gives no access, replaces no header key, and is never echoed', async (t) => {
  const world = await openWorld(t)
  const other = await newSiteKey(world)
  refused(await world.api.fetch(`/api/v1/stats/overview?api_key=${other.text}`), 401, 'unauthorized')
  const answer = await world.get('/stats/overview', { api_key: other.text })
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('stats-warning') ?? '', /\bapi_key\b/)
  assert.ok(!JSON.stringify([...answer.headers, answer.text]).includes(other.text))
})

test('the full key is shown at creation and stored nowhere', async (t) => {
  const { key, stores } = await openWorld(t)
  const [row] = await stores.postgres<{ stored: string; prefix: string }[]>`
    SELECT api_keys::text AS stored, prefix FROM api_keys WHERE id = ${key.id}`
  const secret = key.text.slice(row?.prefix.length)
  assert.ok(row && !row.stored.includes(secret) && !row.stored.includes(Buffer.from(key.text).toString('hex')))
})
