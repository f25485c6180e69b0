// `footfall serve` as operators run it, in its own process: console, API, collector with its shipper, and rollups.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../dev/clickhouse/server.ts'
import { type LaunchedProcess, launchProcess } from './process.ts'
import { keySecrets } from './stores.ts'

export interface ServeProcess extends LaunchedProcess {
  metricsUrl: string
  collectorMetricsUrl: string
  spoolFolder: string
  /** Its environment, for other commands of the same installation. */
  environment: Record<string, string>
}

export const keySecretsSetting = keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(',')

const main = new URL('../../src/cli/main.ts', import.meta.url).pathname
/** For databases that are migrated. */
export const serveCommand: readonly string[] = [process.execPath, main, 'serve', '--no-migrate']

/** What `footfall serve` needs besides the databases. */
export const serveSettings = async (port: number): Promise<Record<string, string>> => ({
  KEY_SECRETS: keySecretsSetting,
  PORT: `${port}`,
  METRICS_PORT: `${await freePort()}`,
  COLLECTOR_METRICS_PORT: `${await freePort()}`,
  SPOOL_FOLDER: mkdtempSync(join(tmpdir(), 'footfall-spool-')),
})

/** Does not wait until it is ready. `file`: the main of another version. */
export async function launchServe(
  addresses: { postgres: string; clickhouse: string; redis?: string },
  settings: Record<string, string> = {},
  file = main,
): Promise<ServeProcess> {
  const port = Number(settings.PORT ?? (await freePort()))
  const [metricsPort, collectorMetricsPort] = [await freePort(), await freePort()]
  const spoolFolder = settings.SPOOL_FOLDER ?? mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  const environment = {
    DATABASE_URL: addresses.postgres,
    CLICKHOUSE_URL: addresses.clickhouse,
    ...(addresses.redis && { REDIS_URL: addresses.redis }),
    KEY_SECRETS: keySecretsSetting,
    PORT: `${port}`,
    METRICS_PORT: `${metricsPort}`,
    COLLECTOR_METRICS_PORT: `${collectorMetricsPort}`,
    SPOOL_FOLDER: spoolFolder,
    ...settings,
  }
  const launched = launchProcess({
    name: 'server',
    command: [process.execPath, file, 'serve'],
    environment,
    port,
    maxStopMs: 20_000,
  })
  return {
    ...launched,
    environment,
    spoolFolder,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    collectorMetricsUrl: `http://127.0.0.1:${collectorMetricsPort}/metrics`,
  }
}
