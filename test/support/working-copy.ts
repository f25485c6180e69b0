// A copy of the working tree that a test may change: the files git would commit, and a link to node_modules.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = new URL('../../', import.meta.url).pathname

export function copyWorkingTree(copy: string): void {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const path of list.toString().split('\0')) {
    if (path === '' || !statSync(join(root, path), { throwIfNoEntry: false })?.isFile()) continue
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    cpSync(join(root, path), join(copy, path))
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  execFileSync('git', ['init', '--quiet'], { cwd: copy }) // a test lists the files with git
}
