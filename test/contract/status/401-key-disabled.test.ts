import { test } from 'node:test'
import { setKeyDisabled } from '../../../src/accounts/keys.ts'
import { openWorld } from '../../support/world.ts'
import { refused, reportNames } from '../vocabulary.ts'

test('a disabled key is refused on every endpoint', async (t) => {
  const world = await openWorld(t)
  await setKeyDisabled(world.stores.postgres, world.key.id, true)
  for (const name of reportNames) refused(await world.get(`/stats/${name}`), 401, 'key_disabled')
})
