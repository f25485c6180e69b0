import type { ClickHouse } from './clickhouse.ts'
import { sql } from './clickhouse-sql.ts'
import type { Postgres } from './postgres.ts'

interface Stores {
  postgres: Postgres
  clickhouse: ClickHouse
}

/** What three clocks show at one moment, in milliseconds since the epoch. */
export interface Clocks {
  own: number
  postgres: number
  clickhouse: number
}

/** Data is deleted by age only while the clocks differ by no more than this: any clock may be wrong by years. */
export const clockToleranceMs = 60_000

export async function readClocks({ postgres, clickhouse }: Stores): Promise<Clocks> {
  const [postgresAhead, clickhouseAhead] = await Promise.all([
    aheadOfUs(async () => {
      const [{ now }] = await postgres<[{ now: string }]>`SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now`
      return Number(now)
    }),
    aheadOfUs(async () => {
      const [row] = await clickhouse.rows<{ now: number }>(sql`SELECT toUnixTimestamp64Milli(now64(3)) AS now`)
      return row?.now ?? 0
    }),
  ])
  const own = Date.now()
  return { own, postgres: own + Math.round(postgresAhead), clickhouse: own + Math.round(clickhouseAhead) }
}

/** Compares with our clock at the middle of the round trip. */
async function aheadOfUs(ask: () => Promise<number>): Promise<number> {
  const before = Date.now()
  const theirs = await ask()
  return theirs - (before + Date.now()) / 2
}

export const clocksAgree = (clocks: Clocks): boolean =>
  Math.max(...Object.values(clocks)) - Math.min(...Object.values(clocks)) <= clockToleranceMs
