// Stores that are down: addresses without a listener, and a connection to PostgreSQL that a test can cut.
import type { TestContext } from 'node:test'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { openStores } from '../support/stores.ts'
import { type ApiOptions, startApi } from '../support/world.ts'

/** Port 1 is closed on every machine we know. */
const nobody = '127.0.0.1:1'

export async function apiWithoutClickHouse(test: TestContext, options: ApiOptions = {}) {
  const clickhouse = openClickHouse(`http://footfall:secret-of-ours@${nobody}/footfall`)
  const api = await startApi({ ...(await openStores()), clickhouse }, options)
  test.after(async () => {
    await api.close()
    await clickhouse.close()
  })
  return api
}

export async function apiWithoutPostgres(test: TestContext) {
  const postgres = openPostgres(`postgres://secret-of-ours@${nobody}/footfall`)
  const api = await startApi({ ...(await openStores()), postgres })
  test.after(async () => {
    await api.close()
    await postgres.end({ timeout: 0 })
  })
  return api
}

/** An API with its own proxy to PostgreSQL. The test can cut that connection for good. */
export async function apiBehindProxy(test: TestContext) {
  const stores = await openStores()
  const address = new URL(stores.addresses.postgres)
  const proxy = await startFaultProxy({ host: address.hostname, port: Number(address.port || 5432) })
  address.host = `127.0.0.1:${proxy.port}`
  const postgres = openPostgres(address.href)
  const api = await startApi({ ...stores, postgres })
  test.after(async () => {
    // Close the connections first: queries that still wait for an answer would wait for ever.
    await proxy.close()
    await postgres.end({ timeout: 0 })
    await api.close()
  })
  return { api, cut: () => proxy.setFault({ reset: true }) }
}
