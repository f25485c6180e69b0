// PostgreSQL is up but not healthy, and how long cached keys and sites stay valid.
import assert from 'node:assert/strict'
import { openDirectory } from '../../src/accounts/directory.ts'
import { newKeyText } from '../../src/accounts/key-text.ts'
import { recordLastUse } from '../../src/accounts/last-use.ts'
import { openRequestPostgres } from '../../src/stores/request-postgres.ts'
import { atEnd } from '../support/at-end.ts'
import { needing } from '../support/needing.ts'
import { keySecrets } from '../support/stores.ts'
import {
  answered,
  ask,
  changes,
  failed,
  isUp,
  newCustomer,
  newKey,
  overview,
  sleep,
  until,
  whileAsking,
} from './installation.ts'
import {
  becomesKnown,
  installPostgres,
  type PostgresInstallation,
  statusesOf,
  untilItServes,
} from './postgres-installation.ts'

const { before, beforeEach, test } = needing('PostgreSQL')

let installed: PostgresInstallation

before(async () => {
  installed = await installPostgres()
})

beforeEach(() => installed.heal())

test('a process that starts without PostgreSQL refuses what it can judge, fails other requests, and connects by itself', async (test) => {
  const { server, warm, startApi } = installed
  await server.kill()
  const api = await startApi() // throws unless it becomes ready
  try {
    answered(await overview(api, 'ff_s_made-up'), 401, 50)
    failed(await overview(api, warm.key), { boundMs: 350, counted: false })
    failed(await overview(api, newKeyText('account')), { boundMs: 350, counted: false })
    assert.equal((await ask(api, '/livez')).status, 200)
    await until('the metric shows PostgreSQL down', 500, async () => !(await isUp(api, 'PostgreSQL')))
    await server.start()
    await untilItServes(server)
    const healed = await until('the key works', 1_000, async () => (await overview(api, warm.key)).status === 200)
    test.diagnostic(`healed in ${healed} ms`)
    assert.deepEqual(changes(api, 'PostgreSQL'), ['down', 'up'])
    assert.equal(await isUp(api, 'PostgreSQL'), true)
  } finally {
    await api.stop()
  }
})

test('PostgreSQL restarted under load: no request with a known key fails, and later changes take effect again', async (test) => {
  const { server, api, warm, asAdmin } = installed
  await becomesKnown(api, warm.key)
  const answers = await whileAsking(
    () => overview(api, warm.key),
    async () => {
      server.signal('SIGINT') // what `pg_ctl restart` sends
      await until('PostgreSQL has ended', 5_000, () => !server.isRunning())
      await server.start()
      await untilItServes(server)
      const { key } = await asAdmin((admin) => newCustomer(admin))
      const healed = await until('an unknown key works', 2_000, async () => (await overview(api, key)).status === 200)
      test.diagnostic(`healed in ${healed} ms`)
    },
  )
  assert.deepEqual(statusesOf(answers), [200])
  await sleep(600)
  const listening = await asAdmin((admin) => admin`SELECT FROM pg_stat_activity WHERE query ILIKE 'listen "footfall%'`)
  assert.equal(listening.length, 1)
})

test('a query whose connection breaks is repeated, and the client does not notice', async () => {
  const { api, asAdmin } = installed
  const { key } = await asAdmin((admin) => newCustomer(admin))
  await sleep(700)
  const told = changes(api, 'PostgreSQL').length
  await asAdmin(
    (admin) =>
      admin
        .begin(async (transaction) => {
          await transaction`LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE`
          const waiting = overview(api, key)
          await until('the API waits for the lock', 150, async () => {
            const ended = await transaction`
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE usename = 'footfall_api' AND wait_event_type = 'Lock'`
            return ended.length === 1
          })
          await transaction`ROLLBACK`
          answered(await waiting, 200, 500)
        })
        .catch((error) => assert.equal(error.code, '25P01')), // no transaction is left to commit
  )
  assert.deepEqual(changes(api, 'PostgreSQL').slice(told), [])
})

test('a locked table fails the requests that need it in time, slows no others and does not exhaust connections', async (test) => {
  const { api, warm, asAdmin } = installed
  const keys = await asAdmin((admin) =>
    Promise.all(Array.from({ length: 30 }, async () => (await newCustomer(admin)).key)),
  )
  await sleep(700)
  await becomesKnown(api, warm.key)
  let most = 0
  await asAdmin(async (admin) => {
    await admin.begin(async (transaction) => {
      await transaction`LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE`
      const waiting = keys.map((key) => overview(api, key))
      for (let round = 0; round < 5; round++) {
        const ours = await admin`SELECT FROM pg_stat_activity WHERE usename = 'footfall_api'`
        most = Math.max(most, ours.length)
        await sleep(30)
      }
      for (const answer of await Promise.all(waiting)) failed(answer, { boundMs: 600, counted: false })
      answered(await overview(api, warm.key), 200, 250)
    })
  })
  test.diagnostic(`at most ${most} connections`)
  assert.ok(most <= 12, `${most} connections: the pool has 10, one listens, one may be closing`)
  const healed = await until('an unknown key works', 1_000, async () => {
    return (await overview(api, keys[0] as string)).status === 200
  })
  test.diagnostic(`healed in ${healed} ms`)
})

