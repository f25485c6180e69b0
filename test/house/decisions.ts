// Where decisions are written, and what each record and the index must contain (docs/decisions/README.md).
import { posix } from 'node:path'
import { tableRows } from './documents.ts'
import type { Tree } from './tree.ts'

export const indexPath = 'docs/decisions/README.md'

const numbers = String.raw`(D-\d+(?:, D-\d+)*)`

/** A section of docs/metrics.md, a note in docs/contract.md, or a record. */
const writtenAs: readonly [path: RegExp, text: RegExp][] = [
  [/^docs\/metrics\.md$/, new RegExp(String.raw`^#+ .+\(${numbers}\)$`, 'gm')],
  [/^docs\/contract\.md$/, new RegExp(String.raw`^> \*\*Note \(${numbers}\):\*\* \S`, 'gm')],
  [/^docs\/decisions\/D-/, new RegExp(String.raw`^# ${numbers}: \S`, 'gm')],
]

/** Decision -> the documents that contain it, one entry per occurrence. */
export function decisionsIn(documents: Tree): ReadonlyMap<string, readonly string[]> {
  const found = [...documents].flatMap(([path, text]) =>
    writtenAs
      .filter(([place]) => place.test(path))
      .flatMap(([, pattern]) => [...text.matchAll(pattern)].flatMap(([, list = '']) => list.split(', ')))
      .map((name) => ({ name, path })),
  )
  return new Map([...Map.groupBy(found, ({ name }) => name)].map(([name, all]) => [name, all.map(({ path }) => path)]))
}

const indexRows = (documents: Tree): string[][] => tableRows(documents.get(indexPath) ?? '', 'No.', 'Title', 'Status')

/** Decisions that decide nothing any more: only their rows in the index are left. */
export const withdrawnIn = (documents: Tree): string[] =>
  indexRows(documents)
    .filter(([, , status]) => status === 'withdrawn')
    .map(([name = '']) => name)

const numberOf = (name: string) => Number(name.slice(2))

/** Every number from 1 to the last must be written once, except the unused and the withdrawn ones. */
export function numberFaults(
  decisions: ReadonlyMap<string, readonly string[]>,
  neverUsed: readonly number[],
  withdrawn: readonly string[],
): string[] {
  const last = Math.max(...[...decisions.keys(), ...withdrawn].map(numberOf))
  return Array.from({ length: last }, (_, index) => index + 1).flatMap((number) => {
    const times = decisions.get(`D-${number}`)?.length ?? 0
    if (neverUsed.includes(number)) return times === 0 ? [] : [`D-${number} is one of the numbers that are not used`]
    if (withdrawn.includes(`D-${number}`)) return times === 0 ? [] : [`D-${number} is withdrawn, but still written`]
    return times === 1 ? [] : [`D-${number} is written ${times} times`]
  })
}

const statusLine = /^Status: accepted · Date: (\d{4}-\d{2}-\d{2})$/

/** A record has its first number in its name, and a status, a date, the decision and the reason. */
export function recordFaults(path: string, text: string): string[] {
  const [title = '', blank, status = ''] = text.split('\n')
  const [first] = /D-\d+/.exec(title) ?? ['?']
  const [, date = ''] = statusLine.exec(status) ?? []
  return [
    ...(new RegExp(`^${first}-[a-z0-9-]+\\.md$`).test(posix.basename(path)) ? [] : ['is not named for its decision']),
    ...(blank === '' && statusLine.test(status) ? [] : ['has no status and date below its title']),
    ...(date === '' || isDate(date) ? [] : [`has the date ${date}, which does not exist`]),
    ...(/^Why: \S/m.test(text) ? [] : ['does not say why']),
  ].map((fault) => `${path} ${fault}`)
}

const isDate = (date: string): boolean => new Date(`${date}T00:00:00Z`).toJSON()?.startsWith(date) ?? false

/** The index must have one row per decision, ordered by number: accepted with a link to its document, or withdrawn without one. */
export function indexFaults(documents: Tree, decisions: ReadonlyMap<string, readonly string[]>): string[] {
  const rows = indexRows(documents)
  const withdrawn = withdrawnIn(documents)
  const names = [...new Set([...decisions.keys(), ...withdrawn])].sort((one, other) => numberOf(one) - numberOf(other))
  if (rows.map(([name]) => name).join() !== names.join())
    return ['the index does not have each decision once, in order']
  return rows.flatMap(([name = '', title = '', status]) => {
    const [, file] = /\]\(([^)#]+)/.exec(title) ?? []
    if (withdrawn.includes(name)) return file === undefined ? [] : [`${name} is withdrawn, but the index links to it`]
    const [path = ''] = decisions.get(name) ?? []
    return [
      ...(posix.join('docs/decisions', file ?? '') === path
        ? []
        : [`${name} is in ${path}, but the index links elsewhere`]),
      ...(status === 'accepted' ? [] : [`${name} is accepted, but the index says "${status}"`]),
    ]
  })
}
