// Well-formed HTTP requests of all kinds: odd methods, paths, headers and bodies, with and without a key. Each has the facts that the
// oracle needs to predict the response.
import type { Random } from '../../support/random.ts'
import { type FuzzKey, type FuzzWorld, keyText } from './accounts.ts'
import { authorizationOf } from './authorization.ts'
import { endpoints, outside, type Sent, sitesPaths } from './oracle.ts'
import { version2Paths } from './question-oracle.ts'
import { questionOf } from './questions.ts'
import { hostile, queryOf, type Temper } from './values.ts'

export interface Request extends Sent {
  /** As on the wire, one character per byte. */
  bytes: string
  /**
   * Whether the next request waits for the response to this one. The server may close the connection after it, or it asks for an upgrade:
   * then Node drops the bytes that arrive before it has responded.
   */
  isLast: boolean
}

interface Draft {
  method?: string
  target: string
  authorization?: readonly string[]
  headers?: readonly (readonly [string, string])[]
  body?: string
  version?: string
}

export function write({
  method = 'GET',
  target,
  authorization = [],
  headers = [],
  body,
  version = '1.1',
}: Draft): Request {
  const lines = [
    `${method} ${target} HTTP/${version}`,
    ...[...headers, ...authorization.map((value) => ['Authorization', value])].map(
      ([name, value]) => `${name}: ${value}`,
    ),
    ...(body === undefined ? [] : [`Content-Length: ${body.length}`]),
  ]
  const has = (wanted: string, pattern: RegExp) =>
    headers.some(([name, value]) => name.toLowerCase() === wanted && pattern.test(value))
  const hosts = headers.filter(([name]) => name.toLowerCase() === 'host').length
  const known = headers.filter(([name]) => name.toLowerCase() === 'if-none-match').map(([, value]) => value)
  return {
    method,
    target,
    authorization,
    ifNoneMatch: known.join(', '),
    isHostUnclear: hosts > 1 || (hosts === 0 && version === '1.1'),
    bytes: `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`,
    isLast: has('connection', /close|upgrade/i) || version === '1.0',
  }
}

const host = ['Host', 'api.example'] as const
const firstVersion = [...Object.keys(endpoints).map((name) => `/api/v1/stats/${name}`), ...sitesPaths]
/** Half of the requests are questions, because most of what can be wrong with a request is in them. */
const reportPaths = [...firstVersion, ...version2Paths, ...version2Paths, ...version2Paths]

export const isOfVersion2 = ({ target }: Sent): boolean => target.startsWith('/api/v2/')

/** A few have the parameters of the other version. */
const anyQuery = (random: Random, world: FuzzWorld, path: string, temper: Temper): string =>
  path.startsWith('/api/v2/') === !random.oneIn(20) ? questionOf(random, world, temper) : queryOf(random, world, temper)

/** A request that a client may send but none should. */
export function oddRequest(random: Random, world: FuzzWorld): Request {
  const method = random.oneIn(3) ? random.pick(methods) : random.pick(['GET', 'GET', 'HEAD', 'OPTIONS', 'POST'])
  const path = pathOf(random)
  const draft = {
    method,
    target: path + (random.oneIn(3) ? `?${anyQuery(random, world, path, 'wild')}` : ''),
    authorization: random.oneIn(3) ? [`Bearer ${random.pick(world.plenty).text}`] : authorizationOf(random, world),
    headers: headersOf(random, method),
    version: random.oneIn(15) ? '1.0' : '1.1',
  }
  return fitting(withBody(random, write(draft), draft))
}

/** More than 8 kB of headers belong to the byte cases. */
const fitting = (request: Request): Request =>
  request.bytes.indexOf('\r\n\r\n') > 7500
    ? write({ method: request.method, target: '/nothing', headers: [host] })
    : request

const methods = [
  ...[
    'GET',
    'HEAD',
    'OPTIONS',
    'POST',
    'PUT',
    'DELETE',
    'PATCH',
    'TRACE',
    'PROPFIND',
    'MKCOL',
    'LOCK',
    'UNLOCK',
    'SEARCH',
  ],
  ...['COPY', 'MOVE', 'BIND', 'REPORT', 'MKACTIVITY', 'CHECKOUT', 'MERGE', 'M-SEARCH', 'NOTIFY', 'SUBSCRIBE', 'PURGE'],
  ...['LINK', 'UNLINK', 'ACL', 'MKCALENDAR', 'QUERY'],
]

