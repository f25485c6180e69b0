// PostgreSQL goes away in the middle of a fold: the process that folds lives on, and the fold happens when PostgreSQL is back. What is
// thrown outside any promise fails a test by itself.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite, findSite } from '../../src/accounts/sites.ts'
import { dayOf } from '../../src/folding/calendar.ts'
import { foldSite } from '../../src/folding/fold.ts'
import { startFolding } from '../../src/folding/loop.ts'
import { verifySite } from '../../src/folding/verify.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { migrate } from '../../src/stores/migrate.ts'
import { openPostgres } from '../../src/stores/postgres.ts'
import { noteLateDays } from '../../src/traffic/late-days.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { startOwnPostgres } from '../support/own-servers.ts'
import { createEmptyStores } from '../support/stores.ts'
import { untilItServes } from './postgres-installation.ts'

const dayMs = 86_400_000

test('PostgreSQL is killed in the middle of a fold, and started again', async (t) => {
  // Migrations are counted in PostgreSQL: they would be run again on a ClickHouse that others use.
  const { stores, remove } = await createEmptyStores()
  t.after(remove)
  const { clickhouse } = stores
  const server = await startOwnPostgres()
  t.after(() => server.remove())
  await untilItServes(server)
  const postgres = openPostgres(server.url)
  t.after(() => postgres.end({ timeout: 1 }))
  await migrate({ postgres, clickhouse })
  const accountId = await createAccount(postgres, { name: 'A test', plan: 'Starter' })
  const siteId = await createSite(postgres, { accountId, domain: `${crypto.randomUUID()}.example` })
  const daysAgo = (days: number) => dayOf('UTC', Date.now() - days * dayMs)
  const events = [3, 4].map((days) =>
    eventOf(pageview({ at: new Date(Date.now() - days * dayMs).toISOString() }), siteId, 'UTC'),
  )
  await recordBatch(clickhouse, { id: crypto.randomUUID(), events })
  await foldSite({ postgres, clickhouse }, siteId, daysAgo(3)) // what is folded stays so, however small
  await noteLateDays(postgres, events)
  const isFolded = async () =>
    (await findSite(postgres, siteId))?.folds.some(({ days }) => days.some(([, last]) => last >= daysAgo(3)))
  assert.ok(!(await isFolded()))

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
  const folding = startFolding({ postgres, clickhouse: breaking }, log, undefined, 200)
  t.after(() => folding.stop())
  await killed.promise
  await eventually(async () => assert.ok(failures.includes('folding failed')), 20_000)
  await server.start()
  await untilItServes(server)
  // As if five minutes had passed: then a site has its turn again, and the lease has expired.
  await postgres`UPDATE site_folding SET considered_at = now() - interval '5 minutes'`
  await postgres`UPDATE leases SET expires_at = now() - interval '1 second'`
  await eventually(async () => assert.ok(await isFolded()), 20_000)
  assert.deepEqual((await verifySite({ postgres, clickhouse }, siteId)).wrong, [])
})
