// A site with half a year of traffic on the first of two shards, rolled up, and a small one beside it that stays.
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite, findSite, type Site } from '../../src/accounts/sites.ts'
import { lastingTables } from '../../src/cluster/tables.ts'
import { type MoveOptions, moveSite } from '../../src/moving/move-site.ts'
import { rollUpSite } from '../../src/rollups/roll-up.ts'
import { type ReportName, reports } from '../../src/stats/reports.ts'
import { createStatsService } from '../../src/stats/service.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { type Sql, sql, text } from '../../src/stores/clickhouse-sql.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, everyDetail } from '../support/events.ts'
import { freshShards } from '../support/fresh-shards.ts'

export const now = Date.parse('2026-11-15T12:00:00Z')

const tables: Record<string, Sql> = { ...lastingTables, titles: sql`titles FINAL` }

export async function openMovingSite(t: TestContext) {
  const shards = await freshShards(2, (end) => t.after(end))
  const { postgres, cluster } = shards
  const [source, target] = cluster.shards as [ClickHouse, ClickHouse]
  const accountId = await createAccount(postgres, { name: 'Moving', plan: 'Agency' })
  const newSite = async (domain: string) => {
    const id = await createSite(postgres, { accountId, domain })
    await postgres`UPDATE sites SET shard = 1 WHERE id = ${id}`
    return id
  }
  const siteId = await newSite('moving.example')
  const otherId = await newSite('staying.example')

  /** Visits of three pages on each of these days, with titles. */
  const record = (days: readonly string[], { on = source, of = siteId, hour = '10' } = {}) =>
    recordBatch(on, {
      id: randomUUID(),
      events: days.flatMap((day) =>
        ['/', '/one', '/two'].map((pathname) =>
          eventOf(
            {
              ...everyDetail,
              at: `${day}T${hour}:00:00Z`,
              visitor: randomUUID(),
              pathname,
              title: `Page ${pathname}`,
            },
            of,
            'UTC',
          ),
        ),
      ),
    })

  const site = async (): Promise<Site> => (await findSite(postgres, siteId)) as Site
  const stats = createStatsService({ cluster, now: () => now, cacheBytes: 0 })
  const parameters = { range: { name: '12m' }, filters: {}, limit: 10 } as const

  return {
    ...shards,
    source,
    target,
    siteId,
    otherId,
    accountId,
    record,
    site,
    rollUp: async (last: string) => rollUpSite({ postgres, clickhouse: cluster.of(await site()) }, siteId, last),
    move: (options: Partial<MoveOptions> = {}) =>
      moveSite(
        { postgres, cluster },
        { siteId, shard: 2, confirmMs: 1_000, compareMs: 10_000, heardMs: 0, ...options },
      ),
    /** Rows of the site, by table. */
    async rowsOn(clickhouse: ClickHouse, id = siteId): Promise<Record<string, number>> {
      const counts: Record<string, number> = {}
      for (const [name, table] of Object.entries(tables)) {
        const [row] = await clickhouse.rowsPatiently<{ rows: number }>(
          sql`SELECT count() AS rows FROM ${table} WHERE site_id = ${text(id)}`,
        )
        counts[name] = row?.rows ?? 0
      }
      return counts
    },
    /** Every column of its events. */
    eventsOn: (clickhouse: ClickHouse) =>
      clickhouse.rowsPatiently<Record<string, unknown>>(
        sql`SELECT * REPLACE (toString(visitor_id) AS visitor_id, toString(session_id) AS session_id, toString(event_id) AS event_id)
          FROM events WHERE site_id = ${text(siteId)} ORDER BY visitor_id`,
      ),
    /** The answers of all reports about a year. */
    async answers(): Promise<string[]> {
      const read = { site: await site(), parameters, queueKey: 'test' }
      const found = await Promise.all(
        reportNames.map((report) => stats.read({ report, ...read }, AbortSignal.timeout(60_000))),
      )
      return found.map(({ data }) => JSON.stringify(data))
    },
    /** The events in all of the year, or in a month of another one. */
    async pageviews(month?: string): Promise<number> {
      const firstDay = Temporal.PlainDate.from(`${month ?? '2026-01'}-01`)
      const lastDay = firstDay.add({ months: 1 }).subtract({ days: 1 })
      const range = month === undefined ? parameters.range : ({ name: 'custom', firstDay, lastDay } as const)
      const read = { site: await site(), parameters: { ...parameters, range }, queueKey: 'test' }
      const { data } = await stats.read({ report: 'overview', ...read }, AbortSignal.timeout(60_000))
      return (data as { current: { pageviews: number } }).current.pageviews
    },
  }
}

const reportNames = Object.keys(reports) as ReportName[]

export const nothing = { events: 0, titles: 0, short_rollups: 0, long_rollups: 0, sessions: 0, imported_sums: 0 }
