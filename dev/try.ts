// `npm run try`: Footfall with nothing but Node and npm. ClickHouse and PostgreSQL come from npm and live in .footfall/try, the
// rate limit is counted in memory, and a demo site is filled. Ctrl-C ends it; the next start goes on with the same data.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAccount } from '../src/accounts/accounts.ts'
import { createKey } from '../src/accounts/keys.ts'
import { createSite } from '../src/accounts/sites.ts'
import { startApi } from '../src/api/service.ts'
import { type Config, readConfig } from '../src/config.ts'
import { generateDemo } from '../src/demo/generate.ts'
import { exitWith, HintedError } from '../src/process/error-hints.ts'
import { closeServer, listen } from '../src/process/listening.ts'
import { createLog } from '../src/process/log.ts'
import { reports } from '../src/stats/reports.ts'
import { createClickHouseDatabase, openClickHouse } from '../src/stores/clickhouse.ts'
import { migrate } from '../src/stores/migrate.ts'
import { openPostgres } from '../src/stores/postgres.ts'
import { freePort, startClickHouse } from './clickhouse/server.ts'

const usage = `npm run try -- [--events <number>] [--port <port>] [--fresh]

  --events  about how many events the demo site gets, 10000 to 100000000; 100000 unless told otherwise
  --port    where the API listens; 8080 unless told otherwise
  --fresh   begin anew, without the data of the last time`

const began = Date.now()
const folder = join(import.meta.dirname, '../.footfall/try')
const noteFile = join(folder, 'note.json')
const values = readOptions()
const events = numberOf('events', 10_000, 100_000_000)
const port = numberOf('port', 1, 65_535)
/** Ended in reverse order, however it ends: ClickHouse and PostgreSQL must not outlive it. */
const running = new AsyncDisposableStack()
const config = await start().catch(async (error) => {
  await running.disposeAsync()
  exitWith(error)
})

const base = `http://127.0.0.1:${config.PORT}/api/v1`
say(`
Footfall answers after ${((Date.now() - began) / 1000).toFixed(1)} s. Your key reads demo.example:

  export KEY=${config.key}

${Object.keys(reports)
  .map((name) => `  curl -H "Authorization: Bearer $KEY" "${base}/stats/${name}?range=30d"`)
  .join('\n')}

Reference, with calls to try: ${base}/docs
Ctrl-C ends it; npm run try goes on with the same data, npm run try -- --fresh begins anew.`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await running.disposeAsync()
    process.exit()
  })
}

async function start(): Promise<Config & { key: string }> {
  // Before anything is started, which takes seconds.
  const place = { host: '127.0.0.1', port, settings: ['--port', '--port'] } as const
  const probe = createServer()
  await listen(probe, place)
  closeServer(probe)
  if (values.fresh) rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })

  say('Starting ClickHouse and PostgreSQL …')
  const engine = await startClickHouse({ folder: join(folder, 'clickhouse') })
  running.defer(() => engine.stop())
  const postgresPort = await startPostgres()

  /** What the next start needs: the secret, and the key, which is shown again here and nowhere else in Footfall. */
  const note = existsSync(noteFile)
    ? (JSON.parse(readFileSync(noteFile, 'utf8')) as { secret: string; key: string | null })
    : { secret: randomBytes(32).toString('base64url'), key: null }
  const config = readConfig({
    DATABASE_URL: `postgres://postgres@127.0.0.1:${postgresPort}/postgres`,
    CLICKHOUSE_URL: `${engine.url}/footfall`,
    KEY_SECRETS: `1:${note.secret}`,
    PORT: `${port}`,
    METRICS_PORT: `${await freePort()}`,
    LOG_LEVEL: 'warn',
  })
  const key = note.key ?? (await fillDemoSite(config))
  writeFileSync(noteFile, JSON.stringify({ ...note, key }), { mode: 0o600 })
  const api = await startApi(config, createLog(config.LOG_LEVEL))
  running.defer(() => api.stop(0))
  return { ...config, key }
}

/** Returns the port that it listens on. */
async function startPostgres(): Promise<number> {
  const port = await freePort()
  const script = join(import.meta.dirname, 'postgres/pglite.ts')
  const database = spawn(process.execPath, [script, join(folder, 'postgres'), `${port}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(database, 'exit')
  running.defer(async () => {
    database.stdin.end()
    await ended
  })
  await Promise.race([
    once(database.stdout, 'data'),
    ended.then(() => {
      throw new HintedError('PostgreSQL did not start.', 'Try again with: npm run try -- --fresh')
    }),
  ])
  return port
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        events: { type: 'string', default: '100000' },
        port: { type: 'string', default: '8080' },
        fresh: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (!values.help) return values
    say(usage)
    process.exit()
  } catch (error) {
    exitWith(new HintedError((error as Error).message, 'See: npm run try -- --help'))
  }
}

function numberOf(name: 'events' | 'port', least: number, most: number): number {
  const number = Number(values[name])
  if (Number.isInteger(number) && number >= least && number <= most) return number
  exitWith(new HintedError(`--${name} cannot be ${values[name]}.`, `It takes a whole number from ${least} to ${most}.`))
}

async function fillDemoSite(config: Config): Promise<string> {
  const postgres = openPostgres(config.DATABASE_URL)
  await createClickHouseDatabase(config.CLICKHOUSE_URL)
  const clickhouse = openClickHouse(config.CLICKHOUSE_URL)
  await migrate({ postgres, clickhouse })
  const accountId = await createAccount(postgres, { name: 'Demo', plan: 'Agency' })
  const siteId = await createSite(postgres, { accountId, domain: 'demo.example', timeZone: 'Europe/Berlin' })
  say(`Making 13 months of traffic, ${events.toLocaleString('en')} events …`)
  await generateDemo({
    clickhouse,
    siteId,
    domain: 'demo.example',
    zone: 'Europe/Berlin',
    events,
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
