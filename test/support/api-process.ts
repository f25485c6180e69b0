// The API as operators run it: `node src/api/main.ts` with an environment, in a process of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { freePort } from '../../dev/clickhouse/server.ts'
import { keySecrets, type StoreAddresses } from './stores.ts'

export interface ApiProcess {
  url: string
  metricsUrl: string
  pid: number
  child: ChildProcess
  /** Everything it wrote to its log so far. */
  log(): string
  /** SIGTERM and wait for the exit code. */
  stop(): Promise<number | null>
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
  const child = spawn(command[0] as string, command.slice(1), {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: addresses.postgres,
      CLICKHOUSE_URL: addresses.clickhouse,
      ...(addresses.redis && { REDIS_URL: addresses.redis }),
      KEY_SECRETS: keySecrets.map(({ version, secret }) => `${version}:${secret}`).join(','),
      PORT: `${port}`,
      METRICS_PORT: `${metricsPort}`,
      ANSWER_CACHE_MB: '0', // a test sees what it has just recorded
      ...environment,
    },
    stdio: ['ignore', stdout ?? 'pipe', 'pipe'],
  })
  let log = ''
  child.stdout?.on('data', (chunk) => {
    log += chunk
  })
  child.stderr?.on('data', (chunk) => {
    log += chunk
  })
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
      throw new Error(`The API did not become ready:\n${log}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return {
    url,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    pid: child.pid as number,
    child,
    log: () => log,
    async stop() {
      process.off('exit', removeAtExit)
      child.kill('SIGTERM')
      const tooSlow = setTimeout(() => child.kill('SIGKILL'), 15_000)
      const [code] = await ended
      clearTimeout(tooSlow)
      return code
    },
  }
}
