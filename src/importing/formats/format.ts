import type { LineFault } from '../lines.ts'
import type { FileRecord } from '../records.ts'

/** Why a line of another product's file is no event. */
export type Reason =
  | 'lines that cannot be read'
  | 'requests that are not GET'
  | 'answers that are neither 2xx nor 304'
  | 'files that are no pages'
  | 'feeds and calls of an API'
  | 'bots'
  | 'clicks on short links, pixels and measurements of speed'
  | 'actions that are neither a page nor an event'

/** A line that is no event. */
export interface LeftOut {
  line: number
  reason: Reason
}

/** A kind of file. Its rows become records with the fields of docs/import.md. */
export interface Format {
  /** What `--from` takes. */
  name: string
  /** Whether a file that begins so is of this kind. */
  isKnownBy(head: string): boolean
  /** `domain` stands in where a file names no host. */
  read(content: AsyncIterable<Buffer>, domain: string): AsyncGenerator<FileRecord | LeftOut | LineFault>
  /** A line that cannot be read is left out; without it, it refuses the file, which somebody wrote for Footfall. */
  leavesOutBrokenLines: boolean
}
