// The collector with its shipper as operators run it: `node src/collector/main.ts` with an environment, in its own process.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../dev/clickhouse/server.ts'
import { type StartedProcess, startProcess } from './process.ts'
import { serveCommand, serveSettings } from './serve-process.ts'
import type { StoreAddresses } from './stores.ts'

export interface CollectorProcess extends StartedProcess {
  metricsUrl: string
  spoolFolder: string
  shipperPid(): number | undefined
  post(body: unknown, headers?: Record<string, string>, query?: string): Promise<Response>
  metric(name: string): Promise<number>
}

export interface CollectorProcessOptions {
  port?: number
  spoolFolder?: string
  environment?: Record<string, string>
  /** The file to run instead of the collector's own main. */
  main?: URL
  /** Runs `footfall serve` instead: the collector on one port with console and API. */
  serve?: boolean
}

/** For tests that send thousands of events from one address or to one site and do not test the limits. */
export const withoutLimits = {
  EVENTS_PER_SECOND_PER_ADDRESS: '0',
  EVENTS_PER_SECOND_PER_SITE: '0',
  CONNECTIONS_PER_ADDRESS: '0',
}

/** A browser that no rule classifies as a bot. */
export const browserAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

export async function startCollectorProcess(
  addresses: Omit<StoreAddresses, 'redis' | 'redisPrefix'> & { redis?: string },
  options: CollectorProcessOptions = {},
): Promise<CollectorProcess> {
  const port = options.port ?? (await freePort())
  const metricsPort = await freePort()
  const spoolFolder = options.spoolFolder ?? mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  const started = await startProcess({
    name: 'collector',
    command: options.serve
      ? serveCommand
      : [process.execPath, (options.main ?? new URL('../../src/collector/main.ts', import.meta.url)).pathname],
    environment: {
      DATABASE_URL: addresses.postgres,
      CLICKHOUSE_URL: addresses.clickhouse,
      ...(addresses.redis && { REDIS_URL: addresses.redis }),
      ...(options.serve ? await serveSettings(port) : { COLLECTOR_PORT: `${port}` }),
      COLLECTOR_METRICS_PORT: `${metricsPort}`,
      SPOOL_FOLDER: spoolFolder,
      DRAIN_SECONDS: '0',
      ...options.environment,
    },
    port,
    maxStopMs: 20_000,
  })
  const { url, log } = started
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`
  return {
    ...started,
    metricsUrl,
    spoolFolder,
    shipperPid: () => Number(/"shipper":(\d+)/.exec(log().slice(log().lastIndexOf('"shipper":')))?.[1]) || undefined,
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
  }
}
