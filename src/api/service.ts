// One API process's worth, put together: stores, directory, limiter, routes, metrics. main.ts runs it alone; `footfall serve` runs it
// beside the rest on a small box.
import { createServer } from 'node:http'
import type { Logger } from 'pino'
import { openDirectory } from '../accounts/directory.ts'
import { recordLastUse } from '../accounts/last-use.ts'
import type { Config } from '../config.ts'
import { cannotListen, closeServer, drain, listen } from '../process/listening.ts'
import { openClickHouse } from '../stores/clickhouse.ts'
import { within } from '../stores/deadline.ts'
import { openRedis } from '../stores/redis.ts'
import { openRequestPostgres } from '../stores/request-postgres.ts'
import { watchNeighbours } from '../stores/watch.ts'
import { foldLagSeconds } from '../traffic/fold-lag.ts'
import { buildApp } from './app.ts'
import { createMetrics } from './metrics.ts'
import { memoryLimiter, redisLimiter } from './rate-limit.ts'

/** Whoever scrapes waits no longer than this for the ledger. */
const lagMs = 250
/** With the 3 s of DRAIN_SECONDS within the 10 s after which containers are killed. */
const longestDrainMs = 6_000

// Who comes when the files are used up is turned away at once, instead of waiting unanswered. We need some ourselves: for the
// stores, the log, the metrics. Read before any connection is open, for it would ask for the names of their ends.
const mostConnections = Math.max(mostFiles() - 100, 10)

export interface RunningApi {
  /** Says at /readyz that it is ending, goes on for some seconds, stops accepting, finishes what is under way, lets go of everything. */
  stop(drainSeconds: number): Promise<void>
}

export async function startApi(config: Config, log: Logger): Promise<RunningApi> {
  // Closed in reverse order: by stop(), or at once when something cannot be opened.
  await using opened = new AsyncDisposableStack()
  const now = () => Date.now()
  const postgres = openRequestPostgres(config.DATABASE_URL)
  const metrics = createMetrics(() => within(lagMs, 'PostgreSQL', foldLagSeconds(postgres)))
  const watch = watchNeighbours(log, metrics.dependency)

  const clickhouse = openClickHouse(config.CLICKHOUSE_URL, watch('ClickHouse'))
  const redis = config.REDIS_URL === undefined ? undefined : openRedis(config.REDIS_URL, watch('Redis'))
  const directory = openDirectory(postgres, { secrets: config.KEY_SECRETS, onChange: watch('PostgreSQL') })
  const limiter = redis
    ? redisLimiter({ redis, prefix: 'footfall:limit:', now, onDegraded: metrics.countedLocally })
    : memoryLimiter(now)
  opened.defer(() => postgres.close())
  opened.defer(async () => void (await Promise.all([directory.close(), clickhouse.close(), redis?.close()])))

  const lastUse = recordLastUse(postgres)
  opened.defer(() => lastUse.close())
  const answerBytes = config.ANSWER_CACHE_MB * 1024 * 1024
  let isEnding = false
  const app = buildApp({
    clickhouse,
    directory,
    limiter,
    lastUse,
    now,
    log,
    metrics,
    answerBytes,
    isEnding: () => isEnding,
  })
  const metricsServer = createServer(async (_request, response) => {
    response.setHeader('Content-Type', metrics.registry.contentType)
    response.end(await metrics.registry.metrics())
  })
  app.server.maxConnections = mostConnections
  const metricsPlace = {
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    settings: ['METRICS_HOST', 'METRICS_PORT'],
  } as const
  opened.defer(() => closeServer(metricsServer))
  await listen(metricsServer, metricsPlace)
  opened.defer(() => app.close())
  const place = { host: config.HOST, port: config.PORT }
  const address = await app.listen(place).catch(cannotListen({ ...place, settings: ['HOST', 'PORT'] }))
  log.info(
    { reference: `${address}/api/v1/docs`, metrics: `http://${config.METRICS_HOST}:${config.METRICS_PORT}/metrics` },
    `Server listening at ${address}`,
  )

  const running = opened.move()
  let stopped: Promise<void> | undefined
  return {
    stop(drainSeconds) {
      isEnding = true
      stopped ??= drain(app.server, {
        seconds: drainSeconds,
        longestMs: longestDrainMs,
        close: () => app.close(),
      }).then(() => running.disposeAsync())
      return stopped
    },
  }
}

function mostFiles(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: number | 'unlimited' } } }
  return Number(userLimits?.open_files.soft) || 65_536
}