function pathOf(random: Random): string {
  const known = random.pick([...reportPaths, ...reportPaths, ...outside])
  const at = random.below(known.length)
  switch (random.below(14)) {
    case 0: // another spelling of the same path
      return known.slice(0, at) + escapeByte(known, at) + known.slice(at + 1)
    case 1:
      return `http://api.example${known}`
    case 2:
      return known + random.pick(['/', '//', '/.', '/..', '%2F', '.json', ';x=1', '%20', '%00', '*', ':'])
    case 3:
      return known.replace('/', random.pick(['//', '/./', '/x/../', '/%2e/', '/\\', '/%2F']))
    case 4:
      return anyCase(random, known)
    case 5: // escapes that cannot be decoded
      return known.slice(0, at + 1) + random.pick(['%', '%z', '%zz', '%FF', '%C0%AF', '%ED%A0%80', '%c3'])
    case 6:
      return `/${random.pick(hostile.filter((text) => text.length < 1000).map(encodeURIComponent))}`
    case 7: // text that a router might treat as a pattern
      return `/${random.pick([':a', ':a(', ':a(b', '::', '*', '**', ':a(^b+$)', ':a((b+)+$)', ':a-:b', '(', 'a:b(c)*', ':?'])}`
    case 8:
      return `/${'a/'.repeat(random.below(400))}`
    case 9:
      return `/api/v1/stats/${random.pick(['__proto__', 'constructor', 'hasOwnProperty', 'toString', '', 'Overview', 'all'])}`
    case 10:
      return random.pick([
        '/api/v2/stats/overview',
        '/api/v1',
        '/api/v1/stats',
        '/metrics',
        '/nothing',
        '/.env',
        '/a?',
        '/a??',
      ])
    case 11:
      return `/${'x'.repeat(random.below(6000))}`
    default:
      return known
  }
}

const escapeByte = (text: string, at: number): string => {
  const code = text.charCodeAt(at)
  return code === 0x2f ? '/' : `%${code.toString(16)}`
}

function headersOf(random: Random, method: string): [string, string][] {
  const headers: [string, string][] = random.oneIn(20) ? [] : [[...host]]
  for (let count = random.below(4); count > 0; count--) headers.push(oddHeader(random, method))
  return headers
}

function oddHeader(random: Random, method: string): [string, string] {
  switch (random.below(16)) {
    case 0:
      return ['Connection', random.pick(['close', 'keep-alive', 'Keep-Alive', 'close, x', 'x', 'Upgrade'])]
    case 1: // nothing handles it, so it is an ordinary request
      return ['Upgrade', random.pick(['websocket', 'h2c', 'TLS/1.3', 'x'])]
    case 2:
      return ['If-None-Match', random.pick(['*', '"x"', 'W/"x"', ',,,', 'W/"', '"'.repeat(2000)])]
    case 3:
      return ['Host', random.pick(['', 'a b', '[::1]', 'x:99999', '%00'])]
    case 4:
      return [`X-${'A'.repeat(random.below(200))}`, 'b'.repeat(random.below(1500))]
    case 5:
      return [
        random.pick(['__proto__', 'constructor', 'x_y', "!#$%&'*+-.^_`|~", '0']),
        random.pick(['', '\t', '\xff\xfe', 'é']),
      ]
    case 6:
      return ['Accept', random.pick(['text/html', '*/*;q=0', 'x'.repeat(500), '\xe9'])]
    case 7:
      return [
        'Content-Type',
        random.pick(['application/json', 'text/plain', 'x', '', 'multipart/form-data', '/'.repeat(300)]),
      ]
    case 8:
      return ['Origin', random.pick(['null', 'https://evil.example', '*', 'file://'])]
    case 9:
      return random.oneIn(2)
        ? ['Access-Control-Request-Method', random.pick(['GET', 'POST', 'x'])]
        : [
            'Access-Control-Request-Headers',
            random.pick([
              'authorization',
              'x-a,traceparent',
              'a b',
              ',',
              'a,,b',
              '*',
              '"a"',
              'a:b',
              `${'x,'.repeat(400)}y`,
            ]),
          ]
    case 10:
      return ['Cookie', `key=${'c'.repeat(random.below(1000))}`]
    case 11:
      return ['Accept-Version', random.pick(['1.x', '9.9.9', '*'])]
    case 12:
      return ['X-HTTP-Method-Override', method === 'GET' ? 'DELETE' : 'GET']
    case 13: // gets 100 and then the response
      return ['Expect', random.pick(['100-continue', '100-Continue'])]
    case 14:
      return [
        'Accept-Encoding',
        random.pick(['gzip', 'br;q=1', 'zstd', 'gzip, br', 'identity;q=0', '*', 'gzip;q=', ';,;q=2']),
      ]
    default:
      return ['X-Request-Id', random.pick(['mine', '\xff', 'x'.repeat(300)])]
  }
}

