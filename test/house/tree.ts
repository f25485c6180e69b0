// Files as path -> text, so that a house rule can be run on the repository and on a small tree with a planted violation.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export type Tree = ReadonlyMap<string, string>

export const root = new URL('../../', import.meta.url)

export const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** The TypeScript files of some folders of the repository. */
export function readTree(...folders: string[]): Tree {
  return new Map(
    filesUnder(folders)
      .filter((path) => path.endsWith('.ts'))
      .map((path) => [path, read(path)]),
  )
}

/** Every folder below some folders that holds a file, not those themselves. */
export function foldersUnder(...folders: string[]): string[] {
  const all = filesUnder(folders).flatMap((file) => {
    const parts = file.split('/').slice(0, -1)
    return parts.slice(1).map((_, index) => parts.slice(0, index + 2).join('/'))
  })
  return [...new Set(all)].sort()
}

function filesUnder(folders: string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root.pathname, join(entry.parentPath, entry.name)))
      .sort(),
  )
}

export const tree = (files: Record<string, string>): Tree => new Map(Object.entries(files))
