// Files as path -> text, so that a rule can run on the repository and on a small tree with a deliberate violation.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export type Tree = ReadonlyMap<string, string>

export const root = new URL('../../', import.meta.url)

export const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** The TypeScript files in some folders of the repository. */
export const readTree = (...folders: string[]): Tree => readFiles(/\.ts$/, filesUnder(folders))

/** All files written by hand: sources, migrations and documents. */
export const readAll = (): Tree =>
  readFiles(/\.(ts|js|sql|md)$/, filesUnder(['src', 'packages', 'test', 'bench', 'dev', 'migrations', 'docs', '.']))

/** The documents in docs, in packages and in the root. */
export const readDocuments = (): Tree => readFiles(/\.md$/, filesUnder(['docs', 'packages', '.']))

const readFiles = (name: RegExp, paths: string[]): Tree =>
  new Map(paths.filter((path) => name.test(path)).map((path) => [path, read(path)]))

/** Every folder with a file below these folders, without these folders themselves. */
export function foldersUnder(...folders: string[]): string[] {
  const all = filesUnder(folders).flatMap((file) => {
    const parts = file.split('/').slice(0, -1)
    return parts.slice(1).map((_, index) => parts.slice(0, index + 2).join('/'))
  })
  return [...new Set(all)].sort()
}

/** Recursive, except for the root, `.`. */
function filesUnder(folders: string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { recursive: folder !== '.', withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root.pathname, join(entry.parentPath, entry.name)))
      .sort(),
  )
}

export const tree = (files: Record<string, string>): Tree => new Map(Object.entries(files))
