// The first pass over the files of an import: what they are, what is wrong with them, and what would be imported.
import { createHash, hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Site } from '../accounts/sites.ts'
import { agentOf } from '../enrichment/agent.ts'
import type { Countries } from '../enrichment/country.ts'
import { dayIn } from '../enrichment/day.ts'
import { contentOf } from './content.ts'
import type { Format, LeftOut } from './formats/format.ts'
import { type ImportedHit, readHit } from './hit.ts'
import { LineFault } from './lines.ts'
import { attempt } from './records.ts'

/** The faults of a file, by line. Reading stops after the first few faults. */
export class FileFaults extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(`The file cannot be imported:\n  ${faults.join('\n  ')}`)
    this.faults = faults
  }
}

export interface ImportFile {
  path: string
  format: Format
}

export interface Reading {
  countries: Pick<Countries, 'countryOf'>
  site: Site
  now: number
  /** Later days are left out. Undefined: none. */
  until?: string | undefined
}

export interface Checked {
  /** In the order in which they are read. It follows from what they contain, so the same files make the same import. */
  files: readonly ImportFile[]
  /** Hash of what each file contains, in hexadecimal. */
  hashes: readonly string[]
  /** Hash of what all files contain. */
  content: Buffer
  isInOrder: boolean
  events: number
  /** How many lines are no events, by reason. */
  leftOut: ReadonlyMap<string, number>
  /** The first lines that cannot be read, of files that may have some. */
  broken: readonly string[]
  /** `YYYY-MM-DD` in the zone of the site. Undefined without an event. */
  days: { first: string; last: string } | undefined
  /** Every day with an event. */
  daysWithEvents: ReadonlySet<string>
}

const maxFaults = 10
/** Of the lines of a file. With more, it is not of the kind that somebody says it is. */
const maxBroken = 0.1

/** Throws `FileFaults`. `onBytes` gets bytes of the files, as they are read. */
export async function checkFiles(
  given: readonly ImportFile[],
  reading: Reading,
  onBytes: (bytes: number) => void,
): Promise<Checked> {
  const faults: string[] = []
  const leftOut = new Map<string, number>()
  const count = (reason: string) => leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1)
  const hashes = new Map<ImportFile, string>()
  const broken: string[] = []
  let [events, latest, isInOrder] = [0, 0, true]
  const days = new Set<string>()
  for (const file of given) {
    const contained = createHash('sha256')
    let [read, unreadable] = [0, 0]
    for await (const hit of hitsOf(file, 0, reading, (chunk) => {
      contained.update(chunk)
      onBytes(chunk.length)
    })) {
      read++
      if (hit instanceof LineFault) {
        const fault = given.length === 1 ? hit.message : `${basename(file.path)}: ${hit.message}`
        unreadable++
        if (!file.format.leavesOutBrokenLines) faults.push(fault)
        else if (broken.length < maxFaults) broken.push(fault)
        count('lines that cannot be read')
      } else if ('reason' in hit) count(hit.reason)
      else {
        events++
        isInOrder &&= hit.time >= latest
        latest = hit.time
        days.add(dayIn(reading.site.timeZone, hit.time))
      }
      if (faults.length >= maxFaults) break
    }
    if (faults.length === 0 && unreadable > read * maxBroken) faults.push(...broken.slice(0, maxFaults))
    hashes.set(file, contained.digest('hex'))
  }
  if (faults.length > 0) throw new FileFaults(faults.slice(0, maxFaults))
  const inOrder = [...days].toSorted()
  const hashOf = (file: ImportFile) => hashes.get(file) as string
  const files = given.toSorted((one, other) => (hashOf(one) < hashOf(other) ? -1 : 1))
  const sorted = files.map(hashOf)
  const twice = files.find((_, nth) => sorted[nth] === sorted[nth - 1])
  if (twice) throw new FileFaults([`${basename(twice.path)} has the same content as another of the files.`])
  return {
    files,
    hashes: sorted,
    content: sorted.length === 1 ? Buffer.from(sorted[0] as string, 'hex') : hash('sha256', sorted.join(' '), 'buffer'),
    isInOrder: isInOrder && files.length === 1,
    events,
    leftOut,
    broken,
    days: events > 0 ? { first: inOrder[0] as string, last: inOrder.at(-1) as string } : undefined,
    daysWithEvents: days,
  }
}

/** What is left out has a reason. `nth` is the place of the file in the import. */
export async function* hitsOf(
  { path, format }: ImportFile,
  nth: number,
  { countries, site, now, until }: Reading,
  onChunk: (chunk: Buffer) => void,
): AsyncGenerator<ImportedHit | LineFault | (Pick<LeftOut, 'line'> & { reason: string })> {
  try {
    for await (const record of format.read(contentOf(path, onChunk), site.domain)) {
      if (record instanceof LineFault || 'reason' in record) {
        yield record
        continue
      }
      const { line, part } = record
      const place = `${nth} ${line}${part === undefined ? '' : ` ${part}`}`
      const hit = attempt(line, () => readHit(record, place, countries, now))
      if (hit instanceof LineFault) yield hit
      else if (isProgram(hit)) yield { line, reason: 'bots' }
      else if (until !== undefined && dayIn(site.timeZone, hit.time) > until)
        yield { line, reason: `days after ${until}` }
      else yield hit
    }
  } catch (error) {
    if (!(error instanceof LineFault)) throw error
    yield error
  }
}

/** A file without user agents has no bots. */
const isProgram = ({ userAgent }: ImportedHit): boolean => userAgent !== '' && agentOf(userAgent).isBot

export const sizeOf = (files: readonly ImportFile[]): number =>
  files.reduce((total, { path }) => total + statSync(path).size, 0)
