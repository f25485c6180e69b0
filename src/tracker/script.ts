import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

/** The script as it is sent. */
export interface TrackerScript {
  /** Raised with every change; a released version never changes (decision D-119). */
  version: number
  body: Buffer
  gzipped: Buffer
  /** For the `integrity` attribute: a browser refuses a script with another hash. */
  integrity: string
}

/** The scripts of version 1, 2 and so on. Pages name the old ones with their hash, so they are served for ever. */
const files = ['footfall-1.js', 'footfall-2.js', 'footfall.js']

/** All versions, the latest one last. */
export const readTrackers = (): TrackerScript[] => files.map((file, index) => readVersion(index + 1, file))

/** The latest version. */
export const readTracker = (): TrackerScript => readVersion(files.length, 'footfall.js')

function readVersion(version: number, file: string): TrackerScript {
  const source = shrink(readFileSync(new URL(file, import.meta.url), 'utf8'))
  const body = Buffer.from(version < 3 ? source : tighten(source))
  return {
    version,
    body,
    gzipped: gzipSync(body, { level: 9 }),
    integrity: `sha384-${hash('sha384', body, 'base64')}`,
  }
}

/** Removes only whole-line comments, indentation and empty lines, so that the result is safe without a parser. */
function shrink(source: string): string {
  const lines = source.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '' && !line.startsWith('//')).join('\n')
}

/** Strings, templates and regular expressions. */
const literal = /('[^']*'|`[^`]*`|\/(?:[^/\\[]|\\.|\[[^\]]*\])+\/\w*)/

/** Removes spaces beside punctuation, outside of literals: 70 bytes of 1,660 after compression. */
const tighten = (source: string): string =>
  source
    .split('\n')
    .map((line) =>
      line
        .split(literal)
        .map((part, index) => (index % 2 === 1 ? part : part.replace(/ ?([=<>?:,{}()[\]&|;!]+) ?/g, '$1')))
        .join(''),
    )
    .join('\n')
