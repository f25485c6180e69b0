// Generates query strings: every parameter with good, bad and hostile values, repeated, empty, undecodable, and names that are no
// parameters.
import type { Random } from '../../support/random.ts'
import { type FuzzWorld, siteIdOf } from './accounts.ts'
import { countryCodes } from './calendar.ts'
import { ranges } from './query.ts'

/** Strings that break other programs. Here each must be an ordinary value. */
export const hostile: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  'true',
  '[object Object]',
  "' OR 1=1 --",
  "'; DROP TABLE events; --",
  '{p0:String}',
  '\\N',
  '\\',
  '"',
  '%',
  '%00',
  '$' + '{jndi:ldap://x}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '\u0000',
  'a\u0000b',
  '\u007f',
  '\u0085',
  '\r\nX-Injected: 1',
  '\u202egnp.exe',
  '\ufeff',
  '\u2028',
  'İ',
  'ſ',
  'K',
  '🦊',
  '👩‍👩‍👧‍👦',
  'é',
  'e\u0301',
  '５',
  '߅',
  ' ',
  '\t',
  '-1',
  '1e2',
  '0x10',
  '9'.repeat(400),
  'a'.repeat(5000),
]

export const good: Readonly<Record<string, (random: Random, world: FuzzWorld) => string>> = {
  range: (random) => random.pick(ranges),
  start: goodDate,
  end: goodDate,
  limit: (random) => `${random.below(100) + 1}`,
  country: (random) => anyCase(random, random.pick(countryCodes)),
  device: (random) => anyCase(random, random.pick(['desktop', 'mobile', 'tablet'])),
  hostname: (random) =>
    random.pick([
      'example.com',
      'EXAMPLE.com',
      'bücher.example',
      'a'.repeat(253),
      'a_b.example.',
      '127.0.0.1',
      '例え.テスト',
    ]),
  utm_source: (random) => random.pick(['newsletter', 'News letter', 'a'.repeat(255), '🦊', "o'neill", '%']),
  site_id: (random, world) => random.pick([...world.sites.keys()]),
  cursor: (random, world) => cursorOf(`after ${random.pick([...world.sites.keys(), 'a', '🦊'])}.example`),
}

const cursorOf = (text: string): string => Buffer.from(text).toString('base64url')

export const bad: Readonly<Record<string, (random: Random, world: FuzzWorld) => string>> = {
  range: (random) => random.pick(['7D', '24H', '8d', '30d ', ' 30d', '1y', 'Custom', 'all', '7d,30d', '30']),
  start: badDate,
  end: badDate,
  limit: (random) =>
    random.pick([
      '0',
      '101',
      '-1',
      '+5',
      ' 5',
      '5 ',
      '05',
      '1e2',
      '0x10',
      '10.0',
      '1,0',
      '５',
      '-0',
      '999',
      '1000',
      'ten',
    ]),
  country: (random) => random.pick(['UK', 'uk', 'EU', 'AA', 'D', 'DEU', 'D1', 'ſE', 'ıT', 'ß', '🇩🇪', 'DE ', 'de,fr']),
  device: (random) => random.pick(['phone', 'Unknown', 'desktop ', 'desKtop', 'mobıle', 'desktop,mobile', 'TV']),
  hostname: (random) =>
    random.pick([
      ...[
        'a'.repeat(254),
        'a\u0000',
        'a\tb',
        'a\u009fb',
        '\u007f',
        'localhost:8080',
        'https://example.com',
        'example.com/',
      ],
      ...['a..b', '.', 'a b', '[::1]', '*.example.com', 'a%62', 'é'.repeat(253), '\u00ad', 'xn--\u00fc', 'a@b', 'a,b'],
    ]),
  utm_source: (random) => random.pick(['a'.repeat(256), '\u0000', 'a\nb', '\u0080', 'x'.repeat(4000)]),
  site_id: (random) =>
    random.pick([
      siteIdOf(random),
      'site_',
      'site_AAAAAAAAAAAAAAAA',
      'site_0000000000000000',
      '1',
      '../x',
      'a'.repeat(3000),
    ]),
  cursor: (random) =>
    random.pick([
      ...['x', 'null', '0', 'after', cursorOf('after '), cursorOf('after'), cursorOf('before a.example')],
      ...[
        `${cursorOf('after a.example')}=`,
        ` ${cursorOf('after a.example')}`,
        Buffer.from('after ab?>').toString('base64'),
      ],
    ]),
}

const parameters = Object.keys(good)
const unsupported = ['browser', 'os', 'channel']
const strangers = [
  '_',
  'Range',
  'limit[]',
  'COUNTRY[0][]',
  'site_id[',
  'hostname]',
  '[range]',
  'Browser',
  'os[]',
  'filters[country]',
  'api_key',
  'key',
  'page',
  '__proto__',
  'constructor',
  '',
  'länd',
]

export type Temper = 'sound' | 'faulty' | 'wild'

