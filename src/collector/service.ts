// One collector, put together: stores, salts, sessions, spool, shipper, HTTP. main.ts runs it alone; `footfall serve` runs it beside
// the API on a small box.
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openDirectory } from '../accounts/directory.ts'
import type { CollectorConfig } from '../config.ts'
import { closeServer, drain, listen } from '../process/listening.ts'
import { openClickHouse } from '../stores/clickhouse.ts'
import { openRedis } from '../stores/redis.ts'
import { boundReads, openRequestPostgres } from '../stores/request-postgres.ts'
import { type OnChange, watchNeighbours } from '../stores/watch.ts'
import { buildCollector } from './app.ts'
import { createBodies } from './bodies.ts'
import { createClientAddress, createTrust } from './client-address.ts'
import { createConnections } from './connections.ts'
import { openCountries } from './country.ts'
import { readEarlierValues } from './earlier-values.ts'
import { createLimits } from './limits.ts'
import { createCollectorMetrics } from './metrics.ts'
import { createNetworkKey } from './network-key.ts'
import { readRunningSessions, readSpooledSessions } from './recent-sessions.ts'
import { openSalts } from './salts.ts'
import { openMemorySessions } from './sessions.ts'
import { shareSessions } from './shared-sessions.ts'
import { type Shipper, startShipper } from './ship.ts'
import { openSpool } from './spool.ts'
import { openValueLimiter, type ValueLimiterOptions } from './value-limits.ts'
import { createWorkQueue } from './work-queue.ts'

/** A site that is known stays usable without PostgreSQL for so long: refusing its visitors helps nobody. */
const siteUnconfirmedMs = 24 * 3_600_000
/** What a start waits for the sessions that the engine knows; what comes later is used from then on. */
const longestReadMs = 500
const longestDrainMs = 5_000
/** More than honest visitors need at once: a connection is kept for 15 s after its last request. */
const mostConnections = 4_000
/**
 * Of all bodies from their first byte until they are answered. V8 frees them late: in a flood the process has 340 MB, and had 413 MB with twice
 * this budget.
 */
const mostBodyBytes = 16 * 1024 * 1024

export interface RunningCollector {
  /** Says at /readyz that it is ending, goes on for some seconds, stops accepting, ships what it has and lets go of everything. */
  stop(drainSeconds: number): Promise<void>
}

