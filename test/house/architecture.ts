// Parses the rules from ARCHITECTURE.md itself, so the page and the check cannot differ.

/** Module -> the modules it may import. `errors` and `config` are files beside the modules. */
export type ImportTable = ReadonlyMap<string, readonly string[]>

/** The markdown table whose first two columns are `module` and `may import`. */
export function importTable(page: string): ImportTable {
  const lines = page.split('\n')
  const head = lines.findIndex((line) => /^\|\s*module\s*\|\s*may import\s*\|/.test(line))
  if (head === -1) throw new Error('There is no table with the columns "module" and "may import"')
  const end = lines.findIndex((line, index) => index > head && !line.startsWith('|'))
  return new Map(
    lines.slice(head + 2, end === -1 ? undefined : end).map((line) => {
      const [module = '', mayImport = ''] = line.split('|').slice(1, 3)
      return [words(module)[0] ?? '', words(mayImport)]
    }),
  )
}

const words = (cell: string): string[] => cell.match(/[a-z][a-z-]*/g) ?? []

/** Every path in backticks on the page: `src/`, `dev/clickhouse`, `api/app.ts`. URLs begin with a slash and are skipped. */
const pathsNamed = (page: string): string[] =>
  [...page.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)`/g)]
    .map((match) => match[1] as string)
    .filter((path) => path.includes('/'))

export interface Disk {
  /** `src/stats/reports`, `dev/clickhouse`, … */
  folders: readonly string[]
  exists(path: string): boolean
}

/** The differences between the page and the disk. */
export function architectureFaults(page: string, { folders, exists }: Disk): string[] {
  const modules = [...importTable(page).keys()]
  const named = pathsNamed(page)
  const isNamed = (folder: string) => {
    const inner = folder.replace(/^src\//, '')
    return (
      modules.includes(inner) ||
      named.some((path) => `${path}/`.startsWith(`${folder}/`) || `${path}/`.startsWith(`${inner}/`))
    )
  }
  return [
    ...folders.filter((folder) => !isNamed(folder)).map((folder) => `${folder} is not named`),
    ...modules
      .filter((module) => !folders.includes(`src/${module}`))
      .map((module) => `module ${module} does not exist`),
    ...named.filter((path) => !exists(path) && !exists(`src/${path}`)).map((path) => `${path} does not exist`),
  ]
}
