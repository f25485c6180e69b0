// The folding of closed days as the bench sees it: done by the command, seen by a question as plain data.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { findSite } from '../../src/accounts/sites.ts'
import { foldOpenDay } from '../../src/folding/open-days.ts'
import type { Fold, OpenFold } from '../../src/traffic/folds.ts'
import { cpuSeconds, round } from '../api/measure.ts'
import type { BenchSite } from './sites.ts'
import type { World } from './world.ts'

export interface FoldCost {
  seconds: number
  /** Of the engine and of the command. */
  cpuSeconds: number
}

/** Folds the closed days of one site, or of all that are left. */
export async function fold({ engine, environment }: World, site?: BenchSite): Promise<FoldCost> {
  const began = performance.now()
  const before = cpuSeconds(engine.pid)
  const words = ['fold', 'run', '--json', ...(site ? ['--site', site.domain] : [])]
  const command = new URL('../../src/cli/main.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [command, ...words], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let own = 0
  const watch = setInterval(() => {
    try {
      own = cpuSeconds(child.pid as number)
    } catch {
      // it has just ended
    }
  }, 100)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearInterval(watch)
  if (code !== 0) throw new Error(`footfall ${words.join(' ')} ended with ${code}`)
  return {
    seconds: round((performance.now() - began) / 1_000, 2),
    cpuSeconds: round(cpuSeconds(engine.pid) - before + own, 2),
  }
}

/** What a question must carry to be answered from folded days; without it, it is answered from raw events. */
export const foldsOf = async ({ postgres }: World, { id }: BenchSite): Promise<Fold[]> =>
  (await findSite(postgres, id))?.folds ?? []

/** Counts the half of today that has passed, as a busy site's folding does every minute. */
export async function countToday(world: World, { id }: BenchSite): Promise<FoldCost & { open: OpenFold }> {
  const { engine, postgres, clickhouse, state, now } = world
  const [began, before] = [performance.now(), cpuSeconds(engine.pid)]
  await foldOpenDay({ postgres, clickhouse }, id, state.zone, now.epochMilliseconds)
  const open = (await findSite(postgres, id))?.open as OpenFold
  return {
    open,
    seconds: round((performance.now() - began) / 1_000, 2),
    cpuSeconds: round(cpuSeconds(engine.pid) - before, 2),
  }
}
