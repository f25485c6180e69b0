import { createReadStream } from 'node:fs'

export interface Line {
  /** From 1. */
  number: number
  text: string
}

/** The lines of a UTF-8 file without their ends, whether those are LF or CR LF. `onChunk` hears every byte, in order. */
export async function* readLines(path: string, onChunk: (chunk: Buffer) => void): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let number = 0
  let rest = ''
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 })) {
    onChunk(chunk as Buffer)
    const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n')
    rest = lines.pop() as string
    for (const text of lines) yield { number: ++number, text: text.endsWith('\r') ? text.slice(0, -1) : text }
  }
  rest += decoder.decode()
  if (rest !== '') yield { number: ++number, text: rest }
}
