import { createServer } from 'node:http'
import { pino } from 'pino'
import { openDirectory } from '../accounts/directory.ts'
import { readConfig } from '../config.ts'
import { openClickHouse } from '../stores/clickhouse.ts'
import { openPostgres } from '../stores/postgres.ts'
import { openRedis } from '../stores/redis.ts'
import { buildApp } from './app.ts'
import { createMetrics } from './metrics.ts'
import { memoryLimiter, redisLimiter } from './rate-limit.ts'

const config = readConfig(process.env)
const log = pino({ level: config.LOG_LEVEL })
const metrics = createMetrics()
const now = () => Date.now()

const postgres = openPostgres(config.DATABASE_URL)
const clickhouse = openClickHouse(config.CLICKHOUSE_URL)
const redis =
  config.REDIS_URL === undefined
    ? undefined
    : openRedis(config.REDIS_URL, (error) => log.warn({ err: error }, 'Redis does not answer'))
const directory = openDirectory(postgres, config.KEY_SECRETS, (error) =>
  log.warn({ err: error }, 'PostgreSQL does not answer'),
)
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

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, async () => {
    await app.close()
    metricsServer.close()
    await Promise.all([directory.close(), clickhouse.close(), redis?.close()])
    await postgres.end({ timeout: 1 })
  })
}
