// Reads the files of an import: what they are, what is wrong with them, and what would be imported.
import { createHash, hash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import type { Site } from '../accounts/sites.ts'
import { minuteMs } from '../durations.ts'
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
  /** What its owner calls it. */
  name: string
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

/** No day of a time zone begins within a quarter of an hour, so its first instant tells the day of all of it. */
const quarterMs = 15 * minuteMs

const maxFaults = 10
/** Of the lines of a file. With more, it is not of the kind that somebody says it is. */
const maxBroken = 0.1

interface HashedFile extends ImportFile {
  /** A log may grow while it is read: only so many bytes of it count. */
  size: number
  hash: string
}

/**
 * Throws `FileFaults`. `onBytes` gets how many bytes of the files were read, and `onHit` the hits that would be imported, whose times are in
 * no order. Files are hashed before they are read: what they contain decides their order, and so the places of their hits.
 */
export async function checkFiles(
  given: readonly ImportFile[],
  reading: Reading,
  onBytes: (bytes: number) => void,
  onHit: (hit: ImportedHit) => void = () => {},
): Promise<Checked> {
  const files = await inOrderOfContent(given)
  const faults: string[] = []
  const leftOut = new Map<string, number>()
  const count = (reason: string) => leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1)
  const broken: string[] = []
  const quarters = new Set<number>()
  let events = 0
  for (const [nth, file] of files.entries()) {
    const contained = createHash('sha256')
    let [read, unreadable] = [0, 0]
    for await (const hit of hitsOf(file, nth, reading, (chunk) => {
      contained.update(chunk)
      onBytes(chunk.length)
    })) {
      read++
      if (hit instanceof LineFault) {
        const fault = given.length === 1 ? hit.message : `${file.name}: ${hit.message}`
        unreadable++
        if (!file.format.leavesOutBrokenLines) faults.push(fault)
        else if (broken.length < maxFaults) broken.push(fault)
        count('lines that cannot be read')
      } else if ('reason' in hit) count(hit.reason)
      else {
        events++
        quarters.add(Math.floor(hit.time / quarterMs))
        onHit(hit)
      }
      if (faults.length >= maxFaults) break
    }
    if (faults.length === 0 && unreadable > read * maxBroken) faults.push(...broken.slice(0, maxFaults))
    if (faults.length > 0) throw new FileFaults(faults.slice(0, maxFaults))
    if (contained.digest('hex') !== file.hash) throw new FileFaults([`${file.name} changed while it was read.`])
  }
  const hashes = files.map((file) => file.hash)
  const daysWithEvents = new Set(Array.from(quarters, (quarter) => dayIn(reading.site.timeZone, quarter * quarterMs)))
  const inOrder = [...daysWithEvents].toSorted()
  return {
    files,
    hashes,
    content: hashes.length === 1 ? Buffer.from(hashes[0] as string, 'hex') : hash('sha256', hashes.join(' '), 'buffer'),
    events,
    leftOut,
    broken,
    days: events > 0 ? { first: inOrder[0] as string, last: inOrder.at(-1) as string } : undefined,
    daysWithEvents,
  }
}

/** By their hashes, so that the same files make the same import, in whatever order they are named. */
async function inOrderOfContent(given: readonly ImportFile[]): Promise<HashedFile[]> {
  const hashed: HashedFile[] = []
  for (const file of given) {
    const contained = createHash('sha256')
    let size = 0
    for await (const chunk of createReadStream(file.path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
      contained.update(chunk)
      size += chunk.length
    }
    hashed.push({ ...file, size, hash: contained.digest('hex') })
  }
  hashed.sort((one, other) => (one.hash < other.hash ? -1 : 1))
  const twice = hashed.find(({ hash }, nth) => hash === hashed[nth - 1]?.hash)
  if (twice) throw new FileFaults([`${twice.name} has the same content as another of the files.`])
  return hashed
}

/** What is left out has a reason. `nth` is the place of the file in the import. */
async function* hitsOf(
  { path, size, format }: HashedFile,
  nth: number,
  { countries, site, now, until }: Reading,
  onChunk: (chunk: Buffer) => void,
): AsyncGenerator<ImportedHit | LineFault | (Pick<LeftOut, 'line'> & { reason: string })> {
  const endsAt = until === undefined ? Number.POSITIVE_INFINITY : endOf(until, site.timeZone)
  try {
    for await (const record of format.read(contentOf(path, size, onChunk), site.domain)) {
      if (record instanceof LineFault || 'reason' in record) {
        yield record
        continue
      }
      const { line, part } = record
      const place = `${nth} ${line}${part === undefined ? '' : ` ${part}`}`
      const hit = attempt(line, () => readHit(record, place, countries, now))
      if (hit instanceof LineFault) yield hit
      else if (isProgram(hit)) yield { line, reason: 'bots' }
      else if (hit.time >= endsAt) yield { line, reason: `days after ${until}` }
      else yield hit
    }
  } catch (error) {
    if (!(error instanceof LineFault)) throw error
    yield error
  }
}

const endOf = (day: string, zone: string): number =>
  Temporal.PlainDate.from(day).add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds

/** A file without user agents has no bots. */
const isProgram = ({ userAgent }: ImportedHit): boolean => userAgent !== '' && agentOf(userAgent).isBot

export const sizeOf = (files: readonly ImportFile[]): number =>
  files.reduce((total, { path }) => total + statSync(path).size, 0)
