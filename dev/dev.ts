// `npm run dev`: everything that `footfall serve` runs (console, API, collector, tracker, rollups) on a demo site, restarted when a file in src or
// migrations changes. The databases keep running meanwhile, and their data stays in .footfall/dev between starts. Set CLICKHOUSE_URL and
// DATABASE_URL to use other databases than those from npm.
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { exitWithin } from '../src/process/ending.ts'
import { exitWith } from '../src/process/error-hints.ts'
import { probe } from '../src/process/listening.ts'
import { type Installation, maxEndMs, startInstallation } from './installation.ts'
import { type Options, readOptions } from './options.ts'
import { startWatched, type WatchedProcess } from './watched-process.ts'

const root = join(import.meta.dirname, '..')
const options = readOptions('dev')
const [port, metricsPort, collectorMetricsPort] = portsFrom(options.port)
const base = `http://localhost:${port}`

await run(options).catch(exitWith)
process.exit()

async function run({ events, fresh }: Options): Promise<void> {
  const { CLICKHOUSE_URL: clickhouseUrl, DATABASE_URL: databaseUrl } = process.env
  await using installation = await startInstallation({
    name: 'dev',
    events,
    fresh,
    clickhouseUrl,
    databaseUrl,
    check: probePorts,
  })
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  stopping.signal.addEventListener('abort', () => exitWithin(maxEndMs))
  const stopped = once(stopping.signal, 'abort')
  const server = serve(installation)
  await Promise.race([untilReady(), stopped])
  if (!stopping.signal.aborted) welcome(installation, await installation.signInAddress(base))
  await stopped
  await server.stop()
}

async function probePorts(): Promise<void> {
  for (const wanted of portsFrom(options.port))
    await probe({ host: '127.0.0.1', port: wanted, settings: ['--port', '--port'] })
}

function serve({ settings, folder }: Installation): WatchedProcess {
  const command = ['--disable-warning=ExperimentalWarning', 'src/cli/main.ts', 'serve']
  return startWatched(['src', 'migrations'], command, {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...settings,
      PORT: `${port}`,
      METRICS_PORT: `${metricsPort}`,
      COLLECTOR_METRICS_PORT: `${collectorMetricsPort}`,
      DRAIN_SECONDS: '0',
      SPOOL_FOLDER: join(folder, 'spool'),
      FOOTFALL_NO_ENV_FILE: '1',
    },
  })
}

async function untilReady(): Promise<void> {
  for (;;) {
    const answer = await fetch(`${base}/readyz`).catch(() => undefined)
    if (answer?.ok) return
    await sleep(100)
  }
}

function welcome({ key, owner }: Installation, address: string): void {
  console.log(`
Dashboard  ${address} (signs in once, within ten minutes)
Console    ${base}, as ${owner.email} with the password ${owner.password}
API        ${base}/api/v1
Reference  ${base}/api/v1/docs
Collector  ${base}/api/event
Tracker    ${base}/js/footfall.js
Metrics    http://127.0.0.1:${metricsPort}/metrics, http://127.0.0.1:${collectorMetricsPort}/metrics

Read demo.example, and send it an event:

  curl -H "Authorization: Bearer ${key}" "${base}/api/v1/stats/overview?range=7d"
  curl -A "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0" -d '{"name":"pageview","url":"https://demo.example/","domain":"demo.example"}' "${base}/api/event?debug=1"

It restarts when a file in src or migrations changes. Ctrl-C ends it; npm run dev -- --fresh starts with an empty installation.
`)
}

function portsFrom(first: number): [number, number, number] {
  return [first, first + 1, first + 2]
}