export async function startCollector(
  config: CollectorConfig,
  log: Logger,
  limits: Pick<ValueLimiterOptions, 'limits' | 'limitedFrom'> = {},
): Promise<RunningCollector> {
  // Closed in reverse order: by stop(), or at once when something cannot be opened.
  await using opened = new AsyncDisposableStack()
  const metrics = createCollectorMetrics()
  const watch = watchNeighbours(log, metrics.dependency)

  const postgres = openRequestPostgres(config.DATABASE_URL)
  opened.defer(() => postgres.close())
  const redis = config.REDIS_URL === undefined ? undefined : openRedis(config.REDIS_URL, watch('Redis'))
  const bounded = boundReads(postgres, () => {})
  const directory = openDirectory(postgres, { onChange: watch('PostgreSQL'), unconfirmedMs: siteUnconfirmedMs })
  opened.defer(async () => void (await Promise.all([directory.close(), redis?.close()])))
  opened.defer(() => bounded.close())
  const salts = openSalts(postgres, bounded, (error) => log.warn({ err: error }, 'Salts could not be looked after'))
  opened.defer(() => salts.close())
  const countries = await openCountries(config.COUNTRY_FILE, {
    onBroken: (error) => log.error({ err: error }, 'The new country file cannot be used; the old one stays'),
  })
  opened.defer(() => countries.close())
  const clickhouse = openClickHouse(config.CLICKHOUSE_URL)
  opened.defer(() => clickhouse.close())
  const values = openValueLimiter({
    ...limits,
    readEarlier: (...asked) => readEarlierValues(clickhouse, ...asked),
    onReplaced: metrics.replaced,
    onUnread: (error) =>
      log.warn({ err: error }, 'Earlier values of a site could not be read: until they can, all count as new'),
  })
  opened.defer(() => values.close())
  const memory = openMemorySessions()
  const sessions = redis ? shareSessions(redis, memory) : memory
  opened.defer(() => sessions.close())
  let shipper: Shipper | undefined
  opened.defer(() => shipper?.stop()) // after the spool is closed, so that it ships all of it
  const spool = await openSpool({
    folder: config.SPOOL_FOLDER,
    mostBytes: config.SPOOL_MAX_BYTES,
    onChange: watch('Spool'),
    onStored: metrics.stored,
    onMeasured: metrics.spoolMeasured,
    onDeath(error) {
      // Only a new process has a new thread: answering 503 until somebody looks would help nobody (docs/operations.md).
      log.fatal({ err: error }, 'The thread of the spool has ended, and with it this process')
      process.exit(1)
    },
  })
  opened.defer(() => spool.close())
  if (!redis) await rememberSessions()
  const states = { shipping: whenChanged(watch('Shipping')), noting: whenChanged(watch('PostgreSQL of the shipper')) }
  shipper = startShipper(
    (news) => {
      if (news.is === 'shipped') metrics.shipped(news)
      else if (news.is === 'orphaned') metrics.orphaned(news.events)
      else states[news.of](news.cause === undefined, new Error(news.cause))
    },
    (pid) => log.info({ shipper: pid }, 'Shipping'),
  )

  /** A restart must not split every session that is running. While the engine is slow or away it does: hits come first. */
  async function rememberSessions(): Promise<void> {
    const reading = readRunningSessions(clickhouse, memory, Date.now()).catch((error) =>
      log.warn({ err: error }, 'Running sessions could not be read: those that are not in the spool begin anew'),
    )
    await Promise.race([reading, pause(longestReadMs)])
    readSpooledSessions(config.SPOOL_FOLDER, memory, Date.now())
  }

  const isTrusted = createTrust(config.TRUSTED_PROXIES)
  const clientAddress = createClientAddress(isTrusted)
  const networkKey = createNetworkKey()
  const eventLimits = createLimits({
    perAddress: config.EVENTS_PER_SECOND_PER_ADDRESS,
    perSite: config.EVENTS_PER_SECOND_PER_SITE,
    networkKey,
    isTrusted,
  })
  const connections = createConnections({
    most: mostConnections,
    mostPerAddress: config.CONNECTIONS_PER_ADDRESS,
    keyOf(remoteAddress) {
      const address = clientAddress(remoteAddress, undefined)
      return isTrusted(address) ? undefined : networkKey(address)
    },
    onClosed: metrics.closed,
  })
  let ending = false
  const server = buildCollector({
    siteOfDomain: directory.siteOfDomain,
    countries,
    salts,
    sessions,
    values,
    spool,
    now: Date.now,
    limits: eventLimits,
    connections,
    bodies: createBodies(mostBodyBytes, createWorkQueue()),
    clientAddress,
    log,
    onAccepted: metrics.accepted,
    onDropped: metrics.dropped,
    onAnswered: metrics.answered,
    onRefused: metrics.refused,
    isEnding: () => ending,
  })
  const metricsServer = createServer(async (_request, response) => {
    metrics.remembered(values.size().values)
    response.setHeader('Content-Type', metrics.registry.contentType)
    response.end(await metrics.registry.metrics())
  })
  opened.defer(() => closeServer(metricsServer))
  await listen(metricsServer, {
    host: config.METRICS_HOST,
    port: config.COLLECTOR_METRICS_PORT,
    settings: ['METRICS_HOST', 'COLLECTOR_METRICS_PORT'],
  })
  await listen(server, {
    host: config.COLLECTOR_HOST,
    port: config.COLLECTOR_PORT,
    settings: ['COLLECTOR_HOST', 'COLLECTOR_PORT'],
  })
  log.info(
    { metrics: `http://${config.METRICS_HOST}:${config.COLLECTOR_METRICS_PORT}/metrics` },
    `Collector listening at http://${config.COLLECTOR_HOST}:${config.COLLECTOR_PORT}`,
  )

  const running = opened.move()
  let stopped: Promise<void> | undefined
  return {
    stop(drainSeconds) {
      ending = true
      const close = () => new Promise((resolve) => server.close(resolve))
      stopped ??= drain(server, { seconds: drainSeconds, longestMs: longestDrainMs, close }).then(() =>
        running.disposeAsync(),
      )
      return stopped
    },
  }
}

/** A shipper that was started again does not know what the one before it told. */
function whenChanged(onChange: OnChange): OnChange {
  let isUp = true
  return (isUpNow, cause) => {
    if (isUpNow !== isUp) onChange(isUpNow, cause)
    isUp = isUpNow
  }
}
