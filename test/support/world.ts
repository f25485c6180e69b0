// A site of a test's own, with the API in front of it over real HTTP. Tenancy is the isolation: tests share the stores and run
// side by side, so a leak between sites fails some test.
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { createAccount, setPlan } from '../../src/accounts/accounts.ts'
import { openDirectory } from '../../src/accounts/directory.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { recordLastUse } from '../../src/accounts/last-use.ts'
import type { Plan } from '../../src/accounts/plans.ts'
import { createSite, setExcludedCountries, setTimeZone } from '../../src/accounts/sites.ts'
import { buildApp } from '../../src/api/app.ts'
import { createMetrics } from '../../src/api/metrics.ts'
import { type Limiter, redisLimiter } from '../../src/api/rate-limit.ts'
import { foldSite, refoldSite, sweep } from '../../src/folding/fold.ts'
import { foldOpenDay } from '../../src/folding/open-days.ts'
import { openRedis } from '../../src/stores/redis.ts'
import type { CountryCode } from '../../src/traffic/country.ts'
import type { TrafficEvent } from '../../src/traffic/event.ts'
import { noteLateDays } from '../../src/traffic/late-days.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { atEnd } from './at-end.ts'
import { eventOf, type Hit } from './events.ts'
import { keySecrets, openStores, type Stores } from './stores.ts'

export interface WorldOptions {
  zone?: string
  excludedCountries?: CountryCode[]
  plan?: Plan
  /** ISO 8601; what the API takes for the present. Without it, the real clock. */
  now?: string
  limiter?: Limiter
}

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
  const { postgres, clickhouse, addresses } = stores
  let zone = options.zone ?? 'UTC'
  const clock = { at: options.now ? Temporal.Instant.from(options.now).epochMilliseconds : undefined }
  const now = () => clock.at ?? Date.now()

  const accountId = await createAccount(postgres, { name: 'A test', plan: options.plan ?? 'Agency' })
  const domain = `${randomUUID()}.example`
  const siteId = await createSite(postgres, {
    accountId,
    domain,
    timeZone: zone,
    excludedCountries: options.excludedCountries ?? [],
  })
  const key = await createKey(postgres, keySecrets, { accountId, siteId, name: 'Test' })
  const api = await startApi(stores, { now, ...(options.limiter && { limiter: options.limiter }) })

  /** GET with this world's key; `parameters` may be a query string word for word. */
  async function get(path: string, parameters: Record<string, string> | string = {}, init: RequestInit = {}) {
    const query = typeof parameters === 'string' ? parameters : new URLSearchParams(parameters).toString()
    const headers = { Authorization: `Bearer ${key.text}`, ...(init.headers as Record<string, string>) }
    return api.fetch(`/api/v1${path}${query && `?${query}`}`, { ...init, headers })
  }

  async function recordEvents(events: readonly TrafficEvent[]) {
    await recordBatch(clickhouse, { id: randomUUID(), events })
    await noteLateDays(postgres, events)
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
    /** The `data` of a report, for tests about numbers. */
    async data(path: string, parameters: Record<string, string> | string = {}) {
      const answer = await get(path, parameters)
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${answer.text}`)
      return answer.json.data
    },
    record: (...hits: Hit[]) => recordEvents(hits.map((hit) => eventOf(hit, siteId, zone))),
    recordEvents,
    /** Folds what is recorded up to a day. */
    fold: async (last: string) => {
      await foldSite(stores, siteId, last)
      api.directory.forget(siteId)
    },
    /** Folds it all again. */
    refold: async (last: string) => {
      await refoldSite(stores, siteId, last)
      api.directory.forget(siteId)
    },
    /** Counts the days that are not closed, as of now. */
    foldOpenDays: async () => {
      await foldOpenDay(stores, siteId, zone, now())
      api.directory.forget(siteId)
    },
    /** Takes days out of what is read folded, as late events would. */
    unfold: async (...days: string[]) => {
      await noteLateDays(
        postgres,
        days.map((day) => ({ siteId, day })),
      )
      api.directory.forget(siteId)
    },
    /** Deletes what no longer counts, at once. */
    sweep: () => sweep(stores, '0 seconds'),
    setNow: (iso: string) => {
      clock.at = Temporal.Instant.from(iso).epochMilliseconds
    },
    excludeCountries: async (countries: CountryCode[]) => {
      await setExcludedCountries(postgres, siteId, countries)
      api.directory.forget(siteId)
    },
    /** From now on events are stamped, and windows cut, in this zone. */
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
  /** Without it every request asks the engine, so that a test sees what it has just recorded. */
  answerBytes?: number
}

/** One API process's worth: its own directory, limiter and port, on the shared stores. */
export async function startApi({ postgres, clickhouse, addresses }: Stores, options: ApiOptions = {}) {
  const now = options.now ?? Date.now
  // Patient: what a slow test machine takes must not look like an outage. Bounds are tested in test/faults, on processes.
  const directory = openDirectory(postgres, { secrets: keySecrets, queryMs: 10_000 })
  const metrics = createMetrics()
  const limiter =
    options.limiter ??
    redisLimiter({
      redis: sharedRedis(addresses.redis),
      prefix: addresses.redisPrefix,
      now,
      onDegraded: metrics.countedLocally,
    })
  const log = options.log ? pino({ level: 'trace' }, options.log) : pino({ level: 'silent' })
  const lastUse = recordLastUse(postgres, options.lastUseMs)
  const answerBytes = options.answerBytes ?? 0
  const app = buildApp({
    clickhouse,
    directory,
    limiter,
    lastUse,
    now,
    log,
    metrics,
    answerBytes,
    isEnding: () => false,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return {
    app,
    port,
    directory,
    metrics,
    async fetch(path: string, init: RequestInit = {}): Promise<Answer> {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
      return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
    },
    async close() {
      app.server.closeAllConnections()
      await app.close()
      lastUse.close()
      await directory.close()
    },
  }
}

let redis: ReturnType<typeof openRedis> | undefined

/** One connection for all worlds of a file. */
function sharedRedis(url: string) {
  if (!redis) {
    redis = openRedis(url, () => {})
    atEnd(() => redis?.close())
  }
  return redis
}
