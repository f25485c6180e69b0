// `footfall serve` as operators run it, in a process of its own: API, collector with its shipper, and folding.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../dev/clickhouse/server.ts'
import { type LaunchedProcess, launchProcess } from './process.ts'
import { keySecrets } from './stores.ts'

export interface ServeProcess extends LaunchedProcess {
  collectorUrl: string
  metricsUrl: string
  collectorMetricsUrl: string
  spoolFolder: string
  /** What it was started with, for other commands of the same installation. */
  environment: Record<string, string>
}

/** Does not wait until it is ready. */
export async function launchServe(
  addresses: { postgres: string; clickhouse: string; redis?: string },
  settings: Record<string, string> = {},
): Promise<ServeProcess> {
  const [port, collectorPort, metricsPort, collectorMetricsPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ]
  const spoolFolder = settings.SPOOL_FOLDER ?? mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  const environment = {
    DATABASE_URL: addresses.postgres,
    CLICKHOUSE_URL: addresses.clickhouse,
    ...(addresses.redis && { REDIS_URL: addresses.redis }),
    KEY_SECRETS: keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(','),
    PORT: `${port}`,
    METRICS_PORT: `${metricsPort}`,
    COLLECTOR_PORT: `${collectorPort}`,
    COLLECTOR_METRICS_PORT: `${collectorMetricsPort}`,
    SPOOL_FOLDER: spoolFolder,
    ...settings,
  }
  const launched = launchProcess({
    name: 'server',
    command: [process.execPath, new URL('../../src/cli/main.ts', import.meta.url).pathname, 'serve'],
    environment,
    port,
    longestStopMs: 20_000,
  })
  return {
    ...launched,
    environment,
    spoolFolder,
    collectorUrl: `http://127.0.0.1:${collectorPort}`,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    collectorMetricsUrl: `http://127.0.0.1:${collectorMetricsPort}/metrics`,
  }
}
