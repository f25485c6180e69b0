// Assembles one collector: stores, salts, sessions, spool, shipper, HTTP. main.ts runs it alone on its own port; `footfall serve` runs it
// on the port of the API.
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openDirectory } from '../accounts/directory.ts'
import { writeDroppedEvents } from '../accounts/dropped-events.ts'
import { openCluster } from '../cluster/cluster.ts'
import type { CollectorConfig } from '../config.ts'
import { dayMs } from '../durations.ts'
import { openCountries } from '../enrichment/country.ts'
import { openSalts } from '../enrichment/salts.ts'
import { createClientAddress } from '../process/client-address.ts'
import { drain, listen } from '../process/listening.ts'
import { serveMetrics } from '../process/metrics-server.ts'
import { createNetworkKey } from '../process/network-key.ts'
import { networksOf } from '../process/networks.ts'
import { type OnChange, watchDependencies } from '../stores/dependency-status.ts'
import { openRedis } from '../stores/redis.ts'
import { boundReads, openRequestPostgres } from '../stores/request-postgres.ts'
import { buildCollector, type CollectorHandler } from './http/app.ts'
import { createBodies } from './http/bodies.ts'
import { type Connections, createConnections } from './http/connections.ts'
import { createLimits } from './http/limits.ts'
import { createWorkQueue } from './http/work-queue.ts'
import { openDroppedEvents } from './intake/dropped-events.ts'
import { readEarlierValues } from './intake/earlier-values.ts'
import { openValueLimiter, type ValueLimiterOptions } from './intake/value-limits.ts'
import { createCollectorMetrics } from './metrics.ts'
import { openMemorySessions } from './sessions/memory-sessions.ts'
import { shareSessions } from './sessions/redis-sessions.ts'
import { readRunningSessions, readSpooledSessions } from './sessions/restored-sessions.ts'
import { type ShipperProcess, startShipper } from './shipper/supervisor.ts'
import { openSpool } from './spool/spool.ts'

/** How long a known site stays usable without PostgreSQL: refusing its visitors helps nobody. */
const siteUnconfirmedMs = dayMs
/** How long a start waits for the sessions in ClickHouse. Sessions that arrive later are used from then on. */
const maxReadMs = 500
const maxDrainMs = 5_000
/** More than normal traffic needs: a connection is kept for 15 s after its last request. */
const maxConnections = 4_000
/**
 * All bodies together, each from its first byte until its response. V8 frees them late: in a flood the process has 340 MB, and had 413 MB
 * with twice this budget.
 */
const maxBodyBytes = 16 * 1024 * 1024

type ValueLimits = Pick<ValueLimiterOptions, 'limits' | 'limitedFrom'>

export interface RunningCollector {
  /** Reports at /readyz that it is ending, serves for `drainSeconds` more, stops listening, ships the rest and closes everything. */
  stop(drainSeconds: number): Promise<void>
}

/** A collector on a port of its own. */
export async function startCollector(
  config: CollectorConfig,
  log: Logger,
  limits: ValueLimits = {},
): Promise<RunningCollector> {
  await using opened = new AsyncDisposableStack()
  const collector = await openCollector(config, log, limits)
  opened.defer(() => collector.close())
  const server = createServer(
    {
      maxHeaderSize: 8_192,
      headersTimeout: 5_000,
      requestTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 15_000,
    },
    collector.handle,
  )
  server.on('connection', collector.connections.opened)
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
      collector.end()
      const close = () => new Promise((resolve) => server.close(resolve))
      stopped ??= drain(server, { seconds: drainSeconds, timeoutMs: maxDrainMs, close }).then(() =>
        running.disposeAsync(),
      )
      return stopped
    },
  }
}

export interface OpenCollector extends CollectorHandler {
  connections: Connections
  /** From now on it reports at /readyz that it is ending, and closes connections after their next response. */
  end(): void
  /** Ships the rest and closes everything. No more requests may arrive. */
  close(): Promise<void>
}

