// Migrations are append-only: databases out there have applied them, and refuse one that was edited. The runner finds that in a database;
// this finds it in the repository, before anybody else does.
import { createHash } from 'node:crypto'
import type { Tree } from './tree.ts'

export const checksumsPath = 'migrations/SHA256SUMS'

/** `files` are the migrations, `sums` is what `sha256sum` has printed of those that have landed, in its own format. */
export function migrationFaults(files: Tree, sums: string): string[] {
  const landed = new Map<string, string>(
    sums.split('\n').flatMap((line) => {
      const [, checksum = '', name = ''] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? []
      return name === '' ? [] : [[`migrations/${name}`, checksum] as const]
    }),
  )
  const restore = (path: string) =>
    `Restore it (git checkout main -- ${path}) and write the change as a new file with the next number.`
  return [
    ...[...landed.keys()]
      .filter((path) => !files.has(path))
      .map((path) => `${path} has landed and is gone. ${restore(path)}`),
    ...[...files].flatMap(([path, text]) => {
      const known = landed.get(path)
      if (known === undefined) {
        const name = path.slice('migrations/'.length)
        return [
          `${path} is new. When it is ready: (cd migrations && sha256sum ${name} >> SHA256SUMS); then never edit it.`,
        ]
      }
      const isEdited = known !== createHash('sha256').update(text).digest('hex')
      return isEdited
        ? [`${path} has landed and was edited: databases that have it would refuse it. ${restore(path)}`]
        : []
    }),
  ]
}
