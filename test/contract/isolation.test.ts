// Uses a separate API process because the test needs the timeouts that operators run with.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { newKeyText } from '../../src/accounts/key-text.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { startApiProcess } from '../support/api-process.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { keySecrets, openStores } from '../support/stores.ts'
import { as, inTurns, newSite, times } from './vocabulary.ts'

/** A key of a separate account. */
async function stranger() {
  const stores = await openStores()
  const accountId = await createAccount(stores.postgres, { name: 'A stranger', plan: 'Agency' })
  const siteId = await newSite({ stores, accountId })
  return { siteId, key: await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'Test' }) }
}

test('even when PostgreSQL is slow, a key never gets the site of another key', async (t) => {
  const { addresses } = await openStores()
  const address = new URL(addresses.postgres)
  const proxy = await startFaultProxy({ host: address.hostname, port: Number(address.port || 5432) })
  address.host = `127.0.0.1:${proxy.port}`
  const api = await startApiProcess({ postgres: address.href, clickhouse: addresses.clickhouse })
  t.after(async () => {
    await api.stop()
    await proxy.close()
  })
  const strangers = await inTurns(times(60, String), stranger)
  const ask = (text: string) => fetch(`${api.url}/api/v1/stats/overview?range=24h`, as(text))
  const answers: string[] = []
  const askAll = async () => {
    const statuses = await Promise.all(
      strangers.map(async ({ siteId, key }) => {
        const response = await ask(key.text)
        const { meta } = (await response.json()) as { meta?: { site_id: string } }
        answers.push(`${response.status} ${meta ? (meta.site_id === siteId ? 'its own' : 'another’s') : 'nobody’s'}`)
        return response.status
      }),
    )
    return statuses.every((status) => status === 200)
  }

  await Promise.all(times(60, () => ask(newKeyText('site')))) // now every connection of the pool is open
  proxy.setFault({ latencyMs: 400 }) // longer than the API waits for PostgreSQL
  await askAll()
  proxy.setFault({})
  const deadline = Date.now() + 10_000
  while (!(await askAll()) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 200))

  const unexpected = new Set(answers).difference(new Set(['200 its own', '500 nobody’s']))
  assert.deepEqual([...unexpected], [])
  assert.ok(answers.includes('500 nobody’s') && answers.includes('200 its own'))
})