/** A collector without a port: it answers requests that another server receives. */
export async function openCollector(
  config: CollectorConfig,
  log: Logger,
  limits: ValueLimits = {},
): Promise<OpenCollector> {
  // Closed in reverse order, by close() or at once when something fails to open.
  await using opened = new AsyncDisposableStack()
  const metrics = createCollectorMetrics({ folder: config.SPOOL_FOLDER, maxBytes: config.SPOOL_MAX_BYTES })
  const watch = watchDependencies(log, metrics.dependency)

  const postgres = openRequestPostgres(config.DATABASE_URL)
  opened.defer(() => postgres.close())
  const redis = config.REDIS_URL === undefined ? undefined : openRedis(config.REDIS_URL, watch('Redis'))
  const bounded = boundReads(postgres, () => {})
  const directory = openDirectory(postgres, { onChange: watch('PostgreSQL'), unconfirmedMs: siteUnconfirmedMs })
  opened.defer(async () => void (await Promise.all([directory.close(), redis?.close()])))
  opened.defer(() => bounded.close())
  const salts = openSalts(postgres, bounded, (error) =>
    log.warn({ err: error }, 'Salts could not be fetched or deleted'),
  )
  opened.defer(() => salts.close())
  const countries = await openCountries(config.COUNTRY_FILE, {
    onBroken: (error) => log.error({ err: error }, 'The new country file cannot be used; the old one stays'),
  })
  opened.defer(() => countries.close())
  const cluster = openCluster(config)
  opened.defer(() => cluster.close())
  const values = openValueLimiter({
    ...limits,
    async readEarlier(siteId, ...request) {
      const site = await directory.site(siteId)
      return site ? readEarlierValues(cluster.of(site), siteId, ...request) : []
    },
    onReplaced: metrics.replaced,
    onUnread: (error) =>
      log.warn(
        { err: error },
        'Earlier values of a site could not be read; until they are, all its values count as new',
      ),
  })
  opened.defer(() => values.close())
  const droppedEvents = openDroppedEvents((events) =>
    writeDroppedEvents(postgres, events).catch((error) =>
      log.warn({ err: error }, 'What became of some dropped events cannot be found later'),
    ),
  )
  opened.defer(() => droppedEvents.close())
  const memory = openMemorySessions()
  const sessions = redis ? shareSessions(redis, memory) : memory
  opened.defer(() => sessions.close())
  let shipper: ShipperProcess | undefined
  opened.defer(() => shipper?.stop()) // runs after the spool is closed, so that the shipper ships all of it
  const spool = await openSpool({
    folder: config.SPOOL_FOLDER,
    maxBytes: config.SPOOL_MAX_BYTES,
    onChange: watch('Spool'),
    onStored: metrics.stored,
    onMeasured: metrics.spoolMeasured,
    onDeath(error) {
      // Ends the process, because a restart is the only way to get a new thread (docs/operations.md).
      log.fatal({ err: error }, 'The spool thread ended, so this process ends too')
      process.exit(1)
    },
  })
  opened.defer(() => spool.close())
  if (!redis) await restoreSessions()
  const states = { shipping: whenChanged(watch('Shipping')), noting: whenChanged(watch('PostgreSQL of the shipper')) }
  shipper = startShipper(
    (message) => {
      if (message.is === 'shipped') metrics.shipped(message)
      else if (message.is === 'orphaned') metrics.orphaned(message.events)
      else states[message.of](message.cause === undefined, new Error(message.cause))
    },
    (pid) => log.info({ shipper: pid }, 'Shipping'),
  )

  /** A restart must not split running sessions. It does so only while ClickHouse is slow or down, because hits must not wait. */
  async function restoreSessions(): Promise<void> {
    const reading = cluster.shards.map((clickhouse) =>
      readRunningSessions(clickhouse, memory, Date.now()).catch((error) =>
        log.warn({ err: error }, 'Running sessions could not be read; sessions that are not in the spool start again'),
      ),
    )
    await Promise.race([Promise.all(reading), pause(maxReadMs)])
    readSpooledSessions(config.SPOOL_FOLDER, memory, Date.now())
  }

  const isTrusted = networksOf(config.TRUSTED_PROXIES)
  const clientAddress = createClientAddress(isTrusted)
  const networkKey = createNetworkKey()
  const eventLimits = createLimits({
    perAddress: config.EVENTS_PER_SECOND_PER_ADDRESS,
    perSite: config.EVENTS_PER_SECOND_PER_SITE,
    networkKey,
    isTrusted,
  })
  const connections = createConnections({
    max: maxConnections,
    maxPerAddress: config.CONNECTIONS_PER_ADDRESS,
    keyOf(remoteAddress) {
      const address = clientAddress(remoteAddress, undefined)
      return isTrusted(address) ? undefined : networkKey(address)
    },
    onClosed: metrics.closed,
  })
  let ending = false
  const handler = buildCollector({
    siteOfDomain: directory.siteOfDomain,
    countries,
    salts,
    sessions,
    values,
    droppedEvents,
    spool,
    now: Date.now,
    limits: eventLimits,
    connections,
    bodies: createBodies(maxBodyBytes, createWorkQueue()),
    clientAddress,
    log,
    onAccepted: metrics.accepted,
    onDropped: metrics.dropped,
    onAnswered: metrics.answered,
    onRefused: metrics.refused,
    isEnding: () => ending,
  })
  const metricsPlace = {
    host: config.METRICS_HOST,
    port: config.COLLECTOR_METRICS_PORT,
    settings: ['METRICS_HOST', 'COLLECTOR_METRICS_PORT'],
  } as const
  const countValues = () => metrics.remembered(values.size().values)
  opened.defer(await serveMetrics(metrics.registry, metricsPlace, countValues))

  const running = opened.move()
  return {
    ...handler,
    connections,
    end() {
      ending = true
    },
    close: () => running.disposeAsync(),
  }
}

/** Passes on changes only: a restarted shipper does not know what the one before it reported. */
function whenChanged(onChange: OnChange): OnChange {
  let isUp = true
  return (isUpNow, cause) => {
    if (isUpNow !== isUp) onChange(isUpNow, cause)
    isUp = isUpNow
  }
}
