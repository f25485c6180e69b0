// The import rules of the house: which room may use which, and what no file may be.
import { posix } from 'node:path'
import type { ImportTable } from './architecture.ts'
import type { Tree } from './tree.ts'

const processes = ['api', 'collector', 'console', 'cli']
const forbiddenNames = ['utils', 'helpers', 'common', 'lib', 'services', 'types', 'controllers']
const mostLines = 300

/** Files of src that are one table of data, which may be as long as the data is. */
export const dataTables: readonly string[] = []

interface Import {
  from: string
  /** A path of the tree, or undefined for a package. */
  to: string | undefined
  typeOnly: boolean
}

const importForms = [
  /^import\s+(?<type>type\s+)?[\w\s{},*$]+?\sfrom\s+'(?<to>[^']+)'/gm,
  /^export\s+(?<type>type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s+from\s+'(?<to>[^']+)'/gm,
  /^import\s+'(?<to>[^']+)'/gm,
  /\bimport\(\s*'(?<to>[^']+)'\s*\)/g,
]

function importsOf(from: string, text: string): Import[] {
  return importForms.flatMap((form) =>
    [...text.matchAll(form)].map(({ groups = {} }) => {
      const to = groups.to as string
      const inTree = to.startsWith('.') ? posix.join(posix.dirname(from), to) : undefined
      return { from, to: inTree, typeOnly: groups.type !== undefined }
    }),
  )
}

/** `src/stats/period.ts` -> stats; `src/errors.ts` -> errors. */
const roomOf = (path: string): string => (path.split('/')[1] as string).replace(/\.ts$/, '')

const mayReadConfig = (path: string) => /\/main\.ts$/.test(path) || roomOf(path) === 'cli'

/** config.ts itself may: nobody but a main and the command line may call it. */
const mayReadEnvironment = (path: string) => mayReadConfig(path) || path === 'src/config.ts'

/** Every import of `src` that the table does not allow, and every folder the table does not know. */
export function importFaults(files: Tree, table: ImportTable): string[] {
  const faults: string[] = []
  for (const [path, text] of files) {
    const room = roomOf(path)
    if (!table.has(room) && room !== 'errors' && room !== 'config') faults.push(`${path} is in no room of the table`)
    if (/\bimport\((?!\s*')/.test(text)) faults.push(`${path} has an import that cannot be read`)
    for (const { to, typeOnly } of importsOf(path, text)) {
      if (to === undefined) continue
      if (!files.has(to)) faults.push(`${path} imports ${to}, which is not in src`)
      else if (!isAllowed(path, to, typeOnly, table)) faults.push(`${path} must not import ${to}`)
    }
  }
  return [...faults, ...cycles(files)]
}

function isAllowed(from: string, to: string, typeOnly: boolean, table: ImportTable): boolean {
  const [room, other] = [roomOf(from), roomOf(to)]
  if (room === other) return true
  if (room === 'config') return typeOnly
  if (other === 'config') return typeOnly || (mayReadConfig(from) && (table.get(room) ?? []).includes(other))
  return (table.get(room) ?? []).includes(other)
}

function cycles(files: Tree): string[] {
  const faults: string[] = []
  const done = new Set<string>()
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path))
      return void faults.push(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' > ')}`)
    if (done.has(path)) return
    for (const { to } of importsOf(path, files.get(path) ?? '')) if (to && files.has(to)) visit(to, [...trail, path])
    done.add(path)
  }
  for (const path of files.keys()) visit(path, [])
  return faults
}

/** What no table may allow, whatever ARCHITECTURE.md says. */
export function tableFaults(table: ImportTable): string[] {
  const faults: string[] = []
  for (const [room, uses] of table) {
    const forbidden = (other: string) =>
      room === 'stores' ||
      (processes.includes(other) && room !== 'cli') ||
      (other === 'config' && !processes.includes(room)) ||
      (room === 'stats' && other === 'accounts') ||
      (table.get(other) ?? []).includes(room)
    for (const other of uses) {
      if (forbidden(other)) faults.push(`the table must not let ${room} import ${other}`)
    }
  }
  return faults
}

/** Names that say nothing, files that only pass on, files too long to read. */
export function fileFaults(files: Tree): string[] {
  return [...files].flatMap(([path, text]) => {
    const faults: string[] = []
    const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    const forbidden = path.split('/').find((part) => forbiddenNames.includes(part.replace(/\..*$/, '')))
    if (forbidden) faults.push(`${path} has a name that says nothing: ${forbidden}`)
    const passedOn = code.replace(importForms[1] as RegExp, '').replace(/^import[^']*'[^']*'$/gm, '')
    if (/^export\b/m.test(code) && !/[a-z]/i.test(passedOn.replace(/^export\s*\{[^}]*\}$/gm, ''))) {
      faults.push(`${path} is a barrel`)
    }
    if (!path.startsWith('src/')) return faults
    const lines = text.trimEnd().split('\n').length
    if (lines > mostLines && !dataTables.includes(path)) faults.push(`${path} has ${lines} lines`)
    if (/\bprocess\s*(\?\.|\.)\s*env\b|\benv\b[^\n]*from 'node:process'/.test(code) && !mayReadEnvironment(path)) {
      faults.push(`${path} reads the environment`)
    }
    return faults
  })
}
