// One API process's worth, put together: stores, directory, limiter, routes, metrics. main.ts runs it alone; `footfall serve` runs it
// beside the rest on a small box.
import { createServer } from 'node:http'
import type { Logger } from 'pino'
import { openDirectory } from '../accounts/directory.ts'
import type { Config } from '../config.ts'
import { openClickHouse } from '../stores/clickhouse.ts'
import { openPostgres } from '../stores/postgres.ts'
import { openRedis } from '../stores/redis.ts'
import { buildApp } from './app.ts'
import { createMetrics } from './metrics.ts'
import { memoryLimiter, redisLimiter } from './rate-limit.ts'

export interface RunningApi {
  /** Stops accepting, finishes what is under way, lets go of everything. */
  stop(): Promise<void>
}

export async function startApi(config: Config, log: Logger): Promise<RunningApi> {
  const metrics = createMetrics()
  const now = () => Date.now()

  /** One line and one metric for each change of a neighbour's state, none for each request that meets it. */
  const watch = (name: 'PostgreSQL' | 'ClickHouse' | 'Redis') => {
    metrics.dependency(name, true)
    return (isUp: boolean, cause?: Error) => {
      metrics.dependency(name, isUp)
      if (isUp) log.info(`${name} answers again`)
      else log.error({ err: cause }, `${name} does not answer`)
    }
  }

  const postgres = openPostgres(config.DATABASE_URL)
  const clickhouse = openClickHouse(config.CLICKHOUSE_URL, watch('ClickHouse'))
  const redis = config.REDIS_URL === undefined ? undefined : openRedis(config.REDIS_URL, watch('Redis'))
  const directory = openDirectory(postgres, config.KEY_SECRETS, watch('PostgreSQL'))
  const limiter = redis
    ? redisLimiter({ redis, prefix: 'footfall:limit:', now, onDegraded: metrics.countedLocally })
    : memoryLimiter(now)

  const app = buildApp({ clickhouse, directory, limiter, now, log, metrics })
  const metricsServer = createServer(async (_request, response) => {
    response.setHeader('Content-Type', metrics.registry.contentType)
    response.end(await metrics.registry.metrics())
  })
  await app.listen({ host: config.HOST, port: config.PORT })
  metricsServer.listen(config.METRICS_PORT, config.METRICS_HOST)

  return {
    async stop() {
      await app.close()
      metricsServer.close()
      await Promise.all([directory.close(), clickhouse.close(), redis?.close()])
      await postgres.end({ timeout: 1 })
    },
  }
}
