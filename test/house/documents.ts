// Compares the documents with the code in both directions.
import { posix } from 'node:path'

/** The rows of the table with this header, cells trimmed; none without such a table. */
export function tableRows(page: string, ...header: string[]): string[][] {
  const lines = page.split('\n').map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  const head = lines.findIndex((cells) => cells.join() === header.join())
  if (head === -1) return []
  const rest = lines.slice(head + 2)
  const end = rest.findIndex((cells) => cells.length === 0)
  return rest.slice(0, end === -1 ? undefined : end)
}

export const code = (word: string): string => `\`${word}\``

/** Rows that are missing on one side or differ. `documented` and `real` begin with the name. */
export function rowFaults(documented: readonly string[][], real: readonly string[][]): string[] {
  const names = (rows: readonly string[][]) => rows.map(([name]) => name as string)
  const find = (rows: readonly string[][], name: string) => rows.find(([first]) => first === name) ?? []
  return [
    ...names(documented)
      .filter((name, index, all) => all.indexOf(name) !== index)
      .map((name) => `${name} is documented twice`),
    ...names(documented)
      .filter((name) => !names(real).includes(name))
      .map((name) => `${name} does not exist`),
    ...names(real)
      .filter((name) => !names(documented).includes(name))
      .map((name) => `${name} is not documented`),
    ...names(real).flatMap((name) => {
      const [said, is] = [find(documented, name), find(real, name)]
      return is.flatMap((cell, column) =>
        said.length > 0 && said[column] !== cell ? [`${name}: "${said[column]}" should be "${cell}"`] : [],
      )
    }),
  ]
}

interface Documents {
  contract: string
  /** `D-7` for every written decision. */
  decisions: Pick<ReadonlySet<string>, 'has'>
  exists(path: string): boolean
}

/** Decisions, sections of the contract and documents that a file cites but that do not exist. */
export function citationFaults(path: string, text: string, { contract, decisions, exists }: Documents): string[] {
  const sections = [...contract.matchAll(/^#+ (\d+(?:\.\d+)?)[. ]/gm)].map((match) => match[1])
  const comments = text.replace(/\n\s*(?:\/\/|\*)/g, '')
  const cited = [...comments.matchAll(/docs\/contract\.md(?: §?\s*(\d[\d.]*(?:(?:,| and| to) \d[\d.]*)*))?/g)]
  return [
    ...[...comments.matchAll(/\bD-\d+\b/g)]
      .filter(([name]) => !decisions.has(name))
      .map(([name]) => `${path} cites ${name}, which is written nowhere`),
    ...cited
      .flatMap(([, numbers = '']) => numbers.match(/\d+(?:\.\d+)*/g) ?? [])
      .filter((number) => !sections.includes(number))
      .map((number) => `${path} cites section ${number}, which is not in docs/contract.md`),
    ...[...comments.matchAll(/\b(?:docs|migrations)\/[\w./-]+\.(?:md|sql|json)\b/g)]
      .filter(([file]) => !exists(file))
      .map(([file]) => `${path} cites ${file}, which does not exist`),
  ]
}

/** Links to a missing file or heading. `page` reads a document of the repository. */
export function linkFaults(path: string, text: string, page: (path: string) => string | undefined): string[] {
  return [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    const [file = '', heading] = link.split('#')
    const target = file === '' ? path : posix.join(posix.dirname(path), file)
    const found = page(target)
    const isThere = found !== undefined && (heading === undefined || headingsOf(found).includes(heading))
    return isThere ? [] : [`${path} links to ${link}, which does not exist`]
  })
}

/** The anchors that GitHub generates. */
const headingsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )

const slashed = (...parts: string[]) => ['', ...parts, ''].join('/')

// Put together from pieces, so that this file does not contain what it searches for.
const foreign: [pattern: RegExp, fault: string][] = [
  [new RegExp(`\\.\\.${slashed('shared')}`), 'a folder beside the repository'],
  [new RegExp(`(?<![\\w.$}])/(?:${['work', 'root', 'home'].join('|')})/`), 'a path of one machine'],
  [
    new RegExp(`${['registry', '(npmjs|yarnpkg)'].join('\\.')}\\.|${['npm', 'pkg', 'github'].join('\\.')}`),
    'a package registry',
  ],
]

/** Paths and hosts that exist on one machine only, which the repository must not contain. */
export const placeFaults = (path: string, text: string): string[] =>
  foreign.filter(([pattern]) => pattern.test(text)).map(([, fault]) => `${path} mentions ${fault}`)
