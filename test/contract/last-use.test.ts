import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../src/accounts/ids.ts'
import { createKey, deleteKey, listKeys } from '../../src/accounts/keys.ts'
import { readUsage, recordLastUse } from '../../src/accounts/last-use.ts'
import { openRequestPostgres } from '../../src/stores/request-postgres.ts'
import { eventually } from '../support/eventually.ts'
import { keySecrets } from '../support/stores.ts'
import { openWorld, startApi } from '../support/world.ts'

test('the last use of a key is written in the background with its latest time; a refused key has none', async (t) => {
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
    assert.ok(Date.now() - began < 10_000, 'the last use was never written')
    await sleep(50)
  }
  const written = (await lastUse()) as number
  assert.ok(written >= began && written <= Date.now())
  await sleep(500)
  assert.equal(await lastUse(), written, 'nothing is written when the key is not used')
})

test('the last use of 20,000 keys within a minute is written within the time limits of requests', async (t) => {
  const keys = 20_000
  const world = await openWorld(t)
  const { postgres, addresses } = world.stores
  const [{ account_id: accountId }] = await postgres<[{ account_id: string }]>`
    SELECT account_id FROM api_keys WHERE id = ${world.key.id}`
  const ids = Array.from({ length: keys }, () => newId('key'))
  // Without triggers, which count each key as a change: that took 19 s of CPU for the keys, and as long to delete them.
  await postgres.begin(async (transaction) => {
    await transaction`SET LOCAL session_replication_role = replica`
    await transaction`
      INSERT INTO api_keys (id, account_id, name, prefix, hash, secret_version)
      SELECT id, ${accountId}, 'Many', 'ff_a_0000', sha256(id::bytea), 1
      FROM jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb) AS id`
  })
  const requestPostgres = openRequestPostgres(addresses.postgres)
  const lastUse = recordLastUse(requestPostgres, 100)
  t.after(async () => {
    await lastUse.close()
    await requestPostgres.close()
    await postgres.begin(async (transaction) => {
      await transaction`SET LOCAL session_replication_role = replica`
      await transaction`DELETE FROM key_usage USING api_keys WHERE id = key_id AND account_id = ${accountId}`
      await transaction`DELETE FROM api_keys WHERE account_id = ${accountId}`
    })
  })
  for (const id of ids) lastUse.note(id)
  await eventually(async () => {
    const [{ written }] = await postgres<[{ written: number }]>`
      SELECT count(*)::int AS written FROM api_keys WHERE account_id = ${accountId} AND last_used_at IS NOT NULL`
    assert.equal(written, keys)
    const [{ counted }] = await postgres<[{ counted: number }]>`
      SELECT count(*)::int AS counted FROM key_usage JOIN api_keys ON id = key_id WHERE account_id = ${accountId}`
    assert.equal(counted, keys)
  }, 30_000)
})

test('requests are counted by key and hour, across processes and hours, and what is left is written at the end', async (t) => {
  const world = await openWorld(t)
  const { postgres } = world.stores
  const other = await createKey(postgres, keySecrets, { accountId: world.accountId, name: 'Other' })
  const deleted = await createKey(postgres, keySecrets, { accountId: world.accountId, name: 'Deleted' })
  let now = Date.now() - (Date.now() % 3_600_000) - 1
  const processes = [recordLastUse(postgres, 3_600_000, () => now), recordLastUse(postgres, 3_600_000, () => now)]
  const note = (id: string, times: number) => {
    for (let time = 0; time < times; time++) for (const process of processes) process.note(id)
  }
  note(world.key.id, 3)
  note(deleted.id, 1)
  now += 1
  note(world.key.id, 5)
  note(other.id, 1)
  await deleteKey(postgres, deleted.id)
  await Promise.all(processes.map((process) => process.close()))

  const usage = await readUsage(postgres, [world.key.id, other.id, deleted.id], { now, hours: 24 })
  const none = Array<number>(22).fill(0)
  assert.deepEqual(usage.get(world.key.id), [...none, 6, 10])
  assert.deepEqual(usage.get(other.id), [...none, 0, 2])
  assert.equal(usage.has(deleted.id), false)
  const [listed] = (await listKeys(postgres)).filter(({ id }) => id === world.key.id)
  assert.equal(listed?.lastUsedAt?.getTime(), now)
  assert.deepEqual(
    (await readUsage(postgres, [world.key.id], { now: now + 24 * 3_600_000 - 1, hours: 24 })).get(world.key.id),
    [10, ...Array<number>(23).fill(0)],
  )
})

test('the API counts what the rate limit counts, and hours older than three days are deleted', async (t) => {
  const world = await openWorld(t)
  const { postgres } = world.stores
  const api = await startApi(world.stores, { lastUseMs: 100 })
  t.after(() => api.close())
  await postgres`
    INSERT INTO key_usage (key_id, hour, requests)
    SELECT ${world.key.id}, now() - age::interval, 7 FROM unnest(ARRAY['73 hours', '71 hours', '30 days']) AS age`
  for (const path of ['overview', 'devices', 'pages?limit=none']) {
    await api.fetch(`/api/v1/stats/${path}`, { headers: { Authorization: `Bearer ${world.key.text}` } })
  }
  const total = async () => {
    const rows = await postgres<{ requests: string }[]>`
      SELECT requests FROM key_usage WHERE key_id = ${world.key.id} ORDER BY hour`
    return rows.map(({ requests }) => Number(requests))
  }
  await eventually(async () => {
    const [old, ...recent] = await total()
    assert.equal(old, 7)
    // Two hours, if one begins during the test.
    assert.equal(
      recent.reduce((sum, one) => sum + one, 0),
      3,
    )
  })
})
