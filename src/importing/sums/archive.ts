// The files in a ZIP archive.
import { closeSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { LineFault } from '../lines.ts'

export interface ArchivedFile {
  /** Without the folder. */
  name: string
  content(): Promise<AsyncIterable<Buffer>>
}

export function isArchive(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(4)
    readSync(file, bytes, 0, 4, 0)
    return bytes.equals(Buffer.from([0x50, 0x4b, 0x03, 0x04]))
  } finally {
    closeSync(file)
  }
}

/** `onBytes` gets bytes of the archive as they are read. */
export async function* filesIn(path: string, onBytes: (bytes: number) => void): AsyncGenerator<ArchivedFile> {
  const archive = await openPromise(path, { autoClose: false }).catch(broken)
  try {
    for (const entry of await entriesOf(archive))
      yield { name: basename(entry.fileName), content: async () => contentOf(archive, entry, onBytes) }
  } finally {
    archive.close()
  }
}

/** Archives by macOS have a second file for each file. */
async function entriesOf(archive: ZipFile): Promise<Entry[]> {
  const entries: Entry[] = []
  try {
    for await (const entry of archive.eachEntry()) if (!/\/$|^__MACOSX\//.test(entry.fileName)) entries.push(entry)
  } catch (error) {
    broken(error as Error)
  }
  return entries
}

async function* contentOf(archive: ZipFile, entry: Entry, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  const packed = entry.compressedSize / Math.max(1, entry.uncompressedSize)
  const content = await archive.openReadStreamPromise(entry).catch(broken)
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      onBytes(chunk.length * packed)
      yield chunk
    }
  } catch (error) {
    broken(error as Error)
  }
}

function broken(error: Error): never {
  throw new LineFault(1, `and the rest cannot be unpacked, because the archive is cut off or broken (${error.message})`)
}
