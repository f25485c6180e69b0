// The API as operators run it: `node src/api/main.ts` with an environment, in its own process.
import { freePort } from '../../dev/clickhouse/server.ts'
import { type StartedProcess, startProcess } from './process.ts'
import { keySecretsSetting, serveCommand, serveSettings } from './serve-process.ts'
import type { StoreAddresses } from './stores.ts'

export interface ApiProcess extends StartedProcess {
  metricsUrl: string
}

export interface ApiProcessOptions {
  /** A file descriptor for its log. `log()` then stays empty. */
  stdout?: number
  /** The limit that `ulimit -n` sets. */
  maxFiles?: number
  /** Runs `footfall serve` instead: the API on one port with console and collector. */
  serve?: boolean
}

export async function startApiProcess(
  addresses: Omit<StoreAddresses, 'redis' | 'redisPrefix'> & { redis?: string },
  environment: Record<string, string> = {},
  { stdout, maxFiles, serve }: ApiProcessOptions = {},
): Promise<ApiProcess> {
  const [port, metricsPort] = [await freePort(), await freePort()]
  const command = serve
    ? [...serveCommand]
    : [process.execPath, new URL('../../src/api/main.ts', import.meta.url).pathname]
  if (maxFiles) command.unshift('bash', '-c', `ulimit -n ${maxFiles}; exec "$@"`, 'bash')
  const started = await startProcess({
    name: 'API',
    command,
    environment: {
      DATABASE_URL: addresses.postgres,
      CLICKHOUSE_URL: addresses.clickhouse,
      ...(addresses.redis && { REDIS_URL: addresses.redis }),
      KEY_SECRETS: keySecretsSetting,
      PORT: `${port}`,
      ...(serve && (await serveSettings(port))),
      METRICS_PORT: `${metricsPort}`,
      DRAIN_SECONDS: '0',
      RESPONSE_CACHE_MB: '0', // so that a test sees what it has just recorded
      ...environment,
    },
    port,
    ...(stdout !== undefined && { stdout }),
    maxStopMs: 15_000,
  })
  return { ...started, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` }
}
