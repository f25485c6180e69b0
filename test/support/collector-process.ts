// The collector as operators run it: `node src/collector/main.ts` with an environment, in a process of its own, with its shipper.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../dev/clickhouse/server.ts'
import { keySecrets, type StoreAddresses } from './stores.ts'

export interface CollectorProcess {
  url: string
  metricsUrl: string
  pid: number
  child: ChildProcess
  spoolFolder: string
  log(): string
  shipperPid(): number | undefined
  post(body: unknown, headers?: Record<string, string>, query?: string): Promise<Response>
  metric(name: string): Promise<number>
  /** SIGTERM and wait for the exit code. */
  stop(): Promise<number | null>
  kill(): Promise<void>
}

export interface CollectorProcessOptions {
  port?: number
  spoolFolder?: string
  environment?: Record<string, string>
}

/** A browser that no rule takes for a program. */
export const browserAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

export async function startCollectorProcess(
  addresses: Omit<StoreAddresses, 'redis' | 'redisPrefix'> & { redis?: string },
  options: CollectorProcessOptions = {},
): Promise<CollectorProcess> {
  const port = options.port ?? (await freePort())
  const metricsPort = await freePort()
  const spoolFolder = options.spoolFolder ?? mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  const child = spawn(process.execPath, [new URL('../../src/collector/main.ts', import.meta.url).pathname], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: addresses.postgres,
      CLICKHOUSE_URL: addresses.clickhouse,
      ...(addresses.redis && { REDIS_URL: addresses.redis }),
      KEY_SECRETS: keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(','),
      COLLECTOR_PORT: `${port}`,
      COLLECTOR_METRICS_PORT: `${metricsPort}`,
      SPOOL_FOLDER: spoolFolder,
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      log += chunk
    })
  }
  const ended = once(child, 'exit') as Promise<[number | null]>
  const removeAtExit = () => child.kill('SIGKILL')
  process.once('exit', removeAtExit)
  const url = `http://127.0.0.1:${port}`
  for (let attempt = 0; ; attempt++) {
    const ready = await fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    )
    if (ready) break
    if (attempt > 1000 || child.exitCode !== null) {
      removeAtExit()
      throw new Error(`The collector did not become ready:\n${log}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`
  return {
    url,
    metricsUrl,
    pid: child.pid as number,
    child,
    spoolFolder,
    log: () => log,
    shipperPid: () => Number(/"shipper":(\d+)/.exec(log.slice(log.lastIndexOf('"shipper":')))?.[1]) || undefined,
    post: (body, headers = {}, query = '') =>
      fetch(`${url}/api/event${query}`, {
        method: 'POST',
        headers: { 'Content-Type': 'text/plain', 'User-Agent': browserAgent, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async metric(name) {
      const text = await (await fetch(metricsUrl)).text()
      const line = text.split('\n').find((one) => one.startsWith(`${name} `))
      return Number(line?.slice(name.length + 1))
    },
    async stop() {
      process.off('exit', removeAtExit)
      child.kill('SIGTERM')
      const tooSlow = setTimeout(() => child.kill('SIGKILL'), 20_000)
      const [code] = await ended
      clearTimeout(tooSlow)
      return code
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
