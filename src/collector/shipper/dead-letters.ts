import { join } from 'node:path'
import { openDurableFile } from '../spool/files.ts'

export interface DeadLetters {
  /** Stores a line that ClickHouse will never accept, with the error. */
  put(line: string, cause: string): void
  count(): number
  close(): void
}

/** `dead-letters.sqlite` in the spool folder, for an operator to look at (docs/operations.md). */
export function openDeadLetters(folder: string): DeadLetters {
  const file = openDurableFile(
    join(folder, 'dead-letters.sqlite'),
    'CREATE TABLE IF NOT EXISTS letters (line TEXT PRIMARY KEY, cause TEXT NOT NULL, at TEXT NOT NULL) STRICT',
  )
  const insert = file.prepare('INSERT OR IGNORE INTO letters VALUES (?, ?, ?)')
  return {
    put: (line, cause) => void insert.run(line, cause, new Date().toISOString()),
    count: () => (file.prepare('SELECT count(*) AS count FROM letters').get() as { count: number }).count,
    close: () => file.close(),
  }
}
