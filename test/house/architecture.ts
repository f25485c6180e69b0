// What ARCHITECTURE.md says, read from its text: the page is the rule, so it and the check cannot drift apart.

/** Room -> rooms it may import; `errors` and `config` stand for the files beside the rooms. */
export type ImportTable = ReadonlyMap<string, readonly string[]>

/** The markdown table whose first two columns are `room` and `may import`. */
export function importTable(page: string): ImportTable {
  const lines = page.split('\n')
  const head = lines.findIndex((line) => /^\|\s*room\s*\|\s*may import\s*\|/.test(line))
  if (head === -1) throw new Error('There is no table with the columns "room" and "may import"')
  const end = lines.findIndex((line, index) => index > head && !line.startsWith('|'))
  return new Map(
    lines.slice(head + 2, end === -1 ? undefined : end).map((line) => {
      const [room = '', mayImport = ''] = line.split('|').slice(1, 3)
      return [words(room)[0] ?? '', words(mayImport)]
    }),
  )
}

const words = (cell: string): string[] => cell.match(/[a-z][a-z-]*/g) ?? []

/** Every path the page names in backticks: `src/`, `dev/clickhouse`, `api/app.ts`; not URLs, which begin with a slash. */
export const pathsNamed = (page: string): string[] =>
  [...page.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)`/g)]
    .map((match) => match[1] as string)
    .filter((path) => path.includes('/'))

export interface Disk {
  /** `src/stats/reports`, `dev/clickhouse`, … */
  folders: readonly string[]
  exists(path: string): boolean
}

/** Where the page and the disk disagree. */
export function architectureFaults(page: string, { folders, exists }: Disk): string[] {
  const rooms = [...importTable(page).keys()]
  const named = pathsNamed(page)
  const isNamed = (folder: string) => {
    const inner = folder.replace(/^src\//, '')
    return (
      rooms.includes(inner) ||
      named.some((path) => `${path}/`.startsWith(`${folder}/`) || `${path}/`.startsWith(`${inner}/`))
    )
  }
  return [
    ...folders.filter((folder) => !isNamed(folder)).map((folder) => `${folder} is not named`),
    ...rooms.filter((room) => !folders.includes(`src/${room}`)).map((room) => `room ${room} does not exist`),
    ...named.filter((path) => !exists(path) && !exists(`src/${path}`)).map((path) => `${path} does not exist`),
  ]
}
