import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { listKeys } from '../../src/accounts/keys.ts'
import { openWorld, startApi } from '../support/world.ts'

test('the last use of a key is written in passing, with its latest time; a refused key has none', async (t) => {
  const world = await openWorld(t)
  const api = await startApi(world.stores, { lastUseMs: 200 })
  t.after(() => api.close())
  const lastUse = async () =>
    (await listKeys(world.stores.postgres)).find(({ id }) => id === world.key.id)?.lastUsedAt?.getTime()
  const ask = (key: string) => api.fetch('/api/v1/stats/devices', { headers: { Authorization: `Bearer ${key}` } })

  assert.equal(await lastUse(), undefined)
  await ask(`${world.key.text.slice(0, -1)}!`)
  await ask(world.key.text)
  const began = Date.now()
  await ask(world.key.text)
  while (((await lastUse()) ?? 0) < began) {
    assert.ok(Date.now() - began < 10_000, 'It was never written')
    await sleep(50)
  }
  const written = (await lastUse()) as number
  assert.ok(written >= began && written <= Date.now())
  await sleep(500)
  assert.equal(await lastUse(), written, 'without a use nothing is written')
})
