// PostgreSQL goes down during a rollup run: the process survives and finishes the run when PostgreSQL is back. An error thrown outside
// any promise fails the test by itself.
import assert from 'node:assert/strict'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite, findSite } from '../../src/accounts/sites.ts'
import { dayOf } from '../../src/calendar/days.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { invalidateDays } from '../../src/rollups/invalidation.ts'
import { startRollups } from '../../src/rollups/loop.ts'
import { rollUpSite } from '../../src/rollups/roll-up.ts'
import { verifySite } from '../../src/rollups/verify.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { needing } from '../support/needing.ts'
import { startOwnPostgres } from '../support/own-servers.ts'
import { createEmptyStores } from '../support/stores.ts'
import { untilItServes } from './postgres-installation.ts'

const { test } = needing('PostgreSQL')

const dayMs = 86_400_000

test('a rollup run during which PostgreSQL is killed and restarted completes', async (t) => {
  // PostgreSQL records the migrations, so a new one would run them again on a ClickHouse that others use.
  const { stores, remove } = await createEmptyStores()
  t.after(remove)
  const { clickhouse } = stores
  const server = await startOwnPostgres()
  t.after(() => server.remove())
  await untilItServes(server)
  const postgres = openPostgres(server.url)
  t.after(() => postgres.end({ timeout: 1 }))
  await migrate({ postgres, cluster: clusterOf([clickhouse]) })
  const accountId = await createAccount(postgres, { name: 'A test', plan: 'Starter' })
  const siteId = await createSite(postgres, { accountId, domain: `${crypto.randomUUID()}.example` })
  const daysAgo = (days: number) => dayOf('UTC', Date.now() - days * dayMs)
  const events = [3, 4].map((days) =>
    eventOf(pageview({ at: new Date(Date.now() - days * dayMs).toISOString() }), siteId, 'UTC'),
  )
  await recordBatch(clickhouse, { id: crypto.randomUUID(), events })
  await rollUpSite({ postgres, clickhouse }, siteId, daysAgo(3)) // so that later rounds roll up this small site too
  await invalidateDays(postgres, events)
  const isRolledUp = async () =>
    (await findSite(postgres, siteId))?.coverage.versions.some(({ days }) =>
      days.some(([, last]) => last >= daysAgo(3)),
    )
  assert.ok(!(await isRolledUp()))

  const killed = Promise.withResolvers<void>()
  let statements = 0
  const breaking: ClickHouse = {
    ...clickhouse,
    async run(...given) {
      if (++statements === 1) {
        await server.kill()
        killed.resolve()
      }
      await clickhouse.run(...given)
    },
  }
  const failures: string[] = []
  const log = { info() {}, error: (_: object, message: string) => void failures.push(message) }
  const rollups = startRollups({ postgres, cluster: clusterOf([breaking]) }, log, undefined, 200)
  t.after(() => rollups.stop())
  await killed.promise
  await eventually(async () => assert.ok(failures.includes('rolling up failed')), 20_000)
  await server.start()
  await untilItServes(server)
  // Acts as if five minutes had passed: the site is due again, and the lease has expired.
  await postgres`UPDATE rollup_state SET considered_at = now() - interval '5 minutes'`
  await postgres`UPDATE leases SET expires_at = now() - interval '1 second'`
  await eventually(async () => assert.ok(await isRolledUp()), 20_000)
  assert.deepEqual((await verifySite({ postgres, clickhouse }, siteId)).wrong, [])
})
