import { test } from 'node:test'
import { openWorld } from '../../support/world.ts'
import { as, newAccountKey, refused, reportNames } from '../vocabulary.ts'

test('an account key without site_id is refused on every endpoint', async (t) => {
  const world = await openWorld(t)
  const key = await newAccountKey(world)
  for (const name of reportNames) refused(await world.get(`/stats/${name}`, '', as(key.text)), 400, 'site_required')
})

test('an account key with an empty site_id is refused too, even when the account has only one site', async (t) => {
  const world = await openWorld(t)
  const key = await newAccountKey(world)
  for (const query of ['site_id=', 'site_id', 'site_id=&range=7d', 'Site_id=x'])
    refused(await world.get('/stats/overview', query, as(key.text)), 400, 'site_required')
})
