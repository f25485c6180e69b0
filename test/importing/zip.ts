// A ZIP archive as products write it: stored or deflated files, with their sizes after their content.
import { crc32, deflateRawSync } from 'node:zlib'

export function zipOf(files: Readonly<Record<string, string | Buffer>>, deflated = true): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text)
    const packed = deflated ? deflateRawSync(content) : content
    const sizes = Buffer.alloc(12)
    sizes.writeUInt32LE(crc32(content), 0)
    sizes.writeUInt32LE(packed.length, 4)
    sizes.writeUInt32LE(content.length, 8)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x0808, 2) // names in UTF-8, sizes after the content
    common.writeUInt16LE(deflated ? 8 : 0, 4)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name)])
    const descriptor = Buffer.concat([Buffer.from('PK\x07\x08'), sizes])
    parts.push(local, packed, descriptor)
    const entry = Buffer.from(common)
    sizes.copy(entry, 10)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), entry, rest, Buffer.from(name))
    offset += local.length + packed.length + descriptor.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  const count = Object.keys(files).length
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, listed, end])
}
