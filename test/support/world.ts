// Each test has its own site, with the API in front of it over real HTTP. Tenancy isolates the tests: they share the stores and
// run in parallel, so a leak between sites makes some test fail.
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { createAccount, setPlan } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import type { Plan } from '../../src/accounts/plans.ts'
import { createSite, findSite, type Site, setExcludedCountries, setTimeZone } from '../../src/accounts/sites.ts'
import { assembleApi } from '../../src/api/assembly.ts'
import { createMetrics } from '../../src/api/metrics.ts'
import { type Limiter, redisLimiter } from '../../src/api/rate-limit.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { invalidateDays } from '../../src/rollups/invalidation.ts'
import { rebuildSite, rollUpSite } from '../../src/rollups/roll-up.ts'
import { sweep } from '../../src/rollups/sweep.ts'
import { rollUpToday } from '../../src/rollups/today.ts'
import { openRedis } from '../../src/stores/redis.ts'
import type { CountryCode } from '../../src/traffic/country.ts'
import type { TrafficEvent } from '../../src/traffic/event.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { atEnd } from './at-end.ts'
import { eventOf, type Hit } from './events.ts'
import { keySecrets, openStores, type Stores } from './stores.ts'

export interface WorldOptions {
  zone?: string
  excludedCountries?: CountryCode[]
  plan?: Plan
  /** ISO 8601: the API's current time. Without it the API uses the real clock. */
  now?: string
  limiter?: Limiter
  /** The account of another world. Without it, the world has its own. */
  accountId?: string
}

type Parameters = Record<string, string> | string

export interface Answer {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests compare whole bodies with literals
  json: any
}

export type World = Awaited<ReturnType<typeof makeWorld>>

export async function openWorld(test: TestContext, options: WorldOptions = {}): Promise<World> {
  const world = await makeWorld(await openStores(), options)
  test.after(() => world.close())
  return world
}

