import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface DeadLetters {
  /** Keeps a line that the engine will never take, with the reason it gave. */
  put(line: string, cause: string): void
  count(): number
  close(): void
}

/** `dead-letters.sqlite` in the spool folder, for a person to look at (docs/operations.md). */
export function openDeadLetters(folder: string): DeadLetters {
  const file = new DatabaseSync(join(folder, 'dead-letters.sqlite'))
  file.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS letters (line TEXT PRIMARY KEY, cause TEXT NOT NULL, at TEXT NOT NULL) STRICT;`)
  const insert = file.prepare('INSERT OR IGNORE INTO letters VALUES (?, ?, ?)')
  return {
    put: (line, cause) => void insert.run(line, cause, new Date().toISOString()),
    count: () => (file.prepare('SELECT count(*) AS count FROM letters').get() as { count: number }).count,
    close: () => file.close(),
  }
}
