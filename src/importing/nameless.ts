import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file with visitors' addresses for this process only. Without a name it is gone with the process, however that ends. */
export function openNameless(): number {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-import-'))
  const file = openSync(join(folder, 'content'), 'wx+', 0o600)
  rmSync(folder, { recursive: true })
  return file
}

/** Where code that takes a path finds an open file, also one without a name. */
export const pathOfOpen = (file: number): string => `/dev/fd/${file}`
