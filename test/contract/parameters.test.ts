// Valid and invalid values of every parameter, on all nine endpoints. Nothing is coerced, clamped or silently dropped.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { openWorld } from '../support/world.ts'
import { codeOf, inTurns, noon, reportNames } from './vocabulary.ts'

const long = (count: number) => 'a'.repeat(count)
const each = (name: string, values: string[]) => values.map((value) => `${name}=${value}`)

const accepted = [
  '',
  '&&',
  ...each('range', ['24h', '7d', '30d', '90d', '12m']),
  'range=custom&start=2026-01-01&end=2026-01-31',
  ...each('limit', ['1', '9', '10', '99', '100']),
  '%6Cimit=5',
  ...each('country', ['DE', 'de', 'dE', 'GB', 'XK', 'ZZ', 'zz']),
  ...each('device', ['desktop', 'mobile', 'tablet', 'Desktop', 'MOBILE', 'tAbLeT']),
  ...each('hostname', ['example.com', 'EXAMPLE.COM', 'localhost', 'm%C3%BCnchen.example', 'a_b.example.', long(253)]),
  ...each('utm_source', ['x', 'a+b', 'a%2Bb', '%25', '%27', '%5CN', '%F0%9F%A6%8A', '0', 'null', long(255)]),
  ...['start', 'end'].flatMap((name) =>
    each(name, [
      '2026-01-31',
      '2024-02-29',
      '2000-02-29',
      '1970-01-01',
      '0001-01-01',
      '9999-12-31',
      '2026-01-31T23:59:59Z',
      '2026-01-31t23:59:59z',
      '2026-01-31T23:59:59.123456789Z',
      '2026-01-31T23:59:59%2B05:45',
      '2026-01-31T23:59:59-12:00',
      '20260131',
      '2026-01-31T00:00Z',
      '2026-01-31T00:00:00',
      '2026-01-31T00:00:00%2B0200',
    ]),
  ),
  ...each('unknown', ['', '1', '%zz', '%00']),
]

const badText = ['%00', 'a%00b', 'a%0Ab', 'a%09b', 'a%7Fb', 'a%C2%85b', '%zz', '%ff', 'a%']

const invalid = [
  ...each('range', [
    '',
    '1d',
    '7D',
    '24H',
    '7',
    '7d+',
    '+7d',
    '7d%00',
    '30',
    'day',
    'Custom',
    '7d,30d',
    '%zz',
    '7%D8%AF',
  ]),
  'range',
  'range=7d&range=7d',
  ...each('limit', [
    '',
    '0',
    '101',
    '1000',
    '99999999999999999999',
    '-1',
    '-0',
    '1e2',
    '+5',
    '%2B5',
    '5+',
    '%205',
    '0x10',
  ]),
  ...each('limit', [
    '10.0',
    '10.',
    '007',
    '01',
    '1_0',
    '5%00',
    '5%0A',
    '%EF%BC%95',
    '%D9%A3',
    'ten',
    'null',
    'NaN',
    'true',
  ]),
  ...each('limit', ['Infinity', '1,2', '%5B5%5D', '%zz']),
  'limit',
  'limit=5&limit=5',
  'limit=5&limit=',
  'limit=5&%6Cimit=6',
  ...each('country', [
    '',
    'UK',
    'uk',
    'XX',
    'AA',
    'EU',
    'AN',
    'SU',
    'D',
    'DEU',
    '276',
    'Germany',
    '%C3%A4',
    '+DE',
    'DE+',
  ]),
  // These become two letters only when a program changes their case: ss, it, se, and DE in full width.
  ...each('country', ['%C3%9F', '%C4%B1t', '%C5%BFe', '%EF%BC%A4%EF%BC%A5', 'D%00', 'DE,FR', '%zz', '__']),
  'country=DE&country=FR',
  ...each('device', [
    '',
    'phone',
    'unknown',
    'Unknown',
    'desktop+',
    '+desktop',
    'desktop,mobile',
    'bot',
    'smart%20tv',
    '%zz',
  ]),
  'device=des%E2%84%AAtop', // the letter K is the Kelvin sign, which lower-cases to k
  'device=desktop&device=mobile',
  ...each('hostname', ['', long(254), ...badText]),
  ...each('hostname', ['https://a.example', 'a.example:8443', 'a.example/', 'a+b', '%5B::1%5D', 'a..b', '*.a.example']),
  ...['Range=7d', 'range[]=7d', 'COUNTRY=DE', 'limit%5B0%5D=5', 'Start=2026-01-01', 'site_id[]=x'],
  'hostname=a.example&hostname=a.example',
  ...each('utm_source', ['', long(256), ...badText]),
  'utm_source=a&utm_source=b',
  'site_id=',
  'site_id',
]

const badDates = [
  '',
  '0000-01-01',
  '00001231',
  '0000-06-01T12:00:00Z',
  '2026-13-01',
  '2026-00-10',
  '2026-01-00',
  '2026-01-32',
  '2026-02-29',
  '2100-02-29',
  '2026-1-1',
  '26-01-01',
  '12026-01-01',
  '%2B002026-01-01',
  '-000001-01-01',
  '20260230',
  '2026-W01-1',
  '2026-001',
  '2026-01',
  '2026',
  '01/02/2026',
  '2026/01/02',
  '2026-01-01+',
  '+2026-01-01',
  '2026-01-01%00',
  '%EF%BC%92026-01-01',
  'today',
  'null',
  '0',
  '1767225600',
  '1767225600000',
  '2026-01-01%2000:00:00Z',
  '2026-01-01T00:00:00+02:00', // an unescaped + is a space
  '2026-01-01T00:00:00%2B99:00',
  '2026-01-01T25:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T23:60:00Z',
  '2026-02-30T00:00:00Z',
  '2026-01-01T00:00:00Z[UTC]',
  '%zz',
]

const undated = [
  ...['start', 'end'].flatMap((name) => [
    ...each(name, badDates),
    name,
    `${name}=2026-01-01&${name}=2026-01-01`,
    `range=custom&${name}=2026-01-01`,
  ]),
  'range=custom',
  'range=custom&start=2026-01-02&end=2026-01-01',
  'range=custom&start=1900-01-01&end=2026-01-01',
]

const unsupported = ['browser', 'os', 'channel'].flatMap((name) => [
  name,
  `${name}=`,
  `${name}=x`,
  `${name}=x&${name}=y`,
  `${name}=%zz`,
  `%${name.charCodeAt(0).toString(16)}${name.slice(1)}=x`,
  `${name.toUpperCase()}=x`,
  `${name}[]=x`,
])

const expected: Record<string, string> = Object.fromEntries([
  ...accepted.map((query) => [query, 'ok']),
  ...invalid.map((query) => [query, 'invalid_parameter']),
  ...undated.map((query) => [query, 'invalid_date']),
  ...unsupported.map((query) => [query, 'unsupported_filter']),
])

for (const name of reportNames) {
  test(`${name} accepts and refuses exactly the values of the table; a bad limit is not clamped`, async (t) => {
    const world = await openWorld(t, { now: noon, limiter: memoryLimiter(Date.now) })
    const codes = await inTurns(
      Object.keys(expected),
      async (query) => [query, codeOf(await world.get(`/stats/${name}`, query))] as const,
    )
    const differing = codes.filter(([query, code]) => code !== expected[query])
    assert.deepEqual(
      differing,
      differing.map(([query]) => [query, expected[query]]),
    )
  })
}