export async function makeWorld(stores: Stores, options: WorldOptions) {
  const { postgres, cluster, addresses } = stores
  let zone = options.zone ?? 'UTC'
  const clock = { at: options.now ? Temporal.Instant.from(options.now).epochMilliseconds : undefined }
  const now = () => clock.at ?? Date.now()

  const accountId =
    options.accountId ?? (await createAccount(postgres, { name: 'A test', plan: options.plan ?? 'Agency' }))
  const domain = `${randomUUID()}.example`
  const siteId = await createSite(postgres, {
    accountId,
    domain,
    timeZone: zone,
    excludedCountries: options.excludedCountries ?? [],
  })
  // The shard that the site was created on: a test that moves it records and rolls up before.
  const clickhouse = cluster.of((await findSite(postgres, siteId)) as Site)
  const key = await createKey(postgres, keySecrets, { accountId, siteId, name: 'Test' })
  const api = await startApi(stores, { now, ...(options.limiter && { limiter: options.limiter }) })

  /** GET with this world's key. `parameters` may also be the exact query string. */
  async function get(path: string, parameters: Parameters = {}, init: RequestInit = {}) {
    return getOf('/api/v1', path, parameters, init)
  }

  async function getOf(version: string, path: string, parameters: Parameters, init: RequestInit) {
    const query = typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString()
    const headers = { Authorization: `Bearer ${key.text}`, ...(init.headers as Record<string, string>) }
    return api.fetch(`${version}${path}${query && `?${query}`}`, { ...init, headers })
  }

  async function recordEvents(events: readonly TrafficEvent[]) {
    await recordBatch(clickhouse, { id: randomUUID(), events })
    await invalidateDays(postgres, events)
    api.directory.forget(siteId)
  }

  return {
    stores,
    api,
    accountId,
    siteId,
    domain,
    key,
    get,
    /** The answer to a question of v2, for example `ask('totals', 'filter=page:is:/pricing')`. */
    ask: (kind: string, parameters: Parameters = {}, init: RequestInit = {}) =>
      getOf('/api/v2/stats', `/${kind}`, parameters, init),
    /** The `data` of a report, for tests about numbers. */
    async data(path: string, parameters: Record<string, string> | string = {}) {
      const answer = await get(path, parameters)
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${answer.text}`)
      return answer.json.data
    },
    record: (...hits: Hit[]) => recordEvents(hits.map((hit) => eventOf(hit, siteId, zone))),
    recordEvents,
    /** Rolls up what is recorded, up to and including a day. */
    rollUp: async (last: string) => {
      await rollUpSite({ postgres, clickhouse }, siteId, last)
      api.directory.forget(siteId)
    },
    /** Rolls up everything again. */
    rebuild: async (last: string) => {
      await rebuildSite({ postgres, clickhouse }, siteId, last)
      api.directory.forget(siteId)
    },
    /** Rolls up the days that are not closed, as of now. */
    rollUpToday: async () => {
      await rollUpToday({ postgres, clickhouse }, siteId, zone, now())
      api.directory.forget(siteId)
    },
    /** Invalidates the rollups of days, as late events would. */
    invalidate: async (...days: string[]) => {
      await invalidateDays(
        postgres,
        days.map((day) => ({ siteId, day })),
      )
      api.directory.forget(siteId)
    },
    /** Deletes outdated rollups at once. */
    sweep: () => sweep({ postgres, clickhouse }, '0 seconds'),
    setNow: (iso: string) => {
      clock.at = Temporal.Instant.from(iso).epochMilliseconds
    },
    excludeCountries: async (countries: CountryCode[]) => {
      await setExcludedCountries(postgres, siteId, countries)
      api.directory.forget(siteId)
    },
    /** From now on the days of events and the windows of queries are those of this zone. */
    moveTo: async (timeZone: string) => {
      zone = timeZone
      await setTimeZone(postgres, siteId, timeZone)
      api.directory.forget(siteId)
    },
    changePlan: async (plan: Plan) => {
      await setPlan(postgres, accountId, plan)
      api.directory.forget(accountId)
    },
    prefix: addresses.redisPrefix,
    close: () => api.close(),
  }
}

export interface ApiOptions {
  lastUseMs?: number
  now?: () => number
  limiter?: Limiter
  log?: { write(line: string): void }
  /** Without it every request queries ClickHouse, so that a test sees what it has just recorded. */
  responseCacheBytes?: number
  mcpOrigins?: readonly string[]
}

/** What one API process has: its own directory, limiter and port, on the shared stores. */
export async function startApi({ postgres, clickhouse, addresses, ...stores }: Stores, options: ApiOptions = {}) {
  // A test may give it a ClickHouse that is slow or down.
  const cluster = stores.cluster.shards.includes(clickhouse) ? stores.cluster : clusterOf([clickhouse])
  const now = options.now ?? Date.now
  const metrics = createMetrics()
  const limiter =
    options.limiter ??
    redisLimiter({
      redis: sharedRedis(addresses.redis),
      prefix: addresses.redisPrefix,
      now,
      onDegraded: metrics.countedLocally,
    })
  const api = assembleApi({
    postgres,
    cluster,
    limiter,
    now,
    log: options.log ? pino({ level: 'trace' }, options.log) : pino({ level: 'silent' }),
    metrics,
    // Patient, so that a slow test machine does not look like an outage. The real bounds are tested in test/faults, on processes.
    directory: { secrets: keySecrets, queryMs: 10_000 },
    lastUseMs: options.lastUseMs,
    cacheBytes: options.responseCacheBytes ?? 0,
    isEnding: () => false,
    mcpOrigins: options.mcpOrigins ?? [],
  })
  const { app, directory } = api
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return {
    app,
    port,
    directory,
    limiter,
    metrics,
    async fetch(path: string, init: RequestInit = {}): Promise<Answer> {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
      return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
    },
    async close() {
      app.server.closeAllConnections()
      await api.close()
    },
  }
}

let redis: ReturnType<typeof openRedis> | undefined

/** One connection for all worlds of a test file. */
function sharedRedis(url: string) {
  if (!redis) {
    redis = openRedis(url, () => {})
    atEnd(() => redis?.close())
  }
  return redis
}
