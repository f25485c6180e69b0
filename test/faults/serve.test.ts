// `footfall serve` whose stores go down at runtime: the same process recovers by itself.
import assert from 'node:assert/strict'
import { eventually } from '../support/eventually.ts'
import { needing } from '../support/needing.ts'
import type { StoreName } from '../support/own-stores.ts'
import type { ServeProcess } from '../support/serve-process.ts'
import { sleep } from './installation.ts'
import { counts, installServe, type ServeInstallation } from './serve-installation.ts'

const { before, beforeEach, test } = needing('ClickHouse', 'PostgreSQL', 'Redis')

let installed: ServeInstallation

before(async () => {
  installed = await installServe()
})

beforeEach(() => installed.heal())

test('each store killed, stopped and restarted at runtime: the same process keeps running', async (t) => {
  await installed.bringUpToDate()
  const one = await installed.newCustomer()
  const server = await installed.serve(t)
  await server.untilReady()
  await counts(server, one)
  const shipper = shipperOf(server)
  for (const name of ['PostgreSQL', 'Redis', 'ClickHouse'] satisfies StoreName[]) {
    const store = installed.stores[name]
    // Longer than one round of counting today, so that a round runs while PostgreSQL is down.
    const awayMs = name === 'PostgreSQL' ? 5_500 : 1_500
    store.signal('SIGSTOP')
    await sleep(awayMs)
    store.signal('SIGCONT')
    await counts(server, one)
    await store.kill()
    await sleep(awayMs)
    await store.start()
    await counts(server, one)
    await store.kill()
    await store.start()
    await counts(server, await eventually(installed.newCustomer)) // a PostgreSQL that listens may still refuse
  }
  assert.equal(shipperOf(server), shipper, 'the shipper did not restart either')
})

/** The last shipper that was started. */
const shipperOf = ({ log }: ServeProcess): string | undefined => [...log().matchAll(/"shipper":(\d+)/g)].at(-1)?.[1]
