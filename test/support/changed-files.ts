// Which files changed, for what .ci/run leaves to the night.
import { spawnSync } from 'node:child_process'

const git = (...words: string[]): string => spawnSync('git', words, { encoding: 'utf8' }).stdout.trim()

/** Since this commit; by default the newest one older than a day. A shallow clone has no older commit: then everything counts as changed. */
export function changedSince(commit: string | undefined): { base: string; files: string[] } {
  const base = commit ?? git('rev-list', '-1', '--before=1 day ago', 'HEAD')
  return { base, files: git(...(base ? ['diff', '--name-only', base] : ['ls-files'])).split('\n') }
}
