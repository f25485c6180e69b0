// Scheduled backups (decision D-232). The folder itself says when the last good one was made: each backup has its moment in its name, and gets
// this name only when it is complete. Everything else in the folder is left alone.
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Keep } from '../config/parsers.ts'
import { dayMs, hourMs } from '../durations.ts'

/** The end of the name of a backup that is being written or removed. */
const unfinished = '.unfinished'

export const unfinishedName = (folder: string): string => folder + unfinished

/** `scheduled-2026-11-18T03-00-04Z`: no colons, which some disks and archives refuse. */
export const nameOf = (time: number): string =>
  `scheduled-${new Date(time).toISOString().slice(0, 19).replaceAll(':', '-')}Z`

/** Undefined for a name that `nameOf` does not make. */
function timeOf(name: string): number | undefined {
  const [, day, hours, minutes, seconds] = /^scheduled-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z$/.exec(name) ?? []
  const time = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`)
  return Number.isNaN(time) ? undefined : time
}

interface ScheduledBackup {
  name: string
  time: number
}

/** The complete backups in the folder, oldest first. None if there is no such folder. */
export function goodBackups(folder: string): ScheduledBackup[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .flatMap((name) => {
      const time = timeOf(name)
      return time !== undefined && existsSync(join(folder, name, 'manifest.json')) ? [{ name, time }] : []
    })
    .sort((one, other) => one.time - other.time)
}

/** The newest one. A clock that was wrong once may have made one of the future, which says nothing. */
export const lastGood = (folder: string, now: number): ScheduledBackup | undefined =>
  goodBackups(folder).findLast(({ time }) => time <= now)

/** Whether there is no backup since the hour last struck. The hour is in UTC, where every day has every hour once. */
export function isDue(last: number | undefined, now: number, hour: number): boolean {
  const today = Math.floor(now / dayMs) * dayMs + hour * hourMs
  return last === undefined || last < (today <= now ? today : today - dayMs)
}

/** The newest backup of each of the last days, weeks and months that have one: a machine that was off keeps what it has. */
export function keptOf(times: readonly number[], keep: Keep): Set<number> {
  const newestFirst = times.toSorted((one, other) => other - one)
  const kept = new Set(newestFirst.slice(0, 1))
  const rules: [count: number, periodOf: (time: number) => number | string][] = [
    [keep.days, (time) => Math.floor(time / dayMs)],
    [keep.weeks, (time) => Math.floor((time / dayMs + 3) / 7)], // from Monday; day 0 was a Thursday
    [keep.months, (time) => new Date(time).toISOString().slice(0, 7)],
  ]
  for (const [count, periodOf] of rules) {
    const byPeriod = Map.groupBy(newestFirst, periodOf)
    for (const [newest] of [...byPeriod.values()].slice(0, count)) kept.add(newest as number)
  }
  return kept
}

/** Removes the good backups that the rule does not keep, and what killed backups left behind. Returns the names of the good ones. */
export function prune(folder: string, keep: Keep): string[] {
  const good = goodBackups(folder)
  const kept = keptOf(
    good.map(({ time }) => time),
    keep,
  )
  const removed = good.filter(({ time }) => !kept.has(time))
  // Renamed first, so that a folder that is half removed is not taken for a backup.
  for (const { name } of removed) renameSync(join(folder, name), join(folder, unfinishedName(name)))
  const newest = good.at(-1)?.time ?? 0
  for (const name of readdirSync(folder)) {
    const time = name.endsWith(unfinished) ? timeOf(name.slice(0, -unfinished.length)) : undefined
    if (time !== undefined && time < newest) rmSync(join(folder, name), { recursive: true, force: true })
  }
  return removed.map(({ name }) => name)
}
