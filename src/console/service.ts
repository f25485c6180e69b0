// One console: on the port of the API in `footfall serve`, or alone on a port of its own (main.ts).
import type { Logger } from 'pino'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { type Directory, openDirectory } from '../accounts/directory.ts'
import { type RequestWindows, redisWindows } from '../accounts/request-windows.ts'
import { startAlerts } from '../alerts/checking.ts'
import { showChecks } from '../alerts/metrics.ts'
import { type Cluster, openCluster } from '../cluster/cluster.ts'
import type { Config } from '../config.ts'
import { minuteMs } from '../durations.ts'
import { queueDueReports } from '../email-reports/queue-due.ts'
import { type MailServices, writeReport } from '../email-reports/write-report.ts'
import { startMail } from '../mail/sender.ts'
import { mailSettingsOf, outboxOf } from '../mail/settings.ts'
import { showBuildInfo } from '../process/build-info.ts'
import { createClientAddress } from '../process/client-address.ts'
import { cannotListen, drain } from '../process/listening.ts'
import { serveMetrics } from '../process/metrics-server.ts'
import { networksOf } from '../process/networks.ts'
import type { PortShare } from '../process/shared-port.ts'
import { refuseOlder } from '../rollups/ledger.ts'
import { createStatsService, type StatsService } from '../stats/service.ts'
import { watchDependencies } from '../stores/dependency-status.ts'
import { openPostgres, type Postgres } from '../stores/postgres.ts'
import { openRedis } from '../stores/redis.ts'
import { openRequestPostgres } from '../stores/request-postgres.ts'
import { queueExpiringKeys } from '../users/key-notices.ts'
import { linkAddress } from '../users/one-time-links.ts'
import { createPasswords } from '../users/passwords.ts'
import { createSetupLink } from '../users/setup.ts'
import { countAttempts } from '../webhooks/metrics.ts'
import { startWebhooks } from '../webhooks/sender.ts'
import { resolveByDns } from '../webhooks/target.ts'
import { buildConsole } from './app.ts'
import type { SingleSignOn } from './route.ts'
import { createProvider } from './sign-in/provider.ts'
import { openUploads } from './uploads/jobs.ts'

const maxDrainMs = 6_000

/** Services that the console shares with the API of the same process: a change takes effect there at once, and cache and queue are one. */
export interface SharedServices {
  directory: Directory
  stats: StatsService
  /** Undefined: only API processes know the running windows of keys. */
  limiter: RequestWindows | undefined
  /** Holds the counter of refusals. */
  registry: Registry
}

export interface OpenConsole extends PortShare {
  /** If there is no owner, writes the setup link to the log. */
  announceSetup(): Promise<void>
  /** Ends what would not end by itself: the port of the API can close only then. */
  end(): void
  close(): Promise<void>
}

/** A console without a port: it answers requests that the API's server receives. */
export function openConsole(config: Config, log: Logger, shared: SharedServices): OpenConsole {
  let isEnding = false
  const options = { config, log, port: config.PORT, isEnding: () => isEnding }
  const { app, announceSetup, close } = assemble(options, shared)
  const ready = app.ready()
  return {
    // The API answers its own paths and everything that is not a path.
    answers: (path) => path.startsWith('/') && !/^\/(api|mcp|livez|readyz)(\/|$)/.test(path),
    handle: (request, response) => void ready.then(() => app.routing(request, response)),
    announceSetup,
    end() {
      isEnding = true
    },
    async close() {
      await app.close()
      await close()
    },
  }
}

export interface RunningConsole {
  stop(drainSeconds: number): Promise<void>
}

/** A console on a port of its own. */
export async function startConsole(config: Config, log: Logger): Promise<RunningConsole> {
  const watch = watchDependencies(log, () => {})
  const postgres = openRequestPostgres(config.DATABASE_URL)
  const cluster = openCluster(config, { watch })
  const directory = openDirectory(postgres, {
    secrets: config.KEY_SECRETS,
    onChange: watch('PostgreSQL'),
    refuseOlder: () => refuseOlder({ postgres, cluster }),
  })
  const stats = createStatsService({ cluster, now: Date.now, cacheBytes: config.RESPONSE_CACHE_MB * 1024 * 1024 })
  const redis = config.REDIS_URL === undefined ? undefined : openRedis(config.REDIS_URL, watch('Redis'))
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  showBuildInfo(registry)
  let isEnding = false
  const options = { config, log, port: config.CONSOLE_PORT, isEnding: () => isEnding }
  const limiter = redis && redisWindows(redis)
  const { app, announceSetup, close } = assemble(options, { directory, stats, limiter, registry })
  let closeMetrics = () => {}
  const closeAll = async () => {
    closeMetrics()
    await close()
    await directory.close()
    await Promise.all([postgres.close(), cluster.close(), redis?.close()])
  }
  const listenAddress = { host: config.CONSOLE_HOST, port: config.CONSOLE_PORT }
  const metricsAddress = {
    host: config.METRICS_HOST,
    port: config.CONSOLE_METRICS_PORT,
    settings: ['METRICS_HOST', 'CONSOLE_METRICS_PORT'],
  } as const
  const start = async (): Promise<string> => {
    closeMetrics = await serveMetrics(registry, metricsAddress)
    return app
      .listen(listenAddress)
      .catch(cannotListen({ ...listenAddress, settings: ['CONSOLE_HOST', 'CONSOLE_PORT'] }))
  }
  const address = await start().catch(async (error) => {
    await closeAll()
    throw error
  })
  const metrics = `http://${config.METRICS_HOST}:${config.CONSOLE_METRICS_PORT}/metrics`
  log.info({ metrics }, `Console listening at ${address}`)
  void announceSetup()
  return {
    async stop(drainSeconds) {
      isEnding = true
      await drain(app.server, { seconds: drainSeconds, timeoutMs: maxDrainMs, close: () => app.close() })
      await closeAll()
    },
  }
}

