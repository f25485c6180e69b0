// The code of another commit, so that an upgrade can be tried: it runs beside the code of this one, on the same databases.
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inherited } from '../../support/inherited.ts'
import type { Check } from '../runner.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Its folder. It uses the packages that are installed here. */
export function checkOut(check: Check, commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'footfall-earlier-'))
  check.onEnd(() => rmSync(folder, { recursive: true, force: true }))
  execFileSync('sh', ['-c', 'git archive "$0" | tar -x -C "$1"', commit, folder], { cwd: root })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

export const mainIn = (folder = root): string => join(folder, 'src/cli/main.ts')

export async function footfall(words: string[], environment: Record<string, string>, folder?: string): Promise<void> {
  const env = { ...inherited, ...environment }
  await promisify(execFile)(process.execPath, [mainIn(folder), ...words], { env, cwd: '/' })
}
