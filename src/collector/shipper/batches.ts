// Takes the next batch for a shard from the spool. The batch's id and groups are written to disk before anything is sent, so that after a crash the
// same rows are sent again under the same id (decision D-96).
import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { openSpoolFile, removeSpoolFile, spoolFiles, writeWithReserve } from '../spool/files.ts'
import type { Placements } from './placements.ts'
import { bringBack, setAside, siteOf } from './set-aside.ts'

export interface SpooledBatch {
  id: string
  /** Whether the batch may have been sent before. */
  isRepeated: boolean
  lines: string[]
  /** Removes the batch from the spool, when ClickHouse has all of it. */
  remove(): void
  /** Leaves the batch in the spool, because only one replica has it. The next batch does not wait for it. */
  keep(): void
}

/** Events that only one replica had when they were shipped. */
type KeptBatch = Pick<SpooledBatch, 'lines' | 'remove'>

export interface Batches {
  /** Undefined when there is nothing to ship to this shard. */
  next(shard: number): SpooledBatch | undefined
  kept(shard: number): KeptBatch | undefined
  /** Whether no batch of this shard is planned or kept, so that the next one follows the placements. */
  isIdle(shard: number): boolean
  isEmpty(): boolean
  /** The sites that have events in the spool. */
  siteIds(): string[]
  /** Forgets the batches that were sent but not confirmed, so that their events are shipped in new ones. */
  forgetPlans(): void
  close(): void
}

const maxEvents = 20_000
const maxCharacters = 32 * 1024 * 1024

export function openBatches(folder: string, placements: Placements): Batches {
  const files = new Map<number, DatabaseSync>()

  function fileOf(number: number): DatabaseSync {
    const file = files.get(number) ?? openSpoolFile(folder, number)
    files.set(number, file)
    return file
  }

  const isAllEmpty = () => spoolFiles(folder).every((number) => isEmpty(fileOf(number)))

  return {
    next(shard) {
      const numbers = spoolFiles(folder)
      for (const number of numbers) {
        const file = fileOf(number)
        const batch = nextOf(file, shard, folder, placements)
        if (batch) return batch
        // The newest file is being written to; an older file that is empty stays empty.
        if (number === numbers.at(-1) || !isEmpty(file)) continue
        files.get(number)?.close()
        files.delete(number)
        removeSpoolFile(folder, number)
      }
      if (placements.isDoubtful && isAllEmpty()) placements.settle()
      return undefined
    },
    kept(shard) {
      for (const number of spoolFiles(folder)) {
        const batch = keptOf(fileOf(number), shard, folder)
        if (batch) return batch
      }
      return undefined
    },
    isIdle: (shard) =>
      spoolFiles(folder).every((number) => {
        const file = fileOf(number)
        return planOf(file, shard) === undefined && lastOfBatch(file, shard, { kept: 1 }) === undefined
      }),
    isEmpty: isAllEmpty,
    siteIds() {
      const ids = new Set<string>()
      for (const number of spoolFiles(folder)) {
        for (const group of fileOf(number).prepare('SELECT lines FROM groups').iterate())
          for (const line of (group as { lines: string }).lines.split('\n')) ids.add(siteOf(line))
      }
      return [...ids]
    },
    forgetPlans() {
      for (const number of spoolFiles(folder)) {
        const file = fileOf(number)
        writeWithReserve(file, folder, () => file.exec('DELETE FROM batches; UPDATE groups SET kept = 0'))
      }
    },
    close() {
      for (const file of files.values()) file.close()
    },
  }
}

const isEmpty = (file: DatabaseSync): boolean => file.prepare('SELECT 1 FROM groups LIMIT 1').get() === undefined

const planOf = (file: DatabaseSync, shard: number): Plan | undefined =>
  file.prepare('SELECT id, last_group FROM batches WHERE shard = ?').get(shard) as Plan | undefined

function nextOf(file: DatabaseSync, shard: number, folder: string, placements: Placements): SpooledBatch | undefined {
  const storedPlan = planOf(file, shard)
  const plan = storedPlan ?? makePlan(file, shard, folder, placements)
  if (!plan) return undefined
  const { id, last_group } = plan
  if (!storedPlan) {
    writeWithReserve(file, folder, () =>
      file.prepare('INSERT INTO batches (shard, id, last_group) VALUES (?, ?, ?)').run(shard, id, last_group),
    )
  }
  const end = (groups: string) =>
    writeWithReserve(file, folder, () => {
      file.prepare(`${groups} WHERE shard = ? AND number <= ? AND NOT kept`).run(shard, last_group)
      file.prepare('DELETE FROM batches WHERE shard = ?').run(shard)
    })
  return {
    id,
    isRepeated: storedPlan !== undefined || placements.isDoubtful,
    lines: linesOf(file, shard, last_group, { kept: 0 }),
    remove: () => end('DELETE FROM groups'),
    keep: () => end('UPDATE groups SET kept = 1'),
  }
}

function keptOf(file: DatabaseSync, shard: number, folder: string): KeptBatch | undefined {
  const last = lastOfBatch(file, shard, { kept: 1 })
  return last === undefined
    ? undefined
    : {
        lines: linesOf(file, shard, last, { kept: 1 }),
        remove: () =>
          writeWithReserve(file, folder, () =>
            file.prepare('DELETE FROM groups WHERE shard = ? AND number <= ? AND kept').run(shard, last),
          ),
      }
}

function linesOf(file: DatabaseSync, shard: number, last: number, { kept }: { kept: 0 | 1 }): string[] {
  const groups = file
    .prepare('SELECT lines FROM groups WHERE shard = ? AND number <= ? AND kept = ? ORDER BY number')
    .all(shard, last, kept)
  return (groups as { lines: string }[]).flatMap(({ lines }) => lines.split('\n'))
}

interface Plan {
  id: string
  last_group: number
}

function makePlan(file: DatabaseSync, shard: number, folder: string, placements: Placements): Plan | undefined {
  const hasMoves = placements.size > 0
  if (hasMoves) bringBack(file, folder, shard, placements)
  const last = lastOfBatch(file, shard, { kept: 0 })
  if (last === undefined) return undefined
  if (hasMoves && setAside(file, folder, { shard, last }, placements)) return makePlan(file, shard, folder, placements)
  return { id: randomUUID(), last_group: last }
}

/** Takes groups in order until the batch is large enough. Returns the number of the last one. */
function lastOfBatch(file: DatabaseSync, shard: number, { kept }: { kept: 0 | 1 }): number | undefined {
  let [events, characters] = [0, 0]
  let last: number | undefined
  const groups = file
    .prepare('SELECT number, events, length(lines) AS size FROM groups WHERE shard = ? AND kept = ? ORDER BY number')
    .iterate(shard, kept)
  for (const group of groups as Iterable<{ number: number; events: number; size: number }>) {
    if (last !== undefined && (events + group.events > maxEvents || characters + group.size > maxCharacters)) break
    events += group.events
    characters += group.size
    last = group.number
  }
  return last
}