interface ConsoleProcess {
  config: Config
  log: Logger
  port: number
  isEnding(): boolean
}

function assemble(
  { config, log, port, isEnding }: ConsoleProcess,
  { directory, stats, limiter, registry }: SharedServices,
) {
  // Not the API's connections: those give up after 200 ms, and a page may wait longer.
  const postgres = openPostgres(config.DATABASE_URL)
  const cluster = openCluster(config)
  const publicUrl = config.PUBLIC_URL ?? `http://localhost:${port}`
  const mail = startMailOf(config, { log, postgres, cluster, stats })
  const webhookRules = { resolve: resolveByDns, isAllowed: networksOf(config.WEBHOOK_ALLOW_PRIVATE ?? []) }
  const webhooks = startWebhooks(
    { postgres, cluster },
    { secrets: config.KEY_SECRETS, rules: webhookRules, log, onAttempt: countAttempts(registry) },
  )
  const alerts = startAlerts(
    { postgres, cluster },
    { publicUrl, outbox: outboxOf(config), log, onChecked: showChecks(registry, cluster) },
  )
  const uploads = openUploads({ config, postgres, outbox: outboxOf(config), log })
  const app = buildConsole({
    postgres,
    cluster,
    directory,
    stats,
    limiter,
    registry,
    passwords: createPasswords(),
    keySecrets: config.KEY_SECRETS,
    singleSignOn: singleSignOnOf(config, { publicUrl, log }),
    publicUrl,
    outbox: outboxOf(config),
    webhookRules,
    now: Date.now,
    log,
    clientAddress: createClientAddress(networksOf(config.TRUSTED_PROXIES)),
    isEnding,
    uploads,
  })
  return {
    app,
    announceSetup: () => announceSetup(postgres, publicUrl, log),
    async close() {
      await Promise.all([mail?.stop(), webhooks.stop(), alerts.stop(), uploads.close()])
      await Promise.all([postgres.end({ timeout: 0 }), cluster.close()])
    },
  }
}

/** The console sends the mail of the installation, because it already reads statistics. Several consoles share the work. */
function startMailOf(config: Config, services: Omit<MailServices, 'outbox'> & { cluster: Cluster; log: Logger }) {
  const [settings, outbox] = [mailSettingsOf(config), outboxOf(config)]
  if (!settings || !outbox) return undefined
  const { postgres, cluster, log } = services
  return startMail(
    { postgres, cluster },
    {
      settings,
      outbox,
      log,
      due: [
        { what: 'reports', everyMs: 2_000, queue: (signal) => queueDueReports(postgres, signal) },
        {
          what: 'notices of expiring keys',
          everyMs: minuteMs,
          queue: (signal) => queueExpiringKeys(postgres, outbox, signal),
        },
      ],
      writeReport: (message, signal) => writeReport({ ...services, outbox }, message, Date.now(), signal),
    },
  )
}

function singleSignOnOf(config: Config, around: { publicUrl: string; log: Logger }): SingleSignOn | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = config
  if (!issuer || !clientId || !clientSecret) return undefined
  const { OIDC_DOMAIN: domain, OIDC_ACCOUNT: accountId } = config
  return {
    provider: createProvider({ issuer, clientId, clientSecret }, around),
    joining: domain && accountId ? { domain, accountId } : undefined,
  }
}

async function announceSetup(postgres: Postgres, publicUrl: string, log: Logger): Promise<void> {
  try {
    const token = await createSetupLink(postgres, undefined)
    if (token)
      log.info(
        { link: linkAddress(publicUrl, 'setup', token) },
        'Nobody owns this installation yet. Open within 24 hours:',
      )
  } catch (error) {
    // The rest works without it; `footfall user create` makes the link, too.
    log.warn({ err: error }, 'no link to set up the first owner could be made')
  }
}
