// Rules for imports and files: which module may import which, and which files are not allowed.
import { importForms, importsOf } from '../support/imports.ts'
import type { ImportTable } from './architecture.ts'
import type { Tree } from './tree.ts'

/** Files of src that are constants and rules without state. Every file may import them, and they import nothing of ours. */
const everywhere = ['durations', 'hostnames']
const processes = ['api', 'collector', 'console', 'cli']
const forbiddenNames = ['utils', 'helpers', 'common', 'lib', 'services', 'types', 'controllers']
const maxLines = 300

/** Files of src that are one data table, which may have any length. */
export const dataTables: readonly string[] = []

/** `src/calendar/periods.ts` -> calendar; `src/errors.ts` -> errors. */
const moduleOf = (path: string): string => (path.split('/')[1] as string).replace(/\.ts$/, '')

const mayReadConfig = (path: string) => /\/main\.ts$/.test(path) || moduleOf(path) === 'cli'

/**
 * config.ts and config/ may read it too, because only the mains and the command line may import them.
 * Tests make deadlines longer in all processes that they start, so deadline.ts reads that one variable itself.
 */
const mayReadEnvironment = (path: string) =>
  mayReadConfig(path) || moduleOf(path) === 'config' || path === 'src/stores/deadline.ts'

/** Every import in `src` that the table does not allow, and every folder missing from the table. */
export function importFaults(files: Tree, table: ImportTable): string[] {
  const faults: string[] = []
  for (const [path, text] of files) {
    const module = moduleOf(path)
    if (!table.has(module) && ![...everywhere, 'errors', 'config'].includes(module))
      faults.push(`${path} is in no module of the table`)
    if (/\bimport\((?!\s*')/.test(text)) faults.push(`${path} has an import that cannot be read`)
    for (const { to, typeOnly } of importsOf(path, text)) {
      if (to === undefined) continue
      if (!files.has(to)) faults.push(`${path} imports ${to}, which is not in src`)
      else if (!isAllowed(path, to, typeOnly, table)) faults.push(`${path} must not import ${to}`)
    }
  }
  const imports = new Map(
    Array.from(files, ([path, text]) => [
      path,
      importsOf(path, text).flatMap(({ to }) => (to && files.has(to) ? [to] : [])),
    ]),
  )
  return [...faults, ...cycles(imports), ...cycles(folderImports(imports))]
}

function isAllowed(from: string, to: string, typeOnly: boolean, table: ImportTable): boolean {
  const [module, other] = [moduleOf(from), moduleOf(to)]
  if (module === other || everywhere.includes(other)) return true
  if (module === 'config') return typeOnly || to === 'src/process/error-hints.ts'
  if (other === 'config') return typeOnly || (mayReadConfig(from) && (table.get(module) ?? []).includes(other))
  return (table.get(module) ?? []).includes(other)
}

type Imports = ReadonlyMap<string, readonly string[]>

/** `src/collector/http` -> the other folders of the collector it imports from. Files directly in a module belong to no folder. */
function folderImports(imports: Imports): Imports {
  const folders = new Map<string, string[]>()
  const folderOf = (path: string) => path.split('/').slice(0, -1).slice(0, 3).join('/')
  const isFolder = (folder: string) => folder.split('/').length === 3
  for (const [path, targets] of imports) {
    const from = folderOf(path)
    const others = targets.map(folderOf).filter((to) => to !== from && isFolder(to) && moduleOf(to) === moduleOf(from))
    if (isFolder(from)) folders.set(from, [...(folders.get(from) ?? []), ...others])
  }
  return folders
}

function cycles(imports: Imports): string[] {
  const faults: string[] = []
  const done = new Set<string>()
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path))
      return void faults.push(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' > ')}`)
    if (done.has(path)) return
    for (const to of imports.get(path) ?? []) visit(to, [...trail, path])
    done.add(path)
  }
  for (const path of imports.keys()) visit(path, [])
  return faults
}

/** What the table may never allow, whatever ARCHITECTURE.md says. */
export function tableFaults(table: ImportTable): string[] {
  const faults: string[] = []
  for (const [module, uses] of table) {
    const forbidden = (other: string) =>
      module === 'stores' ||
      (processes.includes(other) && module !== 'cli') ||
      (other === 'config' && !processes.includes(module)) ||
      (module === 'stats' && other === 'accounts') ||
      (table.get(other) ?? []).includes(module)
    for (const other of uses) {
      if (forbidden(other)) faults.push(`the table must not let ${module} import ${other}`)
    }
  }
  return faults
}

/** Meaningless names, barrels, and files that are too long. */
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
    if (lines > maxLines && !dataTables.includes(path)) faults.push(`${path} has ${lines} lines`)
    if (/\bprocess\s*(\?\.|\.)\s*env\b|\benv\b[^\n]*from 'node:process'/.test(code) && !mayReadEnvironment(path)) {
      faults.push(`${path} reads the environment`)
    }
    return faults
  })
}
