// Receives the files of a form. They go to disk as they come, into files without a name.
import { close, createWriteStream } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import { hourMs } from '../../durations.ts'
import { openNameless } from '../../importing/nameless.ts'
import { allowLongBody } from '../../process/long-bodies.ts'
import { Refusal } from '../refusals.ts'

export interface ReceivedFile {
  name: string
  /** An open file. Close it. */
  file: number
}

export interface Received {
  fields: URLSearchParams
  files: ReceivedFile[]
}

const maxFiles = 400
/** Room that others on the same disk may need, such as the collector. */
const minFreeBytes = 1e9
/** A browser that sends nothing for so long has gone. */
const maxSilenceMs = 30_000
export const maxUploadMs = hourMs
/** How long the rest of a refused form may keep coming, because many browsers show no answer before they have sent everything. */
const maxRefusedMs = 30_000

/** Throws `Refusal`. `isOurs` gets the token of the form, which comes before the files. */
export async function receiveFiles(
  request: IncomingMessage,
  { maxBytes, isOurs }: { maxBytes: number; isOurs(token: string | null): boolean },
): Promise<Received> {
  const received: Received = { fields: new URLSearchParams(), files: [] }
  const release = allowLongBody(request, { maxMs: maxUploadMs, maxSilenceMs })
  try {
    await refuseTooLarge(request, maxBytes)
    await receive(request, received, isOurs)
    return received
  } catch (error) {
    closeFiles(received.files)
    request.unpipe()
    request.resume()
    setTimeout(() => request.complete || request.destroy(), maxRefusedMs).unref()
    throw isFull(error) ? new Refusal('disk_full') : error
  } finally {
    release()
  }
}

export function closeFiles(files: readonly ReceivedFile[]): void {
  for (const { file } of files) close(file, () => {})
}

async function refuseTooLarge({ headers }: IncomingMessage, maxBytes: number): Promise<void> {
  const bytes = Number(headers['content-length'] ?? Number.NaN)
  // Every browser says how much it sends.
  if (!(bytes <= maxBytes)) throw new Refusal('files_too_large')
  const { bavail, bsize } = await statfs(tmpdir())
  // Sorting the events takes about as much again.
  if (bavail * bsize - 2 * bytes < minFreeBytes) throw new Refusal('disk_full')
}

async function receive(
  request: IncomingMessage,
  { fields, files }: Received,
  isOurs: (token: string | null) => boolean,
): Promise<void> {
  const form = new Busboy({
    headers: request.headers as BusboyHeaders,
    limits: { files: maxFiles, fields: 10, fieldNameSize: 100, fieldSize: 1_000, headerPairs: 20 },
  })
  const writing: Promise<void>[] = []
  const fail = (error: Error) => form.destroy(error)
  // As in every form: PostgreSQL refuses a text with a zero byte.
  form.on('field', (name, value) =>
    value.includes('\0') ? fail(new Refusal('not_found')) : fields.append(name, value),
  )
  form.on('file', (_field, content: Readable, name: string | undefined) => {
    if (!isOurs(fields.get('token'))) return fail(new Refusal('foreign_form'))
    // The field of files was left empty.
    if (!name) return void content.resume()
    if (name.includes('\0')) return fail(new Refusal('not_found'))
    const file = openNameless()
    files.push({ name, file })
    const written = pipeline(content, createWriteStream('', { fd: file, autoClose: false }))
    written.catch(fail)
    writing.push(written)
  })
  form.on('filesLimit', () => fail(new Refusal('too_many_files')))
  await pipeline(request, form).catch((error) => {
    // A form that is cut off or is none.
    throw error instanceof Refusal || isFull(error) ? error : new Refusal('foreign_form')
  })
  await Promise.all(writing)
  if (!isOurs(fields.get('token'))) throw new Refusal('foreign_form')
}

const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes((error as { code?: string }).code ?? '')
