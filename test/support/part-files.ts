// What is in the files of ClickHouse's data folder, as somebody who has the disk would read it: every file as it is, and what its compressed
// blocks hold.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'

/** The files below the folder that hold the text. One that is removed while it is looked for is not among them. */
export function filesWith(folder: string, text: string): string[] {
  const wanted = Buffer.from(text)
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const content = read(path)
      return content.includes(wanted) || unpacked(content).includes(wanted)
    })
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

/** All blocks of a file, one after the other; as far as they are blocks. */
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

/** A block: method, size with this header, size of what is in it, and that. Undefined if it is none. */
function blockOf(block: Buffer): Buffer | undefined {
  const method = block.readUInt8(0)
  const size = block.readUInt32LE(5)
  const data = block.subarray(headerBytes)
  if (method === 0x02) return data
  if (method === 0x82) return lz4(data, size)
  if (method === 0x90) return zstdDecompressSync(data)
  // Several, one around the other: how many, which, and a block of the outermost. Inside of it are numbers, by codecs of their own.
  if (method === 0x91) return blockOf(data.subarray(1 + data.readUInt8(0)))
  return undefined
}

/** The block format of LZ4: literals, then a copy of what came before, again and again. */
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
    if (from >= data.length) break // the last one has no copy
    const offset = data.readUInt16LE(from)
    from += 2
    for (let left = lengthOf(token & 15) + 4; left > 0; left--, to++) out[to] = out[to - offset] as number
  }
  return out
}
