// Several API processes on one Redis that the check may break, and keys for them. They have their own PostgreSQL too, because they would
// take connections from others, and no ClickHouse, because no request reads data.
import { setPriority } from 'node:os'
import { createClient } from '@redis/client'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { type Plan, plans } from '../../../src/accounts/plans.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { clusterOf } from '../../../src/cluster/cluster.ts'
import { migrate } from '../../../src/cluster/migrate.ts'
import { openPostgres, type Postgres } from '../../../src/stores/postgres.ts'
import { type ApiProcess, startApiProcess } from '../../support/api-process.ts'
import { type OwnServer, startOwnPostgres, startOwnRedis } from '../../support/own-servers.ts'
import { keySecrets } from '../../support/stores.ts'
import { type Answer, openWires } from './wire.ts'

export interface Key {
  name: string
  text: string
  limit: number
}

export interface Fleet {
  redis: Pick<OwnServer, 'url' | 'signal' | 'kill' | 'start'>
  processes: readonly ApiProcess[]
  newKey(plan: Exclude<Plan, 'Free'>): Promise<Key>
  /** A request that is counted and then refused for its unsupported filter. */
  ask(process: number, key: Key): Promise<Answer>
  /** A request that is not counted: the time a process needs for any request. */
  askNothing(process: number): Promise<Answer>
  stop(): Promise<void>
}

/** Two at a time: more would only compete for the cores and miss their time limits. */
const startAtOnce = 2

export async function startFleet(size: number): Promise<Fleet> {
  // Everything started is stopped in reverse order, even when a later start fails.
  const endings: (() => unknown)[] = []
  const stop = async () => {
    for (const end of endings.splice(0).reverse()) await end()
  }
  try {
    const redis = await startOwnRedis()
    endings.push(() => redis.remove())
    await goesFirst(redis)
    const server = await startOwnPostgres('max_connections=200')
    endings.push(() => server.remove())
    const postgres = openPostgres(server.url)
    endings.push(() => postgres.end({ timeout: 1 }))
    await untilItAnswers(postgres)
    await migrate({ postgres, cluster: clusterOf([]) })
    const addresses = { postgres: server.url, clickhouse: 'http://nobody@127.0.0.1:1/nothing', redis: redis.url }

    const processes: ApiProcess[] = []
    endings.push(() => Promise.all(processes.map((api) => api.stop())))
    for (let from = 0; from < size; from += startAtOnce) {
      const batch = Array.from({ length: Math.min(startAtOnce, size - from) }, () => startApiProcess(addresses))
      processes.push(...(await Promise.all(batch)))
    }
    const wires = openWires(processes.map(({ url }) => Number(new URL(url).port)))
    endings.push(() => wires.close())

    let keys = 0
    return {
      redis: {
        ...redis,
        async start() {
          await redis.start()
          await goesFirst(redis)
        },
      },
      processes,
      async newKey(plan) {
        const name = `${plan}-${++keys}`
        const accountId = await createAccount(postgres, { name, plan })
        const domain = `${name.toLowerCase()}.example`
        const siteId = await createSite(postgres, { accountId, domain, timeZone: 'UTC', excludedCountries: [] })
        const { text } = await createKey(postgres, keySecrets, { accountId, siteId, name })
        return { name, text, limit: plans[plan].requestsPerHour }
      },
      ask: (process, key) => wires.ask(process, '/api/v1/stats/overview?browser=x', key.text),
      askNothing: (process) => wires.ask(process, '/livez'),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** PostgreSQL listens before it accepts connections. */
async function untilItAnswers(postgres: Postgres): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await postgres`SELECT 1`
      return
    } catch (error) {
      if (attempt === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** In production Redis has its own core. Here it shares the cores with the API and the check, so it gets a higher priority if possible. */
async function goesFirst({ url }: OwnServer): Promise<void> {
  const client = createClient({ url }).on('error', () => {})
  await client.connect()
  const about = await client.info('server')
  client.destroy()
  try {
    setPriority(Number(/^process_id:(\d+)/m.exec(about)?.[1]), -10)
  } catch {
    // needs root
  }
}
