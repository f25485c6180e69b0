import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { spoolFilePath, spoolFiles } from './spool-file.ts'

export interface SpoolAge {
  /** When the oldest event in the spool was taken, undefined when it is empty. Never throws. */
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

/** Read by the collector, not told by the shipper: it is true while the shipper is stuck or gone. */
export function openSpoolAge(folder: string): SpoolAge {
  const files = new Map<number, ReadFile>()

  function open(number: number): ReadFile {
    // The shipper may remove it this instant: opened to be read, it is not made again.
    const file = new DatabaseSync(spoolFilePath(folder, number), { readOnly: true })
    const opened = {
      file,
      firstGroup: file.prepare('SELECT min(number) AS number FROM groups'),
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
        // A file was removed this instant, or cannot be read: what was known of it stands. Nobody refuses a hit for that.
      }
      return last
    },
    close() {
      for (const { file } of files.values()) file.close()
    },
  }
}

/** A group may have megabytes: it is read once, when it has become the first. */
function oldestOf(read: ReadFile): number | undefined {
  const { number } = read.firstGroup.get() as { number: number | null }
  if (number === null) return undefined
  if (number === read.group) return read.time
  const { lines } = (read.lines.get(number) ?? { lines: '' }) as { lines: string }
  // In a text of JSON every quotation mark has a backslash before it, so that this is found nowhere else.
  read.time = Number(/"time":(\d+)/.exec(lines)?.[1] ?? Date.now())
  read.group = number
  return read.time
}
