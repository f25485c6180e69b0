import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

/** The script as it is sent. */
export interface TrackerScript {
  /** Raised with every change; the file of a released version stays as it is (decision D-119). */
  version: number
  body: Buffer
  gzipped: Buffer
  /** For the attribute of the same name, by which a browser refuses anything else. */
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

/** Whole-line comments, indentation and empty lines go, nothing else: what remains needs no parser to be trusted. */
function shrink(source: string): string {
  const lines = source.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '' && !line.startsWith('//')).join('\n')
}
