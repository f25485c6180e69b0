import { isUtf8 } from 'node:buffer'

export interface Line {
  /** From 1. */
  number: number
  text: string
}

/** A line that cannot be read; the message names the line and the fault. */
export class LineFault extends Error {
  constructor(line: number, fault: string) {
    super(`Line ${line}: ${fault}`)
  }
}

const newline = 0x0a

/** The lines of a UTF-8 file without their LF or CR LF. */
export async function* readLines(content: AsyncIterable<Buffer>): AsyncGenerator<Line | LineFault> {
  let number = 0
  let pieces: Buffer[] = []
  for await (const chunk of content) {
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      pieces.push(chunk.subarray(from, end))
      yield lineOf(++number, pieces)
      pieces = []
      from = end + 1
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from))
  }
  if (pieces.length > 0) yield lineOf(++number, pieces)
}

/** Decodes each line by itself, because a stream decoder does not say which line is broken. */
function lineOf(number: number, pieces: readonly Buffer[]): Line | LineFault {
  const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
  if (!isUtf8(bytes)) return new LineFault(number, 'is not UTF-8')
  const text = bytes.toString().replace(/\r$/, '')
  return { number, text: number === 1 ? text.replace(/^\uFEFF/, '') : text }
}
