// Outages of PostgreSQL. One process goes through all of them in turn and is never restarted.
import assert from 'node:assert/strict'
import postgres from 'postgres'
import { needing } from '../support/needing.ts'
import { sleep } from './installation.ts'
import { goThrough, installPostgres, type PostgresInstallation, untilItServes } from './postgres-installation.ts'

const { before, beforeEach, test } = needing('PostgreSQL')

let installed: PostgresInstallation

before(async () => {
  installed = await installPostgres()
})

beforeEach(() => installed.heal())

const startAgain = async () => {
  await installed.server.start()
  await untilItServes(installed.server)
}

test('PostgreSQL killed: cached keys work, others get 500 and never 401, recovery within 2 s', async (test) => {
  const begin = installed.server.kill
  test.diagnostic(await goThrough(installed, { begin, end: startAgain, firstColdMs: 50, healMs: 2_000 }))
})

test('PostgreSQL down for longer than any pause between attempts: recovery still within 2 s', async (test) => {
  const begin = installed.server.kill
  const end = async () => {
    await sleep(4_000)
    await startAgain()
  }
  test.diagnostic(await goThrough(installed, { begin, end, firstColdMs: 50, healMs: 2_000 }))
})

test('PostgreSQL hung: the first request waits 250 ms, the next not at all, recovery within a second', async (test) => {
  const begin = () => installed.server.signal('SIGSTOP')
  const end = () => installed.server.signal('SIGCONT')
  test.diagnostic(await goThrough(installed, { begin, end, firstColdMs: 600, healMs: 1_000 }))
})

for (const latencyMs of [500, 5_000]) {
  test(`PostgreSQL delayed by ${latencyMs} ms is handled like a hung one, recovery within 2 s`, async (test) => {
    const begin = () => installed.proxy.setFault({ latencyMs })
    const end = () => installed.proxy.setFault({})
    test.diagnostic(await goThrough(installed, { begin, end, firstColdMs: 600, healMs: 2_000 }))
  })
}

test('silently dead connections to PostgreSQL are replaced within 2 s of the network’s return', async (test) => {
  const begin = () => installed.proxy.setFault({ blackHole: true })
  const end = () => installed.proxy.setFault({})
  test.diagnostic(await goThrough(installed, { begin, end, firstColdMs: 600, healMs: 2_000 }))
})

test('a PostgreSQL that closes every connection is not called in a tight loop', async (test) => {
  const { proxy } = installed
  const begin = () => proxy.setFault({ hangUp: true })
  const end = async () => {
    const before = proxy.accepted()
    await sleep(1_000)
    const calls = proxy.accepted() - before
    test.diagnostic(`${calls} calls per second`)
    assert.ok(calls <= 25, `${calls} calls per second`)
    proxy.setFault({})
  }
  test.diagnostic(await goThrough(installed, { begin, end, firstColdMs: 300, healMs: 2_000 }))
})

test('PostgreSQL refusing the password is handled like an outage, with one attempt per 5 s at most', async (test) => {
  const { asAdmin, proxy } = installed
  const setPassword = (password: string) =>
    asAdmin(async (admin) => {
      await admin.unsafe(`ALTER ROLE footfall_api PASSWORD '${password}'`)
      await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'footfall_api'`
    })
  const end = async () => {
    await sleep(500)
    const before = proxy.accepted()
    await sleep(4_000)
    const logins = proxy.accepted() - before
    test.diagnostic(`${logins} logins in 4 s`)
    assert.ok(logins <= 2, `${logins} logins in 4 s`)
    await setPassword('first')
  }
  test.diagnostic(
    await goThrough(installed, { begin: () => setPassword('second'), end, firstColdMs: 300, healMs: 5_000 }),
  )
})

test('PostgreSQL without a free connection is handled like an outage, recovery within 2 s of a free one', async (test) => {
  const { server, asAdmin } = installed
  const others: postgres.Sql[] = []
  const begin = async () => {
    const url = server.url.replace('postgres@', 'footfall_api:first@')
    // Another client takes each connection that we close, before we can open it again.
    for (let ours = 1; ours > 0; ) {
      for (let isFull = false; !isFull; ) {
        const other = postgres(url, { max: 1, connection: { application_name: 'others' }, backoff: () => 0 })
        others.push(other)
        isFull = await other`SELECT 1`.then(
          () => false,
          (error) => error.code === '53300',
        )
      }
      const ended = await asAdmin(
        (admin) => admin`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE usename = 'footfall_api' AND application_name = 'footfall'`,
      )
      ours = ended.length
    }
  }
  const end = () => Promise.all(others.map((other) => other.end({ timeout: 0 })))
  test.diagnostic(await goThrough(installed, { begin, end, firstColdMs: 300, healMs: 2_000 }))
})
