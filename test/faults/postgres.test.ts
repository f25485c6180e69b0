// Outages of PostgreSQL. One process goes through all of them in turn and is never restarted.
import assert from 'node:assert/strict'
import { before, beforeEach, test } from 'node:test'
import postgres from 'postgres'
import { sleep } from './installation.ts'
import { goThrough, installPostgres, type PostgresInstallation, untilItServes } from './postgres-installation.ts'

let installed: PostgresInstallation

before(async () => {
  installed = await installPostgres()
})

beforeEach(() => installed.heal())

const startAgain = async () => {
  await installed.server.start()
  await untilItServes(installed.server)
}

test('PostgreSQL killed and refusing: known keys go on, others get 500 and never 401, back within 2 s', async (test) => {
  const begin = installed.server.kill
  test.diagnostic(await goThrough(installed, { begin, end: startAgain, firstColdMs: 50, healMs: 2_000 }))
})

test('PostgreSQL gone for longer than any pause between attempts: back within 2 s all the same', async (test) => {
  const begin = installed.server.kill
  const end = async () => {
    await sleep(4_000)
    await startAgain()
  }
  test.diagnostic(await goThrough(installed, { begin, end, firstColdMs: 50, healMs: 2_000 }))
})

test('PostgreSQL hung: the first to ask waits 250 ms, the next not at all, back within a second', async (test) => {
  const begin = () => installed.server.signal('SIGSTOP')
  const end = () => installed.server.signal('SIGCONT')
  test.diagnostic(await goThrough(installed, { begin, end, firstColdMs: 600, healMs: 1_000 }))
})

for (const latencyMs of [500, 5_000]) {
  test(`PostgreSQL slow by ${latencyMs} ms: as if it hung, back within 2 s`, async (test) => {
    const begin = () => installed.proxy.setFault({ latencyMs })
    const end = () => installed.proxy.setFault({})
    test.diagnostic(await goThrough(installed, { begin, end, firstColdMs: 600, healMs: 2_000 }))
  })
}

test('connections to PostgreSQL that died in silence are replaced within 2 s of the network', async (test) => {
  const begin = () => installed.proxy.setFault({ blackHole: true })
  const end = () => installed.proxy.setFault({})
  test.diagnostic(await goThrough(installed, { begin, end, firstColdMs: 600, healMs: 2_000 }))
})

test('a PostgreSQL that hangs up without a word is not called without pause', async (test) => {
  const { proxy } = installed
  const begin = () => proxy.setFault({ hangUp: true })
  const end = async () => {
    const before = proxy.accepted()
    await sleep(1_000)
    const calls = proxy.accepted() - before
    test.diagnostic(`${calls} calls in a second`)
    assert.ok(calls <= 25, `${calls} calls in a second`)
    proxy.setFault({})
  }
  test.diagnostic(await goThrough(installed, { begin, end, firstColdMs: 300, healMs: 2_000 }))
})

test('PostgreSQL refusing our password: as if it were down, and asked no more than every 5 s', async (test) => {
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

test('PostgreSQL without a free connection: as if it were down, back within 2 s of a free one', async (test) => {
  const { server, asAdmin } = installed
  const others: postgres.Sql[] = []
  const begin = async () => {
    const url = server.url.replace('postgres@', 'footfall_api:first@')
    // Each of our connections that is ended is taken by somebody else before we can have it again.
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
