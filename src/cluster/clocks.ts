import { minuteMs } from '../durations.ts'
import { type ClickHouse, serversOf } from '../stores/clickhouse.ts'
import { sql } from '../stores/clickhouse-sql.ts'
import type { AllStores } from './stores.ts'

/** What the clocks show at one moment, in milliseconds since the epoch. */
export interface Clocks {
  own: number
  postgres: number
  /** Of each server. */
  clickhouse: readonly number[]
}

/** Data is deleted by age only while the clocks differ by no more than this: any clock may be wrong by years. */
export const clockToleranceMs = minuteMs

export async function readClocks({ postgres, cluster }: AllStores): Promise<Clocks> {
  const [postgresAhead, ...clickhouseAhead] = await Promise.all([
    aheadOfUs(async () => {
      const [{ now }] = await postgres<[{ now: string }]>`SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now`
      return Number(now)
    }),
    ...cluster.shards.flatMap(serversOf).map((clickhouse) => aheadOfUs(() => clockOf(clickhouse))),
  ])
  const own = Date.now()
  const clickhouse = clickhouseAhead.map((ahead) => own + Math.round(ahead))
  return { own, postgres: own + Math.round(postgresAhead as number), clickhouse }
}

export async function clockOf(server: ClickHouse): Promise<number> {
  const [row] = await server.rows<{ now: number }>(sql`SELECT toUnixTimestamp64Milli(now64(3)) AS now`)
  return row?.now ?? 0
}

/** Milliseconds that another clock is ahead of ours, which is read at the middle of the round trip. */
async function aheadOfUs(readClock: () => Promise<number>): Promise<number> {
  const before = Date.now()
  const theirs = await readClock()
  return theirs - (before + Date.now()) / 2
}

export function clocksAgree({ own, postgres, clickhouse }: Clocks): boolean {
  const all = [own, postgres, ...clickhouse]
  return Math.max(...all) - Math.min(...all) <= clockToleranceMs
}