test('while PostgreSQL cannot write, as on a full disk, the API keeps reading and writes later', async () => {
  const { server, api, asAdmin } = installed
  const { siteId, key } = await asAdmin((admin) => newCustomer(admin))
  const [row] = await asAdmin((admin) => admin<{ id: string }[]>`SELECT id FROM api_keys WHERE site_id = ${siteId}`)
  const postgres = openRequestPostgres(server.url)
  const lastUse = recordLastUse(postgres, 50)
  atEnd(async () => {
    await lastUse.close()
    await postgres.close()
  })
  const isNoted = async () => {
    const found = await asAdmin(
      (admin) => admin`SELECT FROM api_keys WHERE site_id = ${siteId} AND last_used_at > now()
      - interval '1 minute'`,
    )
    return found.length === 1
  }
  const told = changes(api, 'PostgreSQL').length
  const setReadOnly = (value: 'on' | 'off') =>
    asAdmin(async (admin) => {
      await admin.unsafe(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
      await admin`SELECT pg_reload_conf()`
    })
  await setReadOnly('on')
  await sleep(300)
  await assert.rejects(
    asAdmin((admin) => newCustomer(admin)),
    { code: '25006' },
  )
  lastUse.note(row?.id as string)
  answered(await overview(api, key), 200, 250)
  assert.equal(await isNoted(), false)
  await setReadOnly('off')
  await until('the last use is written', 1_000, isNoted)
  assert.deepEqual(changes(api, 'PostgreSQL').slice(told), [])
})

test('cached keys and sites serve for 15 minutes without PostgreSQL and no longer, and again once it is back', async () => {
  const { server, proxy, warm, asAdmin } = installed
  const clock = { ms: 0 }
  const states: boolean[] = []
  const postgres = openRequestPostgres(server.url.replace(`:${server.port}`, `:${proxy.port}`))
  const directory = openDirectory(postgres, {
    secrets: keySecrets,
    onChange: (isUp) => states.push(isUp),
    queryMs: 2_000,
    now: () => clock.ms,
  })
  atEnd(async () => {
    await directory.close()
    await postgres.close()
  })
  const isKnown = async () => {
    const [key, site] = await Promise.allSettled([directory.key(warm.key), directory.site(warm.siteId)])
    assert.equal(key.status, site.status)
    if (key.status === 'rejected') assert.match(key.reason.message, /PostgreSQL does not answer/)
    if (site.status === 'fulfilled') assert.deepEqual(site.value?.excludedCountries, ['FR'])
    return key.status === 'fulfilled'
  }
  await sleep(1_000) // what was read before the first poll is read again after it
  assert.equal(await isKnown(), true)
  clock.ms += 10 * 60_000
  await sleep(1_200) // long enough for polling to confirm it
  proxy.setFault({ reset: true })
  await until('PostgreSQL is reported down', 1_500, () => states.at(-1) === false)
  clock.ms += 15 * 60_000 - 1
  assert.equal(await isKnown(), true)
  clock.ms += 1
  assert.equal(await isKnown(), false)
  proxy.setFault({})
  await until('key and site are known again', 2_000, isKnown)
  assert.ok((await asAdmin((admin) => admin`SELECT 1`)).length === 1)
})

test('a key that expires while PostgreSQL is down expires on time', async () => {
  const { proxy, api, warm, asAdmin } = installed
  const expiresAt = new Date(Date.now() + 3_000)
  const key = await asAdmin((admin) => newKey(admin, warm, expiresAt))
  await sleep(700)
  await becomesKnown(api, key)
  proxy.setFault({ reset: true })
  const answers = await whileAsking(
    () => overview(api, key),
    () => sleep(expiresAt.getTime() - Date.now() + 500),
  )
  proxy.setFault({})
  assert.deepEqual(statusesOf(answers), [200, 401])
  const last = answers.filter(({ status }) => status === 200).at(-1)
  assert.ok(last && Date.parse(last.json.meta.generated_at) <= expiresAt.getTime() + 300)
  assert.equal(answers.at(-1)?.json.error.code, 'key_expired')
  await until('PostgreSQL is back', 2_000, () => isUp(api, 'PostgreSQL'))
})
