// The first pass over files of daily sums: their lists and days, what is wrong with them, and what would be imported.
import { createHash, hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Site } from '../../accounts/sites.ts'
import { type DayRange, dayOf, intersect } from '../../calendar/days.ts'
import { unionOf } from '../../rollups/imported-days.ts'
import { FileFaults } from '../checking.ts'
import { LineFault } from '../lines.ts'
import type { DaySum, SumName, SumsFormat, SumsTable } from './format.ts'

export interface SumsFile {
  path: string
  /** What its owner calls it. */
  name: string
  format: SumsFormat
}

export interface SumsReading {
  site: Site
  now: number
  /** Later days are left out. Undefined: none. */
  until?: string | undefined
}

export interface ImportedList {
  list: string
  metrics: readonly SumName[]
  days: readonly DayRange[]
}

export interface CheckedSums {
  /** In the order in which they are read, which follows from what they contain. */
  files: readonly SumsFile[]
  /** Hash of what each file contains, in hexadecimal. */
  hashes: readonly string[]
  /** Hash of what all files contain. */
  content: Buffer
  /** Lines that are imported. */
  lines: number
  lists: readonly ImportedList[]
  /** Those with a row in any list. */
  days: readonly string[]
  leftOut: ReadonlyMap<string, number>
  /** The first lines that cannot be read. */
  broken: readonly string[]
}

const maxNamed = 10
/** Of the lines of a table. With more, it is not of the kind that somebody says it is. */
const maxBroken = 0.1

interface FoundTable {
  name: string
  list: string
  metrics: readonly SumName[]
  /** The days that it is about. */
  range: DayRange | undefined
  days: ReadonlySet<string>
}

/** Throws `FileFaults`. `onBytes` gets bytes of the files, as they are read. */
export async function checkSums(
  given: readonly SumsFile[],
  reading: SumsReading,
  onBytes: (bytes: number) => void,
): Promise<CheckedSums> {
  const { files, hashes } = await inOrder(given)
  const leftOut = new Map<string, number>()
  const broken: string[] = []
  const found: FoundTable[] = []
  let lines = 0
  for (const file of files) {
    for await (const table of tablesOf(file, reading.site, onBytes)) {
      const days = new Set<string>()
      let [read, unreadable] = [0, 0]
      for await (const line of linesOf(table, reading)) {
        read++
        if (line instanceof LineFault) {
          unreadable++
          if (broken.length < maxNamed) broken.push(`${table.name}: ${line.message}`)
          // A table without lists is one whose header cannot be read.
          if (table.lists.every(({ metrics }) => metrics.length === 0)) throw new FileFaults(broken)
        }
        if (line instanceof LineFault || 'reason' in line) {
          const reason = line instanceof LineFault ? 'lines that cannot be read' : line.reason
          leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1)
        } else {
          lines++
          days.add(line.rows[0]?.day ?? '')
        }
      }
      if (unreadable > read * maxBroken) throw new FileFaults(broken)
      for (const { list, metrics } of table.lists)
        found.push({ name: table.name, list, metrics, range: table.range, days })
    }
  }
  if (found.length === 0) throw new FileFaults(['It has no table by date that Footfall knows. See docs/import.md.'])
  refuseOverlaps(found)
  const days = [...new Set(found.flatMap((table) => [...table.days]))].toSorted()
  return {
    files,
    hashes,
    content: hashes.length === 1 ? Buffer.from(hashes[0] as string, 'hex') : hash('sha256', hashes.join(' '), 'buffer'),
    lines,
    lists: listsOf(found, days),
    days,
    leftOut,
    broken,
  }
}

export async function* tablesOf(
  { path, name, format }: SumsFile,
  site: Site,
  onBytes: (bytes: number) => void,
): AsyncGenerator<SumsTable> {
  try {
    yield* format.tables(path, site, onBytes)
  } catch (error) {
    if (error instanceof LineFault) throw new FileFaults([`${name}: ${error.message}`])
    throw error
  }
}

/** The lines of a table without days that are not imported. Both passes leave out the same. */
export async function* linesOf(
  table: SumsTable,
  { site, now, until }: SumsReading,
): AsyncGenerator<LineFault | { line: number; reason: string } | { line: number; rows: readonly DaySum[] }> {
  const today = dayOf(site.timeZone, now)
  for await (const line of table.lines) {
    const day = line instanceof LineFault || 'reason' in line ? '' : (line.rows[0]?.day ?? '')
    if (line instanceof LineFault || 'reason' in line) yield line
    else if (until !== undefined && day > until) yield { line: line.line, reason: `days after ${until}` }
    else if (day >= today) yield { line: line.line, reason: 'days that are not over' }
    else yield line
  }
}

async function inOrder(given: readonly SumsFile[]): Promise<Pick<CheckedSums, 'files' | 'hashes'>> {
  const hashed: { file: SumsFile; hash: string }[] = []
  for (const file of given) {
    const contained = createHash('sha256')
    for await (const chunk of createReadStream(file.path, { highWaterMark: 1 << 18 })) contained.update(chunk)
    hashed.push({ file, hash: contained.digest('hex') })
  }
  hashed.sort((one, other) => (one.hash < other.hash ? -1 : 1))
  const twice = hashed.find(({ hash }, nth) => hash === hashed[nth - 1]?.hash)
  if (twice) throw new FileFaults([`${twice.file.name} has the same content as another of the files.`])
  return { files: hashed.map(({ file }) => file), hashes: hashed.map((one) => one.hash) }
}

/** A day of a list must be in one table only, or it would count twice. */
function refuseOverlaps(found: readonly FoundTable[]): void {
  const seen = new Map<string, string>()
  for (const { name, list, days } of found)
    for (const day of days) {
      const other = seen.get(`${list} ${day}`)
      if (other !== undefined)
        throw new FileFaults([`${other} and ${name} both have the list ${list} of ${day}. Leave one of them out.`])
      seen.set(`${list} ${day}`, name)
    }
}

/** A list has those imported days that its tables are about: on a day without a row it has no numbers, which is an answer, too. */
function listsOf(found: readonly FoundTable[], days: readonly string[]): ImportedList[] {
  const imported = unionOf(days.map((day) => [day, day] as const))
  return Array.from(
    Map.groupBy(found, ({ list }) => list),
    ([list, tables]) => ({
      list,
      metrics: (tables[0] as FoundTable).metrics.filter((metric) =>
        tables.every((one) => one.metrics.includes(metric)),
      ),
      days: unionOf(tables.flatMap(({ range, days }) => intersect(imported, range ? [range] : rangeOf(days)))),
    }),
  ).filter(({ days }) => days.length > 0)
}

function rangeOf(days: ReadonlySet<string>): DayRange[] {
  const sorted = [...days].toSorted()
  const [first, last] = [sorted[0], sorted.at(-1)]
  return first !== undefined && last !== undefined ? [[first, last]] : []
}
