import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { newKeyText } from '../../src/accounts/key-text.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { keySecrets, openStores } from '../support/stores.ts'
import { as, newSite, times } from './helpers.ts'
import { apiBehindProxy } from './outage.ts'

/** A key of an account of its own. */
async function stranger() {
  const stores = await openStores()
  const accountId = await createAccount(stores.postgres, { name: 'A stranger', plan: 'Agency' })
  const siteId = await newSite({ stores, accountId })
  return { siteId, key: await createKey(stores.postgres, keySecrets, { accountId, siteId, name: 'Test' }) }
}

test('however slow PostgreSQL is, a key is never answered with the site of another key', async (t) => {
  const { api, slowDown } = await apiBehindProxy(t)
  const strangers = await Promise.all(times(60, stranger))
  const ask = (text: string) => api.fetch('/api/v1/stats/overview', as(text))
  const answers: string[] = []
  const askAll = async () => {
    const statuses = await Promise.all(
      strangers.map(async ({ siteId, key }) => {
        const { status, json } = await ask(key.text)
        const whose = status !== 200 ? 'nobody’s' : json.meta.site_id === siteId ? 'its own' : 'another’s'
        answers.push(`${status} ${whose}`)
        return status
      }),
    )
    return statuses.every((status) => status === 200)
  }

  await Promise.all(times(60, () => ask(newKeyText('site')))) // every connection of the pool is open now
  slowDown(400) // longer than we wait for PostgreSQL
  await askAll()
  slowDown(0)
  const deadline = Date.now() + 10_000
  while (!(await askAll()) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 200))

  const counted = Object.groupBy(answers, (answer) => answer)
  assert.deepEqual(
    Object.keys(counted).filter((answer) => !['200 its own', '500 nobody’s'].includes(answer)),
    [],
  )
  assert.ok(counted['200 its own'])
})
