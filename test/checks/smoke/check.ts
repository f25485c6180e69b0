// One `footfall serve` under load while ClickHouse, PostgreSQL, Redis and `serve` itself are killed and started again, once each. Then every
// acknowledged event is in ClickHouse once, and the API counts exactly these. check:chaos, collect and powercut do this for longer, and worse.
//   npm run check:smoke
//   npm run check:smoke -- --away 2000      each stays away for 2,000 ms
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { freePort } from '../../../dev/clickhouse/server.ts'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { createSite } from '../../../src/accounts/sites.ts'
import { clusterOf } from '../../../src/cluster/cluster.ts'
import { migrate } from '../../../src/cluster/migrate.ts'
import { openClickHouse } from '../../../src/stores/clickhouse.ts'
import { eventually } from '../../support/eventually.ts'
import { patientPostgres } from '../../support/fresh-stores.ts'
import { startOwnStores } from '../../support/own-stores.ts'
import { seeded } from '../../support/random.ts'
import { launchServe, type ServeProcess } from '../../support/serve-process.ts'
import { keySecrets } from '../../support/stores.ts'
import { startLoad } from '../collect/load.ts'
import { pause, runCheck } from '../runner.ts'
import { compareEvents, noEvents } from '../stored-events.ts'

const lanes = 8
const pauseOfLaneMs = 50
/** Long enough for some batches to be shipped between two outages. */
const betweenMs = 1_500
/** A machine that stands still for a moment must not look like a process that does not recover. */
const recoveryMs = 30_000
/** It takes 18 s on a quiet machine. */
const maxSeconds = 90

await runCheck({ name: 'smoke', options: { away: 1_000 }, seconds: () => 600 }, async (check, { away }) => {
  const began = performance.now()
  const stores = await startOwnStores()
  check.onEnd(stores.remove)
  const { addresses } = stores
  const postgres = patientPostgres(addresses.postgres)
  check.onEnd(() => postgres.end({ timeout: 1 }))
  const clickhouse = openClickHouse(addresses.clickhouse)
  check.onEnd(() => clickhouse.close())
  await migrate({ postgres, cluster: clusterOf([clickhouse]) })
  const accountId = await createAccount(postgres, { name: 'Smoke', plan: 'Agency' })
  const domain = `${randomUUID()}.example`
  const siteId = await createSite(postgres, { accountId, domain })
  const { text: key } = await createKey(postgres, keySecrets, { accountId, siteId, name: 'Smoke' })

  const port = await freePort()
  const launch = (spool?: string): Promise<ServeProcess> =>
    launchServe(addresses, { PORT: `${port}`, LOG_LEVEL: 'warn', ...(spool && { SPOOL_FOLDER: spool }) })
  let serve = await launch()
  check.onEnd(async () => {
    await serve.kill()
    rmSync(serve.spoolFolder, { recursive: true, force: true })
  })
  await serve.untilReady()
  const views = async (): Promise<number> => {
    const response = await fetch(`${serve.url}/api/v1/stats/overview?range=7d`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    return ((await response.json()) as { data: { current: { pageviews: number } } }).data.current.pageviews
  }

  const load = startLoad({ url: serve.url, domain, lanes, pauseMs: pauseOfLaneMs })
  const victims = {
    ...stores.all,
    serve: {
      kill: () => serve.kill(),
      async start() {
        serve = await launch(serve.spoolFolder)
        await serve.untilReady()
      },
    },
  }
  const order = seeded(check.seed).sample(Object.keys(victims) as (keyof typeof victims)[], 4)
  for (const name of order) {
    await pause(betweenMs)
    check.say(`${name} is killed`)
    await victims[name].kill()
    await pause(away)
    await victims[name].start()
    await eventually(views, recoveryMs).catch((error: Error) => check.fault('recovery', name, error.message))
  }
  await pause(betweenMs)
  const ledger = await load.stop()
  for (const answer of ledger.odd.slice(0, 3)) check.fault('odd answer to an event', answer)
  if (ledger.acknowledged.size < 100) check.fault('load', `only ${ledger.acknowledged.size} events were acknowledged`)
  if (!serve.isRunning()) check.fault('serve ended', serve.log().slice(-2_000))

  const events = noEvents()
  await compareEvents(check, { id: siteId, domain, shard: 1, load }, clickhouse, [], events)
  // A response may be five seconds old.
  await eventually(async () => {
    const counted = await views()
    if (counted !== events.acknowledged) throw new Error(`${counted} instead of ${events.acknowledged} pageviews`)
  }, recoveryMs).catch((error: Error) => check.fault('API', error.message))
  const seconds = Math.round((performance.now() - began) / 1_000)
  if (seconds > maxSeconds) check.slow('time', `it took ${seconds} s, at most ${maxSeconds}`)
  return { order, events, refused: ledger.refused, broken: ledger.broken }
})