/** A query string as on the wire, without the question mark. */
export function queryOf(random: Random, world: FuzzWorld, temper: Temper): string {
  if (temper === 'wild' && random.oneIn(12)) return many(random)
  const pairs = random
    .sample(parameters, random.pick([0, 1, 1, 2, 2, 3, 5]))
    .map((name) => pair(random, name, (good[name] as (typeof good)[string])(random, world)))
  if (temper !== 'sound') {
    for (let count = random.pick([1, 2, 3]); count > 0; count--) {
      pairs.splice(random.below(pairs.length + 1), 0, faulty(random, world, temper))
    }
  }
  return fitting(pairs.join(random.oneIn(20) ? '&&' : '&'))
}

/** It has to fit into 8 kB of headers; longer ones belong to the byte cases. */
export const fitting = (text: string): string =>
  text.length > 6500 ? text.slice(0, 6500).replace(/%.{0,1}$/, '') : text

function faulty(random: Random, world: FuzzWorld, temper: Temper): string {
  const name = random.pick(parameters)
  switch (random.below(temper === 'wild' ? 9 : 5)) {
    case 0: // empty, or without any value
      return random.oneIn(2) ? `${name}=` : name
    case 1: {
      const twice = pair(random, name, (good[name] as (typeof good)[string])(random, world))
      return `${twice}&${twice}`
    }
    case 2:
      return pair(random, random.pick(unsupported), random.pick(['', 'Firefox', 'Linux', 'direct']))
    case 5: // escapes that cannot be decoded
      return `${name}=${random.pick(['%', '%z', '%zz', '%2', '%C3', '%C0%AF', '%ED%A0%80', '%FF%FE', '%u0041', 'a%'])}`
    case 6:
      return pair(random, name, random.pick(hostile))
    case 7:
      return pair(random, random.pick(strangers), random.pick(hostile))
    case 8:
      return `${random.pick(['%zz', '%', 'range%', '=', '%5F%5Fproto%5F%5F', 'limit%5B%5D', 'sta%72t'])}=${random.pick(['', '1', 'x'])}`
    default:
      return pair(random, name, (bad[name] as (typeof bad)[string])(random, world))
  }
}

/** More parameters than anybody needs: around the limit of 32, and far above it. */
export function many(random: Random): string {
  const count = random.pick([31, 32, 33, 34, 60, 300])
  const sameName = random.oneIn(3)
  const unknown = Array.from({ length: count }, (_, at) => `${sameName ? 'u' : `u${at}`}=${random.below(10)}`)
  return [...unknown, ...(random.oneIn(2) ? ['range=7d'] : [])].join('&')
}

/** One of the spellings of the same pair. */
export function pair(random: Random, name: string, value: string): string {
  const plain = encodeURIComponent(value)
  switch (random.below(8)) {
    case 0:
      return `${escapeAll(name)}=${plain}`
    case 1:
      return `${encodeURIComponent(name)}=${value.length < 300 ? escapeAll(value) : plain}`
    case 2:
      return `${encodeURIComponent(name)}=${plain.replaceAll('%20', '+')}`
    case 3:
      return `${encodeURIComponent(name)}=${plain.replace(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase())}`
    default:
      return `${encodeURIComponent(name)}=${plain}`
  }
}

const escapeAll = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

export const anyCase = (random: Random, text: string): string =>
  [...text].map((letter) => (random.oneIn(2) ? letter.toUpperCase() : letter.toLowerCase())).join('')

const two = (value: number): string => String(value).padStart(2, '0')

/** No date near today or a hundred years before, so that a run gives the same responses on another day. */
function goodDate(random: Random): string {
  const year = random.oneIn(6)
    ? random.pick([0, 1, 1582, 1899, 1950, 1969, 1970, 2100, 2400, 9999])
    : 1990 + random.below(35)
  const date = `${String(year).padStart(4, '0')}-${two(random.below(12) + 1)}-${two(random.below(28) + 1)}`
  if (random.oneIn(6))
    return date.replaceAll('-', '') + random.pick(['', '', 'T12', 'T1230', 'T123059.5Z', 't000000+0100'])
  if (random.oneIn(2)) return date
  if (random.oneIn(3))
    return `${date}T${random.pick(['00', '23:59', '12:30:00', '12:30:00,123', '01:00+14', '23:59:60Z'])}`
  const time = `${random.pick(['T', 't'])}${two(random.below(24))}:${two(random.below(60))}:${two(random.below(61))}`
  const fraction = random.oneIn(2) ? '' : `.${random.below(1_000_000_000)}`
  return date + time + fraction + random.pick(['Z', 'z', '+00:00', '-00:00', '+14:00', '-09:30', '+23:59'])
}

function badDate(random: Random): string {
  return random.pick([
    '2023-02-29',
    '2100-02-29',
    '2024-04-31',
    '2024-13-01',
    '2024-00-10',
    '2024-1-1',
    '20240230',
    '2024-0101',
    '202401-01',
    '240101',
    '+002024-01-01',
    '-000001-01-01',
    '2024-W01-1',
    '2024-01-01T',
    '2024-01-01T0000',
    '20240101T00:00',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:60:00Z',
    '2024-01-01T00:00:00+24:00',
    '2024-01-01 00:00:00Z',
    '2024-01-01[UTC]',
    '2024-01-01T00:00:00Z[UTC]',
    '1704067200',
    'today',
    '２０２４-01-01',
    '2024-01-01\u0000',
  ])
}
