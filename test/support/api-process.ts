// The API as operators run it: `node src/api/main.ts` with an environment, in a process of its own.
import { freePort } from '../../dev/clickhouse/server.ts'
import { type StartedProcess, startProcess } from './process.ts'
import { keySecrets, type StoreAddresses } from './stores.ts'

export interface ApiProcess extends StartedProcess {
  metricsUrl: string
}

export interface ApiProcessOptions {
  /** A file descriptor for its log, which `log()` then does not see. */
  stdout?: number
  /** As `ulimit -n`. */
  mostFiles?: number
}

export async function startApiProcess(
  addresses: Omit<StoreAddresses, 'redis' | 'redisPrefix'> & { redis?: string },
  environment: Record<string, string> = {},
  { stdout, mostFiles }: ApiProcessOptions = {},
): Promise<ApiProcess> {
  const [port, metricsPort] = [await freePort(), await freePort()]
  const command = [process.execPath, new URL('../../src/api/main.ts', import.meta.url).pathname]
  if (mostFiles) command.unshift('bash', '-c', `ulimit -n ${mostFiles}; exec "$@"`, 'bash')
  const started = await startProcess({
    name: 'API',
    command,
    environment: {
      DATABASE_URL: addresses.postgres,
      CLICKHOUSE_URL: addresses.clickhouse,
      ...(addresses.redis && { REDIS_URL: addresses.redis }),
      KEY_SECRETS: keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(','),
      PORT: `${port}`,
      METRICS_PORT: `${metricsPort}`,
      DRAIN_SECONDS: '0',
      ANSWER_CACHE_MB: '0', // a test sees what it has just recorded
      ...environment,
    },
    port,
    ...(stdout !== undefined && { stdout }),
    longestStopMs: 15_000,
  })
  return { ...started, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` }
}
