// Forms the next batch from the spool. The batch's id and groups are written to disk before anything is sent, so that after a crash the
// same rows are sent again under the same id (decision D-96).
import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { openSpoolFile, removeSpoolFile, spoolFiles, writeWithReserve } from '../spool/files.ts'

export interface SpooledBatch {
  id: string
  /** Whether the batch may have been sent before. */
  isRepeated: boolean
  lines: string[]
  /** Removes the batch from the spool, when ClickHouse has all of it. */
  remove(): void
}

export interface Batches {
  /** Undefined when there is nothing to ship. */
  next(): SpooledBatch | undefined
  close(): void
}

const mostEvents = 20_000
const mostCharacters = 32 * 1024 * 1024

export function openBatches(folder: string): Batches {
  const files = new Map<number, DatabaseSync>()

  function fileOf(number: number): DatabaseSync {
    const file = files.get(number) ?? openSpoolFile(folder, number)
    files.set(number, file)
    return file
  }

  return {
    next() {
      const numbers = spoolFiles(folder)
      for (const number of numbers) {
        const batch = nextOf(fileOf(number), folder)
        if (batch) return batch
        // The newest file is being written to; an older file that is empty stays empty.
        if (number === numbers.at(-1)) continue
        files.get(number)?.close()
        files.delete(number)
        removeSpoolFile(folder, number)
      }
      return undefined
    },
    close() {
      for (const file of files.values()) file.close()
    },
  }
}

function nextOf(file: DatabaseSync, folder: string): SpooledBatch | undefined {
  const planned = file.prepare('SELECT id, last_group FROM batch').get() as Plan | undefined
  const plan = planned ?? makePlan(file)
  if (!plan) return undefined
  if (!planned) {
    writeWithReserve(file, folder, () => file.prepare('INSERT INTO batch VALUES (?, ?)').run(plan.id, plan.last_group))
  }
  const groups = file.prepare('SELECT lines FROM groups WHERE number <= ? ORDER BY number').all(plan.last_group)
  return {
    id: plan.id,
    isRepeated: planned !== undefined,
    lines: (groups as { lines: string }[]).flatMap(({ lines }) => lines.split('\n')),
    remove: () =>
      writeWithReserve(file, folder, () => {
        file.prepare('DELETE FROM groups WHERE number <= ?').run(plan.last_group)
        file.exec('DELETE FROM batch')
      }),
  }
}

interface Plan {
  id: string
  last_group: number
}

/** Takes groups in order until the batch is large enough. */
function makePlan(file: DatabaseSync): Plan | undefined {
  let [events, characters, last] = [0, 0, 0]
  const groups = file.prepare('SELECT number, events, length(lines) AS size FROM groups ORDER BY number').iterate()
  for (const group of groups as Iterable<{ number: number; events: number; size: number }>) {
    if (last > 0 && (events + group.events > mostEvents || characters + group.size > mostCharacters)) break
    events += group.events
    characters += group.size
    last = group.number
  }
  return last === 0 ? undefined : { id: randomUUID(), last_group: last }
}
