// One API process: its stores, its metrics, the API itself, and its shutdown. main.ts runs it alone; `footfall serve` runs it together
// with the other processes behind one port.
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { windowPrefix } from '../accounts/request-windows.ts'
import { openCluster } from '../cluster/cluster.ts'
import type { Config } from '../config.ts'
import { cannotListen, drain } from '../process/listening.ts'
import { serveMetrics } from '../process/metrics-server.ts'
import type { SharedPort } from '../process/shared-port.ts'
import { recountedInstallation } from '../recounting/rounds.ts'
import { rollupLagSeconds } from '../rollups/lag.ts'
import { refuseOlder } from '../rollups/ledger.ts'
import { within } from '../stores/deadline.ts'
import { watchDependencies } from '../stores/dependency-status.ts'
import type { Postgres } from '../stores/postgres.ts'
import { openRedis } from '../stores/redis.ts'
import { openRequestPostgres } from '../stores/request-postgres.ts'
import { type Api, type ApiOptions, assembleApi } from './assembly.ts'
import { createMetrics, type InstallationState } from './metrics.ts'
import { type Limiter, memoryLimiter, redisLimiter } from './rate-limit.ts'

/** How long a scrape of the metrics waits for PostgreSQL. */
const stateMs = 250
/** Together with the 3 s of DRAIN_SECONDS, less than the 10 s after which containers are killed. */
const maxDrainMs = 6_000

// When file descriptors run out, the server refuses a new connection at once instead of letting it wait without an answer. We keep some
// for the stores, the log and the metrics. We read the limit before any connection is open, because the report resolves the host names
// of all open connections.
const maxConnections = Math.max(maxFiles() - 100, 10)

export interface RunningApi {
  /** Reports at /readyz that it is ending, keeps answering for some seconds, stops accepting, finishes running requests, closes everything. */
  stop(drainSeconds: number): Promise<void>
}

/** An API whose stores are open and that does not listen yet. */
export interface OpenApi extends RunningApi, Pick<Api, 'directory' | 'stats'> {
  limiter: Limiter
  /** The metrics of the process, to which the console adds its own. */
  registry: Registry
  listen(): Promise<void>
}

export async function startApi(config: Config, log: Logger): Promise<RunningApi> {
  const api = await openApi(config, log)
  await api.listen()
  return api
}

/** With a shared port, other processes answer on the port of the API, too. `findInSpool`: a collector runs beside it. */
export async function openApi(
  config: Config,
  log: Logger,
  sharedPort?: SharedPort,
  findInSpool?: ApiOptions['findInSpool'],
): Promise<OpenApi> {
  // Closed in reverse order: by stop(), or at once if a store cannot be opened or the port is in use.
  await using opened = new AsyncDisposableStack()
  const now = () => Date.now()
  const postgres = openRequestPostgres(config.DATABASE_URL)
  const metrics = createMetrics(() => within(stateMs, 'PostgreSQL', readState(postgres)))
  const watch = watchDependencies(log, metrics.dependency)

  const cluster = openCluster(config, { watch, log: config.FOOTFALL_EXPLAIN ? log : undefined })
  const redis = config.REDIS_URL === undefined ? undefined : openRedis(config.REDIS_URL, watch('Redis'))
  const limiter = redis
    ? redisLimiter({ redis, prefix: windowPrefix, now, onDegraded: metrics.countedLocally })
    : memoryLimiter(now)
  opened.defer(() => postgres.close())
  opened.defer(async () => void (await Promise.all([cluster.close(), redis?.close()])))

  let isEnding = false
  const api = assembleApi({
    postgres,
    cluster,
    limiter,
    now,
    log,
    metrics,
    directory: {
      secrets: config.KEY_SECRETS,
      onChange: watch('PostgreSQL'),
      refuseOlder: () => refuseOlder({ postgres, cluster }),
    },
    cacheBytes: config.RESPONSE_CACHE_MB * 1024 * 1024,
    isEnding: () => isEnding,
    sharedPort,
    findInSpool,
    mcpOrigins: [config.PUBLIC_URL ?? `http://localhost:${config.PORT}`, ...(config.MCP_ORIGINS ?? [])],
  })
  opened.defer(() => api.close())
  const { app } = api
  app.server.maxConnections = maxConnections
  const metricsPlace = {
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    settings: ['METRICS_HOST', 'METRICS_PORT'],
  } as const
  opened.defer(await serveMetrics(metrics.registry, metricsPlace))
  const running = opened.move()
  let stopped: Promise<void> | undefined
  return {
    directory: api.directory,
    stats: api.stats,
    limiter,
    registry: metrics.registry,
    async listen() {
      const options = { host: config.HOST, port: config.PORT }
      const listening = app.listen(options).catch(cannotListen({ ...options, settings: ['HOST', 'PORT'] }))
      const address = await listening.catch(async (error) => {
        await running.disposeAsync()
        throw error
      })
      log.info(
        {
          reference: `${address}/api/v1/docs`,
          metrics: `http://${config.METRICS_HOST}:${config.METRICS_PORT}/metrics`,
        },
        `Server listening at ${address}`,
      )
    },
    stop(drainSeconds) {
      isEnding = true
      stopped ??= drain(app.server, {
        seconds: drainSeconds,
        timeoutMs: maxDrainMs,
        close: () => app.close(),
      }).then(() => running.disposeAsync())
      return stopped
    },
  }
}

/** The process that rolls up measures the disks once a minute. */
async function readState(postgres: Postgres): Promise<InstallationState> {
  const [lag, recounted, shards] = await Promise.all([
    rollupLagSeconds(postgres),
    recountedInstallation(postgres),
    postgres<{ number: number; free: number }[]>`SELECT number, free_share AS free FROM shards`,
  ])
  return {
    rollupLagSeconds: lag,
    recounted,
    freeDisk: Object.fromEntries(shards.map(({ number, free }) => [`ClickHouse shard ${number}`, free])),
  }
}

function maxFiles(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: number | 'unlimited' } } }
  return Number(userLimits?.open_files.soft) || 65_536
}
