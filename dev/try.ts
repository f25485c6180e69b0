// `npm run try`: all of Footfall with nothing but Node and npm. ClickHouse and PostgreSQL come from npm and store their data in
// .footfall/try, the rate limit is in memory, and a demo site is filled. Ctrl-C ends it; the next start continues with the same data.
import { join } from 'node:path'
import { startAll } from '../src/cli/all-processes.ts'
import { openCluster } from '../src/cluster/cluster.ts'
import { readConfig } from '../src/config.ts'
import { exitWithin } from '../src/process/ending.ts'
import { exitWith } from '../src/process/error-hints.ts'
import { probe } from '../src/process/listening.ts'
import { createLog } from '../src/process/log.ts'
import { reports } from '../src/stats/reports.ts'
import { openPostgres } from '../src/stores/postgres.ts'
import { freePort } from './clickhouse/server.ts'
import { type Installation, maxEndMs, startInstallation } from './installation.ts'
import { readOptions } from './options.ts'

const began = Date.now()
const { events, port, fresh } = readOptions('try')
const base = `http://localhost:${port}`
/** Stopped in reverse order, after success or failure. */
const running = new AsyncDisposableStack()
const { key, owner, address } = await start().catch(async (error) => {
  await running.disposeAsync()
  exitWith(error)
})

console.log(`
Footfall answers after ${((Date.now() - began) / 1000).toFixed(1)} s. Open the dashboard of demo.example, signed in (once, within ten minutes):

  ${address}

Your key reads demo.example:

  export KEY=${key}

${Object.keys(reports)
  .map((name) => `  curl -H "Authorization: Bearer $KEY" "${base}/api/v1/stats/${name}?range=30d"`)
  .join('\n')}

Reference, with calls to try: ${base}/api/v1/docs
Console: ${base}
  sign in as ${owner.email} with the password ${owner.password}
Ctrl-C ends it; npm run try continues with the same data, npm run try -- --fresh starts without it.`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    exitWithin(maxEndMs)
    await running.disposeAsync()
    process.exit()
  })
}

async function start(): Promise<Pick<Installation, 'key' | 'owner'> & { address: string }> {
  const check = () => probe({ host: '127.0.0.1', port, settings: ['--port', '--port'] })
  const installation = running.use(await startInstallation({ name: 'try', events, fresh, check }))
  // The environment, because the shipper is a process of its own and reads it.
  Object.assign(process.env, installation.settings, {
    PORT: `${port}`,
    METRICS_PORT: `${await freePort()}`,
    COLLECTOR_METRICS_PORT: `${await freePort()}`,
    SPOOL_FOLDER: join(installation.folder, 'spool'),
    LOG_LEVEL: 'warn',
    FOOTFALL_NO_ENV_FILE: '1',
  })
  const config = readConfig(process.env)
  const postgres = openPostgres(config.DATABASE_URL)
  const cluster = openCluster(config)
  running.defer(async () => void (await Promise.all([postgres.end({ timeout: 0 }), cluster.close()])))
  const all = await startAll(config, createLog(config.LOG_LEVEL), { postgres, cluster })
  running.defer(() => all.stop(0))
  return { ...installation, address: await installation.signInAddress(base) }
}
