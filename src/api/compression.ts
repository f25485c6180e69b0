// Bodies over 1 kB are sent as the client accepts them. Zstandard first: of 100 pages (13 kB) it made 0.8 kB in 50 to 90 µs of CPU, brotli
// (quality 4) 0.8 kB in 140 µs, gzip (level 1) 1.3 kB in 120 µs; of two megabytes 50 kB in 5 ms, brotli 73 kB in 28 ms.
import { promisify } from 'node:util'
import zlib, { constants } from 'node:zlib'

const leastBytes = 1_000
/** More than this would hold up everybody else for longer than handing it to another thread takes. */
const mostAtOnce = 64 * 1024

const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
const gzip = { level: 1 }

/** By preference. */
const encodings = {
  zstd: { now: (body: string) => zlib.zstdCompressSync(body), later: promisify(zlib.zstdCompress) },
  br: {
    now: (body: string) => zlib.brotliCompressSync(body, brotli),
    later: (body: string) => promisify(zlib.brotliCompress)(body, brotli),
  },
  gzip: {
    now: (body: string) => zlib.gzipSync(body, gzip),
    later: (body: string) => promisify(zlib.gzip)(body, gzip),
  },
}

type Encoding = keyof typeof encodings

/** What to send this body as, by the Accept-Encoding of the request (RFC 9110, 12.5.3); undefined for as it is. */
export function encodingOf(accepted: string | undefined, body: string): Encoding | undefined {
  if (accepted === undefined || Buffer.byteLength(body) <= leastBytes) return undefined
  const weights = new Map(accepted.split(',').map(weightOf))
  const weight = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0
  const [best] = (Object.keys(encodings) as Encoding[]).sort((one, other) => weight(other) - weight(one))
  return best && weight(best) > 0 && weight(best) >= (weights.get('identity') ?? 0) ? best : undefined
}

function weightOf(item: string): [name: string, weight: number] {
  const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase())
  const q = parameters.find((one) => one.startsWith('q='))
  return [name, q === undefined ? 1 : Number(q.slice(2)) || 0]
}

export const compress = (body: string, encoding: Encoding): Buffer | Promise<Buffer> =>
  encodings[encoding][body.length > mostAtOnce ? 'later' : 'now'](body)
