// The bytes of a file that is imported, unpacked if it is packed by gzip.
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { pipeline, Readable } from 'node:stream'
import { createGunzip, gunzipSync, constants as zlib } from 'node:zlib'
import { LineFault } from './lines.ts'

/** Of the first bytes of the file, of which `size` says how many. `onChunk` gets each as it is in the file, in order. */
export async function* contentOf(path: string, size: number, onChunk: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  async function* chunks(): AsyncGenerator<Buffer> {
    if (size === 0) return
    const content = createReadStream(path, { end: size - 1, highWaterMark: 1 << 18 })
    for await (const chunk of content as AsyncIterable<Buffer>) {
      onChunk(chunk)
      yield chunk
    }
  }
  if (!isPacked(firstBytes(path))) return yield* chunks()
  const unpacked = createGunzip({ chunkSize: 1 << 18 })
  pipeline(Readable.from(chunks()), unpacked, () => {})
  try {
    yield* unpacked as AsyncIterable<Buffer>
  } catch (error) {
    if (!/^Z_/.test((error as { code?: string }).code ?? '')) throw error
    throw new LineFault(1, 'and the rest are packed by gzip, and the file is cut off or broken')
  }
}

/** What a file begins with, as text, to see what it is. */
export function headOf(path: string): string {
  const bytes = firstBytes(path)
  const head = isPacked(bytes) ? gunzipSync(bytes, { finishFlush: zlib.Z_SYNC_FLUSH }) : bytes
  return head.toString().replace(/^\uFEFF/, '')
}

function firstBytes(path: string): Buffer {
  const bytes = Buffer.alloc(1 << 14)
  const file = openSync(path, 'r')
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(file)
  }
}

const isPacked = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