/** Correctly framed bodies that nobody reads: the next request on the connection must still be found. */
function withBody(random: Random, plain: Request, draft: Draft): Request {
  if (!random.oneIn(4) || plain.isLast) return plain
  const body = random.pick(['', 'x', '{"a":1}', 'GET /livez HTTP/1.1\r\n\r\n', '\x00\xff'.repeat(50), 'z'.repeat(3000)])
  if (random.oneIn(2)) return write({ ...draft, body })
  const chunk = body === '' ? '' : `${body.length.toString(16)}${random.pick(['', ';ext=1'])}\r\n${body}\r\n`
  const chunked = write({ ...draft, headers: [...(draft.headers ?? []), ['Transfer-Encoding', 'chunked']] })
  return draft.version === '1.0' ? plain : { ...chunked, bytes: `${chunked.bytes}${chunk}0\r\n\r\n` }
}

/** Parameters of all kinds, with valid keys. */
export function parameterRequest(random: Random, world: FuzzWorld): Request {
  const key = random.pick(random.oneIn(8) ? world.scarce : world.plenty)
  const temper = random.oneIn(60) ? 'sound' : random.oneIn(2) ? 'faulty' : 'wild'
  const path = random.pick(reportPaths)
  const query = [anyQuery(random, world, path, temper), ...siteParameter(random, world, key)].filter(
    (part) => part !== '',
  )
  return write({
    method: random.oneIn(25) ? 'HEAD' : 'GET',
    target: `${path}${query.length > 0 ? `?${query.join('&')}` : random.pick(['', '?', '?&'])}`,
    authorization: [`Bearer ${key.text}`],
    headers: [host],
  })
}

/** Account keys usually name one of their sites, because otherwise the first check would refuse all requests. */
function siteParameter(random: Random, world: FuzzWorld, key: FuzzKey): string[] {
  if (random.oneIn(5) || (key.siteId && !random.oneIn(5))) return []
  const own = [...world.sites].filter(([, { accountId }]) => accountId === key.accountId)
  return [`site_id=${key.siteId ?? random.pick(own)[0]}`]
}

/** A request with a missing or invalid key. */
export function keyRequest(random: Random, world: FuzzWorld): Request {
  const path = random.pick(reportPaths)
  const request = write({
    target: `${path}${random.oneIn(3) ? `?${anyQuery(random, world, path, 'wild')}` : ''}`,
    authorization: authorizationOf(random, world),
    headers: [host],
  })
  return fitting(request)
}

const anyCase = (random: Random, text: string): string =>
  [...text].map((letter) => (random.oneIn(4) ? letter.toUpperCase() : letter)).join('')

/** Short requests of every speed, for pipelines: refused at once, after PostgreSQL, after Redis, after ClickHouse. */
export function quickRequest(random: Random, world: FuzzWorld): Request {
  const key = [`Bearer ${random.pick(world.careless).text}`]
  const [report, headers] = [random.pick(reportPaths), [host]]
  switch (random.below(8)) {
    case 0:
      return write({ target: '/nothing', headers })
    case 1:
      return write({ target: report, headers })
    case 2:
      return write({ method: 'OPTIONS', target: report, headers })
    case 3:
      return write({ method: 'DELETE', target: report, headers })
    case 4:
      return write({ target: report, authorization: [`Bearer ${keyText(random, 's')}`], headers })
    case 5:
      return random.oneIn(4)
        ? write({ target: report, authorization: key, headers })
        : write({ target: '/livez', headers })
    default:
      return write({ target: `${report}?limit=0`, authorization: key, headers })
  }
}
