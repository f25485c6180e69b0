import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorld } from '../../support/world.ts'
import { as, newAccountKey, refused, reportNames } from '../vocabulary.ts'

test('a key of an account below Starter is refused on every endpoint, for site keys and account keys', async (t) => {
  const world = await openWorld(t, { plan: 'Free' })
  const accountKey = await newAccountKey(world)
  for (const name of reportNames) {
    refused(await world.get(`/stats/${name}`), 403, 'plan_required')
    refused(await world.get(`/stats/${name}`, { site_id: world.siteId }, as(accountKey.text)), 403, 'plan_required')
  }
})

test('Starter and every plan above it have access', async (t) => {
  for (const plan of ['Starter', 'Growth', 'Scale', 'Agency'] as const)
    assert.equal((await (await openWorld(t, { plan })).get('/stats/overview')).status, 200)
})
