// The driver throws outside any promise when a connection breaks during a transaction, or while it reads the array types
// (decision D-136). A process that uses PostgreSQL in every way Footfall does survives a server that is killed, stopped and started.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { openPostgres } from '../../src/stores/postgres.ts'
import { needing } from '../support/needing.ts'
import { startOwnPostgres } from '../support/own-servers.ts'
import { seeded } from '../support/random.ts'
import { sleep, until } from './installation.ts'

const { test } = needing('PostgreSQL')

const seconds = Number(process.env.FOOTFALL_FAULT_SECONDS ?? 12)

interface Done {
  queries: number
  transactions: number
  failed: number
  notices: number
}

test(`PostgreSQL killed, stopped and restarted at random for ${seconds} s: no process exits, no transaction is applied in part`, async (t) => {
  const server = await startOwnPostgres()
  t.after(() => server.remove())
  const child = fork(new URL('busy-client.ts', import.meta.url), {
    env: { ...process.env, DATABASE_URL: server.url },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr?.on('data', (chunk) => {
    said += chunk
  })
  let done: Done = { queries: 0, transactions: 0, failed: 0, notices: 0 }
  child.on('message', (message) => {
    done = message as Done
  })
  const alive = () => assert.equal(child.exitCode, null, `it ended:\n${said}`)
  const worksAgain = async () => {
    const before = done
    await until('queries work again', 20_000, () => {
      alive()
      return (
        done.queries > before.queries + 20 && done.transactions > before.transactions && done.notices > before.notices
      )
    })
  }
  await worksAgain()

  const random = seeded(process.env.FOOTFALL_SEED ?? 'driver')
  const began = performance.now()
  while (performance.now() - began < seconds * 1000) {
    await sleep(100 + random.below(900))
    const harm = random.below(3)
    if (harm === 0) {
      await server.kill()
      await sleep(random.below(700))
      await server.start()
    } else if (harm === 1) {
      server.signal('SIGSTOP')
      await sleep(random.below(1_500))
      server.signal('SIGCONT')
    } else {
      server.signal('SIGINT') // a fast shutdown, which aborts transactions
      await until('the server has exited', 10_000, () => !server.isRunning())
      await server.start()
    }
    alive()
  }
  await worksAgain()
  t.diagnostic(JSON.stringify(done))
  child.kill('SIGKILL')

  const postgres = openPostgres(server.url, 1)
  t.after(() => postgres.end({ timeout: 1 }))
  const halves = await postgres`SELECT name FROM pairs GROUP BY name HAVING count(*) <> 2`
  assert.deepEqual([...halves], [])
})
