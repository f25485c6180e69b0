// What is kept between runs, beside ClickHouse's data: it takes minutes to generate and roll up a hundred million events.
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface State {
  folder: string
  /** The end of the traffic in UTC milliseconds. */
  until: number
  /** A zone in which that is about noon: half of today has passed, at any hour the bench runs. */
  zone: string
  /** The result of a step that runs once, in this run or an earlier one. */
  once<Result>(step: string, take: () => Promise<Result>): Promise<Result>
  /** Forgets the steps with this prefix. */
  forget(prefix: string): void
}

interface Kept {
  until: number
  steps: Record<string, unknown>
}

export function openState(name: string, fresh: boolean): State {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  const folder = join(cache, 'footfall-bench', name)
  const file = join(folder, 'state.json')
  if (fresh || !existsSync(file)) rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const kept: Kept = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Kept)
    : { until: Date.now(), steps: {} }
  const save = () => {
    writeFileSync(`${file}.new`, JSON.stringify(kept, null, 2))
    renameSync(`${file}.new`, file)
  }
  save()
  return {
    folder,
    until: kept.until,
    zone: noonZone(kept.until),
    async once<Result>(step: string, take: () => Promise<Result>) {
      if (!(step in kept.steps)) {
        kept.steps[step] = await take()
        save()
      }
      return kept.steps[step] as Result
    },
    forget(prefix) {
      for (const step of Object.keys(kept.steps)) if (step.startsWith(prefix)) delete kept.steps[step]
      save()
    },
  }
}

/** `Etc/GMT-8` is eight hours ahead of UTC. */
function noonZone(instant: number): string {
  const ahead = 12 - new Date(instant).getUTCHours()
  return ahead === 0 ? 'UTC' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
}

/** Changes with the matching files: their results are then made again. */
export function fingerprint(...patterns: string[]): string {
  const cwd = new URL('../../', import.meta.url).pathname
  const hash = createHash('sha256')
  for (const path of globSync(patterns, { cwd }).sort()) hash.update(path).update(readFileSync(join(cwd, path)))
  return hash.digest('hex').slice(0, 12)
}
