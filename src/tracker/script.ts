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

export function readTracker(): TrackerScript {
  const body = Buffer.from(shrink(readFileSync(new URL('footfall.js', import.meta.url), 'utf8')))
  return {
    version: 1,
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
