// `footfall serve` started while a store is down: it waits for what it needs, logs it, and continues by itself (decision D-135).
import assert from 'node:assert/strict'
import { needing } from '../support/needing.ts'
import type { ServeProcess } from '../support/serve-process.ts'
import { sleep, until } from './installation.ts'
import { counts, installServe, type ServeInstallation, send, timeoutMs } from './serve-installation.ts'

const { before, beforeEach, test } = needing('ClickHouse', 'PostgreSQL', 'Redis')

let installed: ServeInstallation

before(async () => {
  installed = await installServe()
})

beforeEach(() => installed.heal())

const messages = ({ log }: ServeProcess): string[] =>
  log()
    .split('\n')
    .map((line) => /"msg":"([^"]*)"/.exec(line)?.[1] ?? '')
    .filter((message) => /migrations wait|up to date/.test(message))

test('started without PostgreSQL: logs once that migrations wait, and serves when PostgreSQL is up', async (t) => {
  const { PostgreSQL } = installed.stores
  await PostgreSQL.kill()
  const server = await installed.serve(t)
  await until('the wait is logged', timeoutMs, () => messages(server).length > 0)
  await sleep(3_000)
  assert.deepEqual(messages(server), ['PostgreSQL does not answer; migrations wait for it'])
  assert.ok(server.isRunning())
  await PostgreSQL.start()
  await server.untilReady()
  assert.match(messages(server).at(-1) as string, /^PostgreSQL answers; both databases are up to date$/)
  await counts(server, await installed.newCustomer())
})

test('started with pending migrations for a ClickHouse that is down: migrations wait for it', async (t) => {
  const { ClickHouse } = installed.stores
  await installed.bringUpToDate()
  // Makes a migration look new. Like all of them, it may safely run again. Not the last one: it only rewrites columns, and nothing waits for that.
  await installed.asOperator((postgres) => postgres`DELETE FROM migrations WHERE name = 'clickhouse/0004_visits.sql'`)
  for (const harm of ['SIGSTOP', 'SIGKILL'] as const) {
    if (harm === 'SIGSTOP') ClickHouse.signal(harm)
    else await ClickHouse.kill()
    const server = await installed.serve(t)
    await until('the wait is logged', timeoutMs, () => messages(server).length > 0)
    await sleep(1_000)
    assert.deepEqual(messages(server), ['ClickHouse does not answer; migrations wait for it'])
    if (harm === 'SIGSTOP') {
      server.child.kill('SIGTERM')
      await until('SIGTERM ends the wait', 10_000, () => !server.isRunning())
      assert.equal(server.child.exitCode, 0)
      ClickHouse.signal('SIGCONT')
    } else {
      await ClickHouse.start()
      await server.untilReady()
      await counts(server, await installed.newCustomer())
    }
  }
})

test('SIGTERM ends the wait for a hung PostgreSQL', async (t) => {
  const { PostgreSQL } = installed.stores
  PostgreSQL.signal('SIGSTOP')
  try {
    const server = await installed.serve(t)
    await until('the wait is logged', timeoutMs, () => messages(server).length > 0)
    server.child.kill('SIGTERM')
    await until('the process has exited', 10_000, () => !server.isRunning())
    assert.equal(server.child.exitCode, 0)
  } finally {
    PostgreSQL.signal('SIGCONT')
  }
})

test('a failing migration ends the process with one sentence', async (t) => {
  await installed.bringUpToDate()
  const name = 'postgres/0001_baseline.sql'
  const edit = (from: string, to: string) =>
    installed.asOperator(
      (postgres) => postgres`
    UPDATE migrations SET checksum = replace(checksum, ${from}, ${to}) WHERE name = ${name}`,
    )
  const [row] = await installed.asOperator((postgres) => postgres`SELECT checksum FROM migrations WHERE name = ${name}`)
  await edit(row?.checksum, 'edited')
  try {
    const server = await installed.serve(t)
    await until('the process has exited', timeoutMs, () => !server.isRunning())
    assert.equal(server.child.exitCode, 1)
    assert.match(
      server.log(),
      /^footfall: The databases were made by an unreleased version, and cannot be upgraded \(postgres\/0001_baseline\.sql differs from the one that was applied\)\.$/m,
    )
    assert.doesNotMatch(server.log(), / {4}at /, 'no stack')
  } finally {
    await edit('edited', row?.checksum)
  }
})

for (const missing of ['Redis', 'ClickHouse'] as const)
  test(`started without ${missing} and without pending migrations: serves what it can at once, and everything when ${missing} is up`, async (t) => {
    await installed.bringUpToDate()
    const one = await installed.newCustomer()
    await installed.stores[missing].kill()
    const server = await installed.serve(t)
    await server.untilReady()
    await until('an event is accepted', timeoutMs, async () => {
      return (await send(server, one, '/')) === 202
    })
    await installed.stores[missing].start()
    await counts(server, one)
  })
