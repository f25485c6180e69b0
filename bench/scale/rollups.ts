// How the bench rolls up closed days: with the command. Queries then carry the coverage as plain data.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { findSite } from '../../src/accounts/sites.ts'
import type { RollupVersion, TodayRollup } from '../../src/rollups/coverage.ts'
import { rollUpToday } from '../../src/rollups/today.ts'
import { inherited } from '../../test/support/inherited.ts'
import { cpuSeconds, round } from '../api/measure.ts'
import type { BenchSite } from './sites.ts'
import type { World } from './world.ts'

export interface RollupCost {
  seconds: number
  /** CPU of ClickHouse and of the command. */
  cpuSeconds: number
}

/** Rolls up the closed days of one site, or of all remaining sites. */
export async function rollUp({ clickhouseServer, environment }: World, site?: BenchSite): Promise<RollupCost> {
  const began = performance.now()
  const before = cpuSeconds(clickhouseServer.pid)
  const words = ['rollup', 'run', '--json', ...(site ? ['--site', site.domain] : [])]
  const command = new URL('../../src/cli/main.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [command, ...words], {
    env: { ...inherited, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let own = 0
  const watch = setInterval(() => {
    try {
      own = cpuSeconds(child.pid as number)
    } catch {
      // it has just exited
    }
  }, 100)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearInterval(watch)
  if (code !== 0) throw new Error(`footfall ${words.join(' ')} ended with ${code}`)
  return {
    seconds: round((performance.now() - began) / 1_000, 2),
    cpuSeconds: round(cpuSeconds(clickhouseServer.pid) - before + own, 2),
  }
}

/** What a query needs to be answered from rollups; without it, raw events are read. */
export const coverageOf = async ({ postgres }: World, { id }: BenchSite): Promise<readonly RollupVersion[]> =>
  (await findSite(postgres, id))?.coverage.versions ?? []

/** Counts the past half of today, as the rollup loop does every minute for a busy site. */
export async function countToday(world: World, { id }: BenchSite): Promise<RollupCost & { today: TodayRollup }> {
  const { clickhouseServer, postgres, clickhouse, state, now } = world
  const [began, before] = [performance.now(), cpuSeconds(clickhouseServer.pid)]
  await rollUpToday({ postgres, clickhouse }, id, state.zone, now.epochMilliseconds)
  const today = (await findSite(postgres, id))?.coverage.today as TodayRollup
  return {
    today,
    seconds: round((performance.now() - began) / 1_000, 2),
    cpuSeconds: round(cpuSeconds(clickhouseServer.pid) - before, 2),
  }
}
