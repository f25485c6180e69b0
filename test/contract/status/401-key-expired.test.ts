import { test } from 'node:test'
import { openWorld } from '../../support/world.ts'
import { as, newSiteKey, noon, refused, reportNames } from '../vocabulary.ts'

test('a key past its expiry date is refused on every endpoint', async (t) => {
  const world = await openWorld(t, { now: noon })
  const key = await newSiteKey(world, new Date('2026-11-15T11:59:59.999Z'))
  for (const name of reportNames) refused(await world.get(`/stats/${name}`, '', as(key.text)), 401, 'key_expired')
})
