// `footfall serve` with its own stores that a test may break, and the actions of an operator and a visitor.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createSite } from '../../src/accounts/sites.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { openClickHouse } from '../../src/stores/clickhouse.ts'
import { openPostgres, type Postgres } from '../../src/stores/postgres.ts'
import { atEnd } from '../support/at-end.ts'
import { browserAgent } from '../support/collector-process.ts'
import { type OwnStores, startOwnStores } from '../support/own-stores.ts'
import { launchServe, type ServeProcess } from '../support/serve-process.ts'
import { ask, newCustomer, newKey, until } from './installation.ts'

/** Generous, because these tests do not measure speed and the machine may be busy. */
export const timeoutMs = 30_000

export interface ServeInstallation {
  stores: OwnStores['all']
  /** Repairs whatever a test has broken. */
  heal(): Promise<void>
  asOperator<Value>(work: (postgres: Postgres) => Promise<Value>): Promise<Value>
  bringUpToDate(): Promise<void>
  /** Does not wait until it is ready. */
  serve(t: TestContext): Promise<ServeProcess>
  newCustomer(): Promise<Customer>
}

export async function installServe(): Promise<ServeInstallation> {
  const stores = await startOwnStores()
  atEnd(() => stores.remove())

  async function asOperator<Value>(work: (postgres: Postgres) => Promise<Value>): Promise<Value> {
    const postgres = openPostgres(stores.addresses.postgres, 2)
    try {
      return await work(postgres)
    } finally {
      await postgres.end({ timeout: 1 })
    }
  }

  return {
    stores: stores.all,
    async heal() {
      for (const store of Object.values(stores.all)) {
        store.signal('SIGCONT')
        await store.start()
      }
    },
    asOperator,
    bringUpToDate: () =>
      asOperator(async (postgres) => {
        const clickhouse = openClickHouse(stores.addresses.clickhouse)
        await migrate({ postgres, cluster: clusterOf([clickhouse]) })
        await clickhouse.close()
      }),
    async serve(t) {
      const server = await launchServe(stores.addresses)
      t.after(() => server.stop())
      return server
    },
    newCustomer: () =>
      asOperator(async (postgres) => {
        const { accountId } = await newCustomer(postgres)
        const domain = `serve-${Math.random().toString(36).slice(2)}.example`
        const siteId = await createSite(postgres, { accountId, domain })
        return { domain, key: await newKey(postgres, { accountId, siteId }) }
      }),
  }
}

export interface Customer {
  domain: string
  key: string
}

/** The status, or 0 without a response. */
export function send({ url }: ServeProcess, { domain }: Pick<Customer, 'domain'>, path: string): Promise<number> {
  const body = JSON.stringify({ n: 'pageview', u: `https://${domain}${path}`, d: domain })
  return fetch(`${url}/api/event`, { method: 'POST', body, headers: { 'User-Agent': browserAgent } }).then(
    ({ status }) => status,
    () => 0,
  )
}

/** Asserts that a hit gets from the collector into a response. */
export async function counts(server: ServeProcess, { domain, key }: Customer): Promise<void> {
  const path = `/page/${Math.random()}`
  await until('the hit is accepted', timeoutMs, async () => {
    assert.ok(server.isRunning(), server.log())
    return (await send(server, { domain }, path)) === 202
  })
  await until('the hit is counted', timeoutMs, async () => {
    assert.ok(server.isRunning(), server.log())
    const answer = await ask(server, `/api/v1/stats/pages?range=24h&limit=100`, key).catch(() => undefined)
    return answer?.status === 200 && answer.text.includes(path)
  })
}
