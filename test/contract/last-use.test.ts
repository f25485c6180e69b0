import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../src/accounts/ids.ts'
import { listKeys } from '../../src/accounts/keys.ts'
import { recordLastUse } from '../../src/accounts/last-use.ts'
import { openRequestPostgres } from '../../src/stores/request-postgres.ts'
import { eventually } from '../support/eventually.ts'
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

test('twenty thousand keys used in a minute are all written, within the bounds of a request', async (t) => {
  const keys = 20_000
  const world = await openWorld(t)
  const { postgres, addresses } = world.stores
  const [{ account_id: accountId }] = await postgres<[{ account_id: string }]>`
    SELECT account_id FROM api_keys WHERE id = ${world.key.id}`
  const ids = Array.from({ length: keys }, () => newId('key'))
  await postgres`
    INSERT INTO api_keys (id, account_id, name, prefix, hash, secret_version)
    SELECT id, ${accountId}, 'Many', 'ff_a_0000', sha256(id::bytea), 1
    FROM jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb) AS id`
  const requestPostgres = openRequestPostgres(addresses.postgres)
  const lastUse = recordLastUse(requestPostgres, 100)
  t.after(async () => {
    lastUse.close()
    await requestPostgres.close()
    await postgres`DELETE FROM accounts WHERE id = ${accountId}`
  })
  for (const id of ids) lastUse.note(id)
  await eventually(async () => {
    const [{ written }] = await postgres<[{ written: number }]>`
      SELECT count(*)::int AS written FROM api_keys WHERE account_id = ${accountId} AND last_used_at IS NOT NULL`
    assert.equal(written, keys)
  }, 30_000)
})
