// `npm run try`: Footfall with nothing but Node and npm. ClickHouse and PostgreSQL come from npm and live in .footfall/try, the
// rate limit is counted in memory, and a demo site is filled. Ctrl-C ends it; the next start goes on with the same data.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { createAccount } from '../src/accounts/accounts.ts'
import { createKey } from '../src/accounts/keys.ts'
import { createSite } from '../src/accounts/sites.ts'
import { startApi } from '../src/api/service.ts'
import { readConfig } from '../src/config.ts'
import { generateDemo } from '../src/demo/generate.ts'
import { reports } from '../src/stats/reports.ts'
import { createClickHouseDatabase, openClickHouse } from '../src/stores/clickhouse.ts'
import { migrate } from '../src/stores/migrate.ts'
import { openPostgres } from '../src/stores/postgres.ts'
import { freePort, startClickHouse } from './clickhouse/server.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100000' },
    port: { type: 'string', default: '8080' },
    fresh: { type: 'boolean', default: false },
  },
})
const began = Date.now()
const folder = join(import.meta.dirname, '../.footfall/try')
const noteFile = join(folder, 'note.json')
if (values.fresh) rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true, mode: 0o700 })

say('Starting ClickHouse and PostgreSQL …')
const [engine, postgresPort] = await Promise.all([startClickHouse({ folder: join(folder, 'clickhouse') }), freePort()])
const database = spawn(
  process.execPath,
  [join(import.meta.dirname, 'postgres/pglite.ts'), join(folder, 'postgres'), `${postgresPort}`],
  {
    stdio: ['pipe', 'pipe', 'inherit'],
  },
)
await once(database.stdout, 'data')

/** What the next start needs: the secret, and the key, which is shown again here and nowhere else in Footfall. */
const note = existsSync(noteFile)
  ? (JSON.parse(readFileSync(noteFile, 'utf8')) as { secret: string; key: string | null })
  : { secret: randomBytes(32).toString('base64url'), key: null }

const config = readConfig({
  DATABASE_URL: `postgres://postgres@127.0.0.1:${postgresPort}/postgres`,
  CLICKHOUSE_URL: `${engine.url}/footfall`,
  KEY_SECRETS: `1:${note.secret}`,
  PORT: values.port,
  METRICS_PORT: `${await freePort()}`,
  LOG_LEVEL: 'warn',
})
if (!note.key) note.key = await fillDemoSite()
writeFileSync(noteFile, JSON.stringify(note), { mode: 0o600 })
const api = await startApi(config, pino({ level: config.LOG_LEVEL }))

const base = `http://127.0.0.1:${config.PORT}/api/v1`
say(`
Footfall answers after ${((Date.now() - began) / 1000).toFixed(1)} s. Your key reads demo.example:

  export KEY=${note.key}

${Object.keys(reports)
  .map((name) => `  curl -H "Authorization: Bearer $KEY" "${base}/stats/${name}?range=30d"`)
  .join('\n')}

Reference, with calls to try: ${base}/docs
Ctrl-C ends it; npm run try goes on with the same data, npm run try -- --fresh begins anew.`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await api.stop()
    database.stdin.end()
    await Promise.all([once(database, 'exit'), engine.stop()])
    process.exit()
  })
}

async function fillDemoSite(): Promise<string> {
  const postgres = openPostgres(config.DATABASE_URL)
  await createClickHouseDatabase(config.CLICKHOUSE_URL)
  const clickhouse = openClickHouse(config.CLICKHOUSE_URL)
  await migrate({ postgres, clickhouse })
  const accountId = await createAccount(postgres, { name: 'Demo', plan: 'Agency' })
  const siteId = await createSite(postgres, { accountId, domain: 'demo.example', timeZone: 'Europe/Berlin' })
  say(`Making 13 months of traffic, ${Number(values.events).toLocaleString('en')} events …`)
  await generateDemo({
    clickhouse,
    siteId,
    domain: 'demo.example',
    zone: 'Europe/Berlin',
    events: Number(values.events),
    seed: 1,
    until: Date.now(),
  })
  const key = await createKey(postgres, config.KEY_SECRETS, { accountId, siteId, name: 'Try' })
  await Promise.all([postgres.end({ timeout: 1 }), clickhouse.close()])
  return key.text
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
