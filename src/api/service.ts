// One API process's worth, put together: stores, directory, limiter, routes, metrics. main.ts runs it alone; `footfall serve` runs it
// beside the rest on a small box.
import { createServer, type Server } from 'node:http'
import type { Logger } from 'pino'
import { openDirectory } from '../accounts/directory.ts'
import { recordLastUse } from '../accounts/last-use.ts'
import type { Config } from '../config.ts'
import { openClickHouse } from '../stores/clickhouse.ts'
import { within } from '../stores/deadline.ts'
import { openRedis } from '../stores/redis.ts'
import { openRequestPostgres } from '../stores/request-postgres.ts'
import { watchNeighbours } from '../stores/watch.ts'
import { foldLagSeconds } from '../traffic/fold-lag.ts'
import { buildApp } from './app.ts'
import { createMetrics } from './metrics.ts'
import { memoryLimiter, redisLimiter } from './rate-limit.ts'

const graceMs = 1_000
const longestDrainMs = 8_000
/** Whoever scrapes waits no longer than this for the ledger. */
const lagMs = 250

// Who comes when the files are used up is turned away at once, instead of waiting unanswered. We need some ourselves: for the
// stores, the log, the metrics. Read before any connection is open, for it would ask for the names of their ends.
const mostConnections = Math.max(mostFiles() - 100, 10)

export interface RunningApi {
  /** Stops accepting, finishes what is under way, lets go of everything. */
  stop(): Promise<void>
}

export async function startApi(config: Config, log: Logger): Promise<RunningApi> {
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

  const lastUse = recordLastUse(postgres)
  const answerBytes = config.ANSWER_CACHE_MB * 1024 * 1024
  const app = buildApp({ clickhouse, directory, limiter, lastUse, now, log, metrics, answerBytes })
  const metricsServer = createServer(async (_request, response) => {
    response.setHeader('Content-Type', metrics.registry.contentType)
    response.end(await metrics.registry.metrics())
  })
  app.server.maxConnections = mostConnections
  const address = await app.listen({ host: config.HOST, port: config.PORT })
  log.info(`Server listening at ${address}`)
  metricsServer.listen(config.METRICS_PORT, config.METRICS_HOST)

  return {
    async stop() {
      await drain(app.server, () => app.close())
      metricsServer.close()
      metricsServer.closeAllConnections()
      lastUse.close()
      await Promise.all([directory.close(), clickhouse.close(), redis?.close()])
      await postgres.close()
    },
  }
}

/** Accepts nobody any more, and answers what is under way and what is on its way. */
async function drain(server: Server, close: () => Promise<unknown>): Promise<void> {
  const closeIdle = server.closeIdleConnections.bind(server)
  // Node would close idle connections at once, and with them the requests that are on their way on them.
  server.closeIdleConnections = () => void setTimeout(closeIdle, graceMs)
  const tooSlow = setTimeout(() => server.closeAllConnections(), longestDrainMs)
  await close()
  clearTimeout(tooSlow)
}

function mostFiles(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: number | 'unlimited' } } }
  return Number(userLimits?.open_files.soft) || 65_536
}
