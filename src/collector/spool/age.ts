import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { spoolFilePath, spoolFiles } from './files.ts'

export interface SpoolAge {
  /** When the oldest event in the spool was accepted; undefined when the spool is empty. Never throws. */
  oldest(): number | undefined
  close(): void
}

interface ReadFile {
  file: DatabaseSync
  firstGroup: StatementSync
  lines: StatementSync
  group?: number
  time?: number
}

/** The collector reads this from disk instead of asking the shipper, so it stays true while the shipper hangs or is down. */
export function openSpoolAge(folder: string): SpoolAge {
  const files = new Map<number, ReadFile>()

  function open(number: number): ReadFile {
    // Read-only, because the shipper may remove the file at this moment, and opening it must not create it again.
    const file = new DatabaseSync(spoolFilePath(folder, number), { readOnly: true })
    const opened = {
      file,
      firstGroup: file.prepare('SELECT min(number) AS number FROM groups WHERE NOT kept'),
      lines: file.prepare('SELECT lines FROM groups WHERE number = ?'),
    }
    files.set(number, opened)
    return opened
  }

  function look(): number | undefined {
    const numbers = spoolFiles(folder)
    for (const [number, { file }] of files) {
      if (numbers.includes(number)) continue
      file.close()
      files.delete(number)
    }
    for (const number of numbers) {
      const time = oldestOf(files.get(number) ?? open(number))
      if (time !== undefined) return time
    }
    return undefined
  }

  let last: number | undefined
  return {
    oldest() {
      try {
        last = look()
      } catch {
        // The file was just removed or cannot be read: keep the last value. This must not refuse a hit.
      }
      return last
    },
    close() {
      for (const { file } of files.values()) file.close()
    },
  }
}

/** A group may have megabytes, so it is read only once, when it becomes the oldest. */
function oldestOf(read: ReadFile): number | undefined {
  const { number } = read.firstGroup.get() as { number: number | null }
  if (number === null) return undefined
  if (number === read.group) return read.time
  const { lines } = (read.lines.get(number) ?? { lines: '' }) as { lines: string }
  // Inside JSON strings every quotation mark is escaped, so this matches only the field itself.
  read.time = Number(/"time":(\d+)/.exec(lines)?.[1] ?? Date.now())
  read.group = number
  return read.time
}
