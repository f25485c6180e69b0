// Puts hits in the order of their times. Exports of other products are in any order, and may be larger than memory: so they are sorted in
// pieces on disk, which are then merged.
import { closeSync, createReadStream, writeSync } from 'node:fs'
import type { ImportedHit } from './hit.ts'
import { LineFault, readLines } from './lines.ts'
import { openNameless } from './nameless.ts'

/** About 16 MB of memory: garbage of larger pieces stays until the heap has grown. A file of 5 GB becomes some 1,000 pieces. */
const hitsPerPiece = 20_000

interface Piece {
  start: number
  end: number
}

export interface Sorting {
  add(hit: ImportedHit): void
  /** All hits that were added; those of the same time in the order in which they came. */
  inOrderOfTime(): AsyncGenerator<ImportedHit>
  close(): void
}

export function openSorting(pieceSize = hitsPerPiece): Sorting {
  const file = openNameless()
  const pieces: Piece[] = []
  let waiting: ImportedHit[] = []

  function write(): void {
    const start = pieces.at(-1)?.end ?? 0
    pieces.push({ start, end: start + append(file, sorted()) })
    waiting = []
  }
  const sorted = () => waiting.sort((one, other) => one.time - other.time)

  return {
    add(hit) {
      if (waiting.push(hit) === pieceSize) write()
    },
    async *inOrderOfTime() {
      // Most files fit into one piece.
      if (pieces.length === 0) return yield* sorted()
      write()
      yield* merged(pieces.map((piece) => hitsOf(file, piece)))
    },
    close: () => closeSync(file),
  }
}

function append(file: number, hits: readonly ImportedHit[]): number {
  let bytes = 0
  for (let from = 0; from < hits.length; from += 1_000) {
    const text = hits.slice(from, from + 1_000).map((hit) => `${JSON.stringify(hit)}\n`)
    bytes += writeSync(file, text.join(''))
  }
  return bytes
}

async function* hitsOf(file: number, { start, end }: Piece): AsyncGenerator<ImportedHit> {
  if (start === end) return
  const content = createReadStream('', { fd: file, start, end: end - 1, autoClose: false, highWaterMark: 1 << 15 })
  for await (const line of readLines(content)) {
    if (line instanceof LineFault) throw line
    const hit = JSON.parse(line.text)
    yield { ...hit, url: new URL(hit.url) }
  }
}

interface Next {
  hit: ImportedHit
  nth: number
  rest: AsyncGenerator<ImportedHit>
}

const isBefore = (one: Next, other: Next): boolean =>
  one.hit.time < other.hit.time || (one.hit.time === other.hit.time && one.nth < other.nth)

/** A heap of the next hit of each piece: the earliest is at its top. */
async function* merged(pieces: readonly AsyncGenerator<ImportedHit>[]): AsyncGenerator<ImportedHit> {
  const heap: Next[] = []
  for (const [nth, rest] of pieces.entries()) {
    const { value, done } = await rest.next()
    if (!done) heap.push({ hit: value, nth, rest })
  }
  for (let at = heap.length >> 1; at >= 0; at--) sink(heap, at)
  for (let top = heap[0]; top; top = heap[0]) {
    yield top.hit
    const { value, done } = await top.rest.next()
    if (!done) top.hit = value
    else {
      const last = heap.pop() as Next
      if (heap.length > 0) heap[0] = last
    }
    sink(heap, 0)
  }
}

function sink(heap: Next[], from: number): void {
  const one = heap[from]
  if (!one) return
  let at = from
  for (;;) {
    const left = 2 * at + 1
    const [first, second] = [heap[left], heap[left + 1]]
    if (!first) break
    const child = second && isBefore(second, first) ? left + 1 : left
    const smaller = heap[child] as Next
    if (!isBefore(smaller, one)) break
    heap[at] = smaller
    at = child
  }
  heap[at] = one
}
