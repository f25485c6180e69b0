// Everything the oracle does to the API, so that the check itself needs neither stores nor HTTP.
import { createGoal } from '../../../src/accounts/goals.ts'
import { createKey } from '../../../src/accounts/keys.ts'
import { findSite, listSitesOf, type Site } from '../../../src/accounts/sites.ts'
import { memoryLimiter } from '../../../src/api/rate-limit.ts'
import { openCluster } from '../../../src/cluster/cluster.ts'
import { migrate } from '../../../src/cluster/migrate.ts'
import { moveSite } from '../../../src/moving/move-site.ts'
import type { ClickHouse } from '../../../src/stores/clickhouse.ts'
import type { CountryCode } from '../../../src/traffic/country.ts'
import type { TrafficEvent } from '../../../src/traffic/event.ts'
import type { Goal } from '../../../src/traffic/goals.ts'
import { patientPostgres } from '../../support/fresh-stores.ts'
import { importDailySums } from '../../support/imported-sums.ts'
import { messageHeaders, messageIn, type ToolResult, toolCall } from '../../support/mcp-message.ts'
import { startOwnPostgres } from '../../support/own-servers.ts'
import { connect, createStores, disconnect, keySecrets, redisUrl, type Stores } from '../../support/stores.ts'
import { makeWorld } from '../../support/world.ts'
import { findServers } from '../cluster/servers.ts'
import type { ToolCall } from './assistant.ts'
import type { Params } from './params.ts'

export interface Response {
  status: number
  text: string
  header(name: string): string | null
}

export interface OpenSite {
  siteId: string
  domain: string
  accountId: string
  record(events: readonly TrafficEvent[]): Promise<void>
  /** Imports daily sums of another product, beside whatever events there are. */
  importSums(files: Readonly<Record<string, string>>): Promise<void>
  rollUp(last: string): Promise<void>
  /** Rolls all days up again. */
  rebuild(last: string): Promise<void>
  setNow(now: number): void
  /** From now on windows use another zone. */
  moveTo(zone: string): Promise<void>
  invalidate(days: readonly string[]): Promise<void>
  sweep(): Promise<unknown>
  /** Counts today, as of now. */
  count(): Promise<void>
  get(path: string, params: Params): Promise<Response>
  /** The same with a key of the account, which has seen every change of its sites. */
  getOfAccount(path: string, params: Params): Promise<Response>
  /** A question of /api/v2. */
  ask(kind: string, params: Params): Promise<Response>
  addGoals(goals: readonly Goal[]): Promise<void>
  /** As an assistant asks. */
  call(call: ToolCall): Promise<ToolResult>
  excludeCountries(countries: readonly CountryCode[]): Promise<void>
  /** Moves its traffic to the other shard. Nothing may be recorded or rolled up afterwards. */
  moveToOtherShard(): Promise<void>
  close(): Promise<void>
}

interface SiteOptions {
  zone: string
  now: number
  excludedCountries: readonly CountryCode[]
  /** The account of another site. */
  accountId?: string
}

interface Installation {
  stores: Stores
  remove(): Promise<void>
}

export interface RunningApi {
  openSite(options: SiteOptions): Promise<OpenSite>
  close(): Promise<void>
}

async function ofOneServer(): Promise<Installation> {
  const created = await createStores()
  const stores = connect(created.addresses)
  return {
    stores,
    async remove() {
      await disconnect(stores)
      await created.remove()
    },
  }
}

/** Two shards of two replicas. */
async function ofReplicas(): Promise<Installation> {
  const [database, servers] = await Promise.all([startOwnPostgres(), findServers(2, 'replicated')])
  const postgres = patientPostgres(database.url)
  const cluster = openCluster({ CLICKHOUSE_URL: '', CLICKHOUSE_SHARDS: servers.addresses })
  await migrate({ postgres, cluster })
  const [clickhouse] = cluster.shards as [ClickHouse]
  const addresses = { postgres: database.url, clickhouse: '', redis: redisUrl, redisPrefix: 'oracle:' }
  return {
    stores: { postgres, clickhouse, cluster, addresses },
    async remove() {
      await Promise.all([postgres.end({ timeout: 1 }), cluster.close()])
      await Promise.all([database.remove(), servers.remove()])
    },
  }
}

/** The real API on real stores. All sites share them, so a leak from one to another shows as a difference. */
export async function startRunningApi(servers: 'one' | 'replicated'): Promise<RunningApi> {
  const { stores, remove } = servers === 'one' ? await ofOneServer() : await ofReplicas()
  return {
    async openSite({ zone, now, excludedCountries, accountId }) {
      const world = await makeWorld(stores, {
        zone,
        now: new Date(now).toISOString(),
        excludedCountries: [...excludedCountries],
        // Other tests cover the rate limit; this limiter never refuses.
        limiter: memoryLimiter(() => now),
        ...(accountId && { accountId }),
      })
      const read = async (path: string, params: Params, init?: RequestInit): Promise<Response> => {
        const query = new URLSearchParams(params.map(([name, value]) => [name, value])).toString()
        const { status, text, headers } = await world.get(path, query, init)
        return { status, text, header: (name) => headers.get(name) }
      }
      return {
        siteId: world.siteId,
        domain: world.domain,
        accountId: world.accountId,
        async record(events) {
          if (events.length > 0) await world.recordEvents(events)
        },
        async importSums(files) {
          const { postgres, cluster } = stores
          const clickhouse = cluster.of((await findSite(postgres, world.siteId)) as Site)
          await importDailySums({ postgres, clickhouse }, world.siteId, files, now)
          world.api.directory.forget(world.siteId)
        },
        rollUp: world.rollUp,
        rebuild: world.rebuild,
        setNow: (at) => world.setNow(new Date(at).toISOString()),
        moveTo: world.moveTo,
        invalidate: (days) => world.invalidate(...days),
        sweep: world.sweep,
        count: world.rollUpToday,
        get: (path, params) => read(path, params),
        async ask(kind, params) {
          const query = new URLSearchParams(params.map(([name, value]) => [name, value])).toString()
          const { status, text, headers } = await world.ask(kind, query)
          return { status, text, header: (name) => headers.get(name) }
        },
        async addGoals(goals) {
          for (const goal of goals) await createGoal(stores.postgres, world.siteId, goal)
          world.api.directory.forget(world.siteId)
        },
        async getOfAccount(path, params) {
          const { postgres } = stores
          const key = await createKey(postgres, keySecrets, { accountId: world.accountId, name: 'All sites' })
          for (const { id } of await listSitesOf(postgres, [world.accountId])) world.api.directory.forget(id)
          return read(path, params, { headers: { Authorization: `Bearer ${key.text}` } })
        },
        async call({ tool, input }) {
          const init = { method: 'POST', headers: messageHeaders(world.key.text) }
          const { text } = await world.api.fetch('/mcp', { ...init, body: JSON.stringify(toolCall(tool, input)) })
          return messageIn(text).result as ToolResult
        },
        async moveToOtherShard() {
          const { postgres, cluster } = stores
          const site = await findSite(postgres, world.siteId)
          const moved = await moveSite(
            { postgres, cluster },
            { siteId: world.siteId, shard: site?.shard === 1 ? 2 : 1 },
          )
          if (moved !== 'moved') throw new Error(`The site was not moved: ${moved}`)
        },
        excludeCountries: (countries) => world.excludeCountries([...countries]),
        close: () => world.close(),
      }
    },
    close: remove,
  }
}
