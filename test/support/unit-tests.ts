// Unit tests are the test files that reach no database, no process of ours and no browser. Nobody has to name them: their imports tell.
import { existsSync, readFileSync } from 'node:fs'
import { importsOf } from './imports.ts'

const root = new URL('../../', import.meta.url)

/** Without one of these a test knows no address of a database, and starts nothing. */
const outside = [
  'test/support/stores.ts',
  'test/support/own-servers.ts',
  'test/support/process.ts',
  'test/support/browser.ts',
  'dev/clickhouse/',
  'dev/postgres/',
]

export function isUnitTest(file: string): boolean {
  const reached = new Set([file])
  for (const path of reached) {
    if (outside.some((place) => path.startsWith(place))) return false
    for (const { to, typeOnly } of importsOf(path, readIfThere(path))) if (to && !typeOnly) reached.add(to)
  }
  return true
}

/** Tests of house rules quote imports of files that do not exist. */
function readIfThere(path: string): string {
  const file = new URL(path, root)
  return path.endsWith('.ts') && existsSync(file) ? readFileSync(file, 'utf8') : ''
}
