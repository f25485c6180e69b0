// Bytes that are not valid HTTP, or almost, after a few good requests on the same connection. The responses to the good requests must
// not depend on what follows.
import type { Random } from '../../support/random.ts'
import type { FuzzWorld } from './accounts.ts'
import { quickRequest, type Request, write } from './requests.ts'

export interface ByteCase {
  name: string
  /** Sent first, in the same write: each must get its own response, in order. */
  good: Request[]
  /** Sent after them, one character per byte. */
  tail: string
  /**
   * refused: one 400 in the error envelope, then the connection closes, and the bytes behind get no response.
   * open: any responses, as long as each has our form.
   */
  outcome: 'refused' | 'open'
  /** What the client does next: waits until the server closes, closes after the expected responses, or resets at once. */
  next: 'wait' | 'hang up' | 'reset'
}

const line = 'GET /livez HTTP/1.1\r\nHost: x\r\n'
const end = '\r\n\r\n'

/** Each is refused by the parser, or by our code where Node would respond without the envelope. */
const refused: Readonly<Record<string, (random: Random) => string>> = {
  garbage: (random) => random.pick([...'{}<>()[]@,;:"/?=\\\x00\x01\x16\x7f\x80\xff']) + noise(random, 200),
  'unknown method': (random) =>
    `${random.pick(['FOO', 'get', 'GETT', 'G', 'PRI', 'GeT', 'HTTP/1.1', 'GET\x00'])} / HTTP/1.1\r\nHost: x${end}`,
  'bad version': (random) =>
    `GET / ${random.pick(['HTTP/1.10', 'HTTP/9.9', 'HTTP/x.1', 'HTTQ/1.1', 'HTTP/1', 'http/1.1', 'HTTP/1.1 x', 'HTTP/'])}\r\nHost: x${end}`,
  'length and chunks': () =>
    `POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked${end}0${end}`,
  'two lengths': (random) =>
    `POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: ${random.pick(['4', '5', '0'])}${end}abcd`,
  'bad length': (random) =>
    `POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: ${random.pick(['-1', '+5', '0x10', '5,5', '1e3', '4 4', 'x', `${'9'.repeat(30)}`])}${end}abcd`,
  'bare line feeds': (random) =>
    random.pick(['GET /livez HTTP/1.1\nHost: x\n\n', `${line}A: b\nC: d${end}`, `${line}A: b\n\r\n\r\n`]),
  'bare return': () => `${line}A: b\rC: d${end}`,
  'space before colon': (random) => `${line}A${random.pick([' ', '\t', '  '])}: x${end}`,
  'no colon': () => `${line}A${end}`,
  'no name': () => `${line}: x${end}`,
  'folded header': (random) => `${line}A: b\r\n${random.pick([' ', '\t'])}c${end}`,
  'first line begins with a space': () => `GET /livez HTTP/1.1\r\n A: b${end}`,
  'control in a value': (random) => `${line}A: b${random.pick(['\x00', '\x01', '\x08', '\x1f', '\x7f'])}c${end}`,
  'control in a name': (random) => `${line}A${random.pick(['\x00', '\x01', '\x7f', '\x80', '(', '"', '@'])}: c${end}`,
  'control in the path': (random) =>
    `GET /a${random.pick(['\x00', '\x01', '\x1f', '\x7f', '\x80', '\xe9'])} HTTP/1.1\r\nHost: x${end}`,
  'path without slash': (random) => `GET ${random.pick(['livez', '\\livez', 'x'])} HTTP/1.1\r\nHost: x${end}`,
  'large header': (random) => `${line}A: ${'a'.repeat(8200 + random.below(4000))}${end}`,
  'large path': (random) => `GET /${'a'.repeat(8200 + random.below(4000))} HTTP/1.1${end}`,
  'large query': (random) => `GET /api/v1/stats/geo?hostname=${'%41'.repeat(2740 + random.below(900))} HTTP/1.1${end}`,
  'many headers': (random) => `${line}${'A-header: value\r\n'.repeat(700 + random.below(200))}\r\n`,
  'unknown expectation': (random) =>
    `GET /livez HTTP/1.1\r\nHost: x\r\nExpect: ${random.pick(['foo', '200-ok', 'x=y'])}${end}`,
  connect: (random) => `CONNECT ${random.pick(['example.com:443', 'x:1', '127.0.0.1:22'])} HTTP/1.1\r\nHost: x${end}`,
}

const open: Readonly<Record<string, (random: Random, world: FuzzWorld) => string>> = {
  mutated: mutated,
  truncated: (random, world) => {
    const { bytes } = quickRequest(random, world)
    return bytes.slice(0, random.below(bytes.length))
  },
  'http 2': (random) =>
    random.pick(['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04', 'GET /livez HTTP/2.0\r\n\r\n']),
  'http 0.9': () => 'GET /livez\r\n\r\n',
  tls: (random) => `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${noise(random, 120)}`,
  'bad chunk': (random) =>
    `POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked${end}${random.pick(['zz\r\n', '-1\r\n', `${'f'.repeat(20)}\r\n`, '5\r\nabc\r\n0', '1;\r\x00\r\n'])}`,
  'bad encoding': (random) =>
    `POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ${random.pick(['identity', 'gzip', 'chunked, gzip', 'xchunked', 'chunked\x0b'])}${end}0${end}`,
  'short body': () => `POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100${end}abc`,
  'large head': (random) => `${line}${noise(random, 10)}A: ${'a'.repeat(random.pick([20_000, 70_000]))}${end}`,
  'blank lines': () => `\r\n\r\n\r\n${line}\r\n`,
  fragment: (random) =>
    `GET ${random.pick(['/nothing', '/livez', '/api/v1/stats/geo'])}#${random.pick(['%zz', 'a?limit=0', '%', ''])} HTTP/1.1\r\nHost: x${end}`,
  upgrade: () => `${line}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x${end}\x81\x85abcd`,
}

export function byteCase(random: Random, world: FuzzWorld): ByteCase {
  const good = Array.from({ length: random.pick([0, 0, 0, 1, 1, 2, 4, 8]) }, () => quickRequest(random, world))
  const isRefused = random.oneIn(2)
  const kinds = isRefused ? refused : open
  const name = random.pick(Object.keys(kinds))
  const tail = (kinds[name] as (typeof open)[string])(random, world)
  // After an unparsable request the boundaries are unknown: a response to what follows would be request smuggling.
  const behind = isRefused && random.oneIn(3) ? write({ target: '/livez', headers: [['Host', 'x']] }).bytes : ''
  return {
    name,
    good,
    tail: tail + behind,
    outcome: isRefused ? 'refused' : 'open',
    next: isRefused ? 'wait' : random.oneIn(10) ? 'reset' : 'hang up',
  }
}

const noise = (random: Random, longest: number): string =>
  Array.from({ length: random.below(longest) }, () => String.fromCharCode(random.below(256))).join('')

/** A good request with a few bytes flipped, dropped, doubled or inserted. */
function mutated(random: Random, world: FuzzWorld): string {
  let bytes = quickRequest(random, world).bytes
  for (let count = random.pick([1, 1, 2, 4, 12]); count > 0; count--) {
    const at = random.below(bytes.length + 1)
    const byte = String.fromCharCode(
      random.oneIn(2) ? random.below(256) : random.pick([0, 9, 10, 13, 32, 58, 37, 47, 63]),
    )
    const rest = bytes.slice(at)
    bytes =
      bytes.slice(0, at) + random.pick([byte + rest.slice(1), byte + rest, rest.slice(1), rest.slice(0, 8) + rest])
  }
  return bytes
}
