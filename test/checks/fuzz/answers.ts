// A parser of raw responses that is stricter than any client: a bare line feed, a repeated header or a body of undeclared length is a
// fault.
import zlib from 'node:zlib'

export interface Answer {
  status: number
  /** Headers by lower-case name. */
  headers: ReadonlyMap<string, string>
  body: string
}

/** The bytes are not a response of the promised form. */
export class Malformed extends Error {}

const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/
const headerLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ?([\x20-\x7e]*)$/
const headEnd = Buffer.from('\r\n\r\n')
const maxHead = 32 * 1024

/** Takes one complete response off the front of the received bytes, or returns undefined until it is complete. Skips 1xx. */
export class AnswerReader {
  #arrived: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): void {
    this.#arrived = this.#arrived.length === 0 ? chunk : Buffer.concat([this.#arrived, chunk])
  }

  /** The received bytes after the last response. */
  get rest(): Buffer {
    return this.#arrived
  }

  /** `withBody` says whether the response must have a body; with 'perhaps' the bytes decide. */
  next(withBody: boolean | 'perhaps'): Answer | undefined {
    const end = this.#arrived.indexOf(headEnd)
    if (end === -1) {
      if (this.#arrived.length > maxHead) throw new Malformed('headers without an end')
      return undefined
    }
    const { status, headers } = readHead(this.#arrived.toString('latin1', 0, end))
    if (status < 200) {
      this.#arrived = this.#arrived.subarray(end + 4)
      return this.next(withBody)
    }
    const announced = lengthOf(status, headers)
    const from = end + 4
    const isBare = withBody === false || (withBody === 'perhaps' && this.#looksBare(from))
    const to = from + (isBare ? 0 : announced)
    if (this.#arrived.length < to) return undefined
    const body = decoded(headers.get('content-encoding'), this.#arrived.subarray(from, to))
    this.#arrived = this.#arrived.subarray(to)
    return { status, headers, body }
  }

  /** After headers without a body comes the next response or nothing; no body of ours begins like a response. */
  #looksBare(from: number): boolean {
    return ['', 'HTTP/'].includes(this.#arrived.toString('latin1', from, from + 5))
  }
}

/** Bodies are compressed only above 1 kB, with the declared encoding. */
function decoded(encoding: string | undefined, body: Buffer): string {
  if (encoding === undefined || body.length === 0) return body.toString()
  const decode = { br: zlib.brotliDecompressSync, zstd: zlib.zstdDecompressSync, gzip: zlib.gunzipSync }[encoding]
  if (!decode) throw new Malformed(`content-encoding ${encoding}`)
  let text: string
  try {
    text = decode(body).toString()
  } catch (error) {
    throw new Malformed(`a body that is not ${encoding}: ${error}`)
  }
  if (Buffer.byteLength(text) <= 1000) throw new Malformed(`${encoding} of a small body`)
  return text
}

function readHead(text: string): { status: number; headers: Map<string, string> } {
  const [first = '', ...lines] = text.split('\r\n')
  const status = Number(statusLine.exec(first)?.[1] ?? Number.NaN)
  if (Number.isNaN(status)) throw new Malformed(`status line ${JSON.stringify(first.slice(0, 80))}`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', value = ''] = headerLine.exec(line) ?? []
    const key = name.toLowerCase()
    if (key === '') throw new Malformed(`header line ${JSON.stringify(line.slice(0, 80))}`)
    if (headers.has(key)) throw new Malformed(`header ${key} sent twice`)
    headers.set(key, value)
  }
  return { status, headers }
}

function lengthOf(status: number, headers: ReadonlyMap<string, string>): number {
  const length = headers.get('content-length')
  if (headers.has('transfer-encoding')) throw new Malformed('a body of unknown length')
  if (status === 204 || status === 304) {
    if (status === 204 && length !== undefined) throw new Malformed('204 with a length')
    return 0
  }
  if (length === undefined || !/^\d+$/.test(length)) throw new Malformed(`content-length ${length}`)
  return Number(length)
}
