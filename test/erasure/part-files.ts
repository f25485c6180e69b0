// Searches the files of ClickHouse's data folder as somebody with access to the disk could: every file as it is, and the content of its
// compressed blocks.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'

/** The files below the folder that contain the text. Skips files that are removed during the search. */
export function filesWith(folder: string, text: string): string[] {
  const wanted = Buffer.from(text)
  return filesIn(folder).filter((path) => {
    const content = read(path)
    return content.includes(wanted) || unpacked(content).includes(wanted)
  })
}

/** ClickHouse may remove a folder while it is being listed. */
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? filesIn(path) : entry.isFile() ? [path] : []
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function read(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    return Buffer.alloc(0)
  }
}

const checksumBytes = 16
const headerBytes = 9

/** The content of all blocks of a file, up to the first bytes that are no block. */
function unpacked(content: Buffer): Buffer {
  const blocks: Buffer[] = []
  for (let at = 0; at + checksumBytes + headerBytes <= content.length; ) {
    const size = content.readUInt32LE(at + checksumBytes + 1)
    const end = at + checksumBytes + size
    if (size < headerBytes || end > content.length) break
    const block = blockOf(content.subarray(at + checksumBytes, end))
    if (!block) break
    blocks.push(block)
    at = end
  }
  return Buffer.concat(blocks)
}

/** The content of a block: method, size with this header, uncompressed size, data. Undefined if it is no block. */
function blockOf(block: Buffer): Buffer | undefined {
  const method = block.readUInt8(0)
  const size = block.readUInt32LE(5)
  const data = block.subarray(headerBytes)
  if (method === 0x02) return data
  if (method === 0x82) return lz4(data, size)
  if (method === 0x90) return zstdDecompressSync(data)
  // A chain of codecs: one byte with their number, one byte for each, then the block that the last of them wrote.
  if (method === 0x91) return blockOf(data.subarray(1 + data.readUInt8(0)))
  return undefined
}

/** The LZ4 block format: literals, then a copy of earlier bytes, repeated. */
function lz4(data: Buffer, size: number): Buffer {
  const out = Buffer.alloc(size)
  let [from, to] = [0, 0]
  const lengthOf = (nibble: number): number => {
    if (nibble < 15) return nibble
    let [length, byte] = [nibble, 255]
    while (byte === 255) {
      byte = data.readUInt8(from++)
      length += byte
    }
    return length
  }
  while (from < data.length) {
    const token = data.readUInt8(from++)
    const literals = lengthOf(token >> 4)
    data.copy(out, to, from, from + literals)
    from += literals
    to += literals
    if (from >= data.length) break // the last sequence has no copy
    const offset = data.readUInt16LE(from)
    from += 2
    for (let left = lengthOf(token & 15) + 4; left > 0; left--, to++) out[to] = out[to - offset] as number
  }
  return out
}
