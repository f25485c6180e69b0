import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../src/errors.ts'
import { parameterNames, readParameters, warningsOf } from '../../src/stats/parameters.ts'
import { readQueryString } from '../../src/stats/query-string.ts'
import { countryNames } from '../../src/traffic/country.ts'
import { anyCharacter } from '../support/any-character.ts'
import { runs } from '../support/property-runs.ts'

const read = (query: string) => readParameters(readQueryString(`/?${query}`))

/** The code of the refusal, or `ok`. */
function codeOf(query: string): string {
  try {
    read(query)
    return 'ok'
  } catch (error) {
    return error instanceof ApiError ? error.code : String(error)
  }
}

test('a refusal says what to send instead, in the same words in every version', () => {
  const messages: [query: string, message: string][] = [
    [Array.from({ length: 33 }, (_, index) => `p${index}=1`).join('&'), 'At most 32 parameters may be sent.'],
    ['range=8d', 'range must be one of 24h, 7d, 30d, 90d, 12m, custom.'],
    ['limit=101', 'limit must be a whole number from 1 to 100.'],
    ['limit=1&limit=2', 'limit may be sent only once.'],
    ['limit=', 'limit needs a value.'],
    ['country=UK', 'country must be a code of ISO 3166-1; for the UK it is GB.'],
    ['country=QQ', 'country must be a two-letter code of ISO 3166-1, such as DE.'],
    ['device=tv', 'device must be desktop, mobile or tablet.'],
    [`utm_source=${'a'.repeat(256)}`, 'utm_source may have at most 255 characters.'],
    ['utm_source=%01', 'utm_source may not hold control characters.'],
    ['range=custom&start=2026-01-31', 'A custom range needs both start and end.'],
    ['range=custom&start=2026-02-01&end=2026-01-31', 'start must not be after end.'],
    [
      'range=custom&start=2026-02-30&end=2026-03-01',
      'start must be one existing date, such as 2026-01-31 or 20260131.',
    ],
  ]
  for (const [query, message] of messages) assert.throws(() => read(query), { message }, query.slice(0, 40))
})

test('limit is a plain whole number from 1 to 100, never clamped (D-49)', () => {
  for (let limit = 1; limit <= 100; limit++) assert.equal(read(`limit=${limit}`).limit, limit)
  assert.equal(read('').limit, 10)
  fc.assert(
    fc.property(
      fc.oneof(fc.integer().map(String), fc.string({ unit: fc.constantFrom(...'0123456789.e+-x ') })),
      (text) => {
        const plain = Array.from({ length: 100 }, (_, index) => String(index + 1))
        assert.equal(codeOf(`limit=${encodeURIComponent(text)}`), plain.includes(text) ? 'ok' : 'invalid_parameter')
      },
    ),
    runs(3_000),
  )
  for (const text of ['0', '101', '999', '1000', '-1', '+1', '1.0', '1e1', '010', ' 1', '1 ', '0x10', '١']) {
    assert.equal(codeOf(`limit=${encodeURIComponent(text)}`), 'invalid_parameter', text)
  }
})

test('a repeated or empty parameter is refused with any values (D-54, D-55)', () => {
  const valid: Record<string, string> = {
    range: '7d',
    limit: '5',
    country: 'DE',
    device: 'mobile',
    hostname: 'a.example',
    utm_source: 'news',
    start: '2026-01-01',
    end: '2026-01-02',
  }
  for (const [name, value] of Object.entries(valid)) {
    const code = name === 'start' || name === 'end' ? 'invalid_date' : 'invalid_parameter'
    assert.equal(codeOf(`${name}=${value}`), 'ok', name)
    for (const query of [
      `${name}=${value}&${name}=${value}`,
      `${name}=${value}&${name}=`,
      `${name}=`,
      name,
      `${name}=%`,
    ]) {
      assert.equal(codeOf(query), code, query)
    }
  }
})

test('faults are reported in the order unsupported_filter, invalid_parameter, invalid_date (D-38)', () => {
  const faults = ['channel=x', 'limit=0', 'start=never']
  const codes = ['unsupported_filter', 'invalid_parameter', 'invalid_date']
  const orders = [faults, faults.toReversed(), [faults[1], faults[0], faults[2]]]
  for (const order of orders) {
    assert.equal(codeOf(order.join('&')), codes[0])
    assert.equal(codeOf(order.filter((fault) => fault !== faults[0]).join('&')), codes[1])
  }
  assert.equal(codeOf('start=never'), codes[2])
  for (const name of ['range', 'limit', 'country', 'device', 'hostname', 'utm_source']) {
    assert.equal(codeOf(`start=never&end=never&${name}=`), 'invalid_parameter', name)
  }
})

test('every country of the table is accepted in any case, and no other two letters are (D-50)', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  for (const code of letters.flatMap((one) => letters.map((other) => one + other))) {
    const expected = code in countryNames ? 'ok' : 'invalid_parameter'
    assert.equal(codeOf(`country=${code}`), expected, code)
    assert.equal(codeOf(`country=${code.toLowerCase()}`), expected, code)
  }
  assert.equal(read('country=de').filters.country, 'DE')
})

/** The first and the last day of a custom range. */
function datesOf(dates: string): string[] {
  const { range } = read(`range=custom&${dates}`)
  assert.ok(range.name === 'custom')
  return [String(range.firstDay), String(range.lastDay)]
}

test('start and end must be calendar dates, with any range (D-54)', () => {
  const pad = (number: number, length: number) => String(number).padStart(length, '0')
  fc.assert(
    fc.property(fc.nat({ max: 9999 }), fc.nat({ max: 14 }), fc.nat({ max: 33 }), (year, month, day) => {
      const date = new Date(0)
      date.setUTCFullYear(year, month - 1, day)
      const exists =
        year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day && date.getUTCFullYear() === year
      const text = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`
      assert.equal(codeOf(`start=${text}`), exists ? 'ok' : 'invalid_date', text)
      if (exists) assert.deepEqual(datesOf(`start=${text}&end=${text}`), [text, text])
    }),
    runs(2_000),
  )
})

test('a date without separators is valid, and a date-time counts as its date as written (D-54)', () => {
  const startOf = (text: string) => datesOf(`start=${encodeURIComponent(text)}&end=9999-12-31`)[0]
  const written = [
    '2026-03-14',
    '20260314',
    '2026-03-14T23:30:00Z',
    '2026-03-14T00:30:00+14:00',
    '2026-03-14t23:59:60.123456789z',
    '2026-03-14T23:59:59,5-09:30',
    '2026-03-14T12:00:00',
    '2026-03-14T12:00',
    '2026-03-14T12',
    '20260314T120000Z',
    '20260314T1200+0100',
  ]
  for (const text of written) assert.equal(startOf(text), '2026-03-14', text)
  const wrong = [
    '2026-3-14',
    '202603-14',
    '2026-0314',
    '260314',
    '20260230',
    '2026-02-30T00:00:00Z',
    '2026-03-14T24:00:00Z',
    '2026-03-14T12:60Z',
    '2026-03-14T1200',
    '20260314T12:00',
    '2026-03-14T',
    '2026-03-14 12:00:00',
    '2026-03-14T12:00:00+24:00',
    '2026-03-14Z',
    '2026-W11-6',
    '2026-073',
  ]
  for (const text of wrong) assert.equal(codeOf(`start=${encodeURIComponent(text)}`), 'invalid_date', text)
})

test('a hostname is normalised as in events: lower case, ASCII, without a trailing dot (D-52)', () => {
  const hostOf = (text: string) => read(`hostname=${encodeURIComponent(text)}`).filters.hostname
  for (const [text, host] of [
    ['Shop.Example.com', 'shop.example.com'],
    ['example.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ['a_b-c.1', 'a_b-c.1'],
    ['127.0.0.1', '127.0.0.1'],
    ['a'.repeat(253), 'a'.repeat(253)],
  ] as const)
    assert.equal(hostOf(text), host, text)
})

/** The message of the refusal. */
function messageOf(query: string): string {
  try {
    read(query)
    return 'ok'
  } catch (error) {
    return (error as Error).message
  }
}

test('text that contains more than a host name is refused, and the message has the host name (D-52)', () => {
  for (const [text, host] of [
    ['https://x.example', 'x.example'],
    ['x.example:8443', 'x.example'],
    ['x.example/', 'x.example'],
    ['https://Anna@x.example:8443/path?query#part', 'x.example'],
    ['//x.example', 'x.example'],
    [' x.example', 'x.example'],
    ['x.example y.example', 'x.example'],
    ['https://bücher.example/', 'xn--bcher-kva.example'],
  ] as const) {
    const query = `hostname=${encodeURIComponent(text)}`
    assert.equal(codeOf(query), 'invalid_parameter', text)
    assert.ok(messageOf(query).endsWith(`: send hostname=${host}.`), messageOf(query))
  }
  for (const text of [
    'a..b',
    '.',
    '.a',
    '*.a',
    '[::1]',
    'a,b',
    'a\u0000',
    'a%62',
    '<b>',
    'a'.repeat(254),
    '\u00ad',
    'é'.repeat(253),
  ]) {
    const query = `hostname=${encodeURIComponent(text)}`
    assert.equal(codeOf(query), 'invalid_parameter', text)
    assert.match(messageOf(query), /such as shop\.example\.com/)
  }
})

test('a known parameter in another case or with brackets is refused with the right name (D-56)', () => {
  for (const name of parameterNames) {
    for (const variant of [
      name.toUpperCase(),
      `${name}[]`,
      `${name}[0]`,
      `${name}[a][]`,
      `${name.toUpperCase()}%5B%5D`,
    ]) {
      assert.equal(codeOf(`${variant}=7d`), 'invalid_parameter', variant)
      assert.ok(messageOf(`${variant}=7d`).startsWith(`${name} must be written as ${name}=`), variant)
    }
  }
  for (const name of ['Browser', 'OS[]', 'channel[eq]']) assert.equal(codeOf(`${name}=x`), 'unsupported_filter', name)
  for (const name of [
    'countries',
    'range]',
    'range[',
    '[range]',
    'filters[country]',
    'utmsource',
    'utm-source',
    ' range',
  ])
    assert.equal(codeOf(`${encodeURIComponent(name)}=x`), 'ok', name)
})

test('an undecodable value is distinguished from a missing one', () => {
  for (const name of ['range', 'limit', 'country', 'device', 'hostname', 'utm_source']) {
    for (const value of ['%FF', '%', '%C3', 'a%zz']) {
      assert.equal(codeOf(`${name}=${value}`), 'invalid_parameter')
      assert.match(messageOf(`${name}=${value}`), new RegExp(`%-escapes of ${name} are not UTF-8`))
    }
    assert.equal(messageOf(`${name}=`), `${name} needs a value.`)
  }
})

test('a custom range needs both dates, in order', () => {
  assert.equal(codeOf('range=custom'), 'invalid_date')
  assert.equal(codeOf('range=custom&start=2026-01-01'), 'invalid_date')
  assert.equal(codeOf('range=custom&end=2026-01-01'), 'invalid_date')
  assert.equal(codeOf('range=custom&start=2026-01-02&end=2026-01-01'), 'invalid_date')
  assert.equal(codeOf('range=custom&start=2026-01-01&end=2026-01-01'), 'ok')
})

test('any input is accepted or refused with a documented code', () => {
  const name = fc.oneof(fc.constantFrom(...parameterNames), fc.string({ unit: anyCharacter, maxLength: 5 }))
  const pair = fc
    .tuple(name, fc.string({ unit: anyCharacter, maxLength: 10 }))
    .map((both) => both.map(encodeURIComponent).join('='))
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 5 }), (pairs) => {
      assert.match(codeOf(pairs.join('&')), /^(ok|invalid_parameter|invalid_date|unsupported_filter)$/)
    }),
    runs(1_000),
  )
})

test('a warning names what had no effect, in characters that any header can carry (D-30)', () => {
  const warned = (query: string, limited: boolean) =>
    warningsOf(readQueryString(`/?${query}`), read(query), limited ? [] : ['limit'])
  assert.deepEqual(warned('range=7d&limit=3&site_id=x', true), [])
  assert.deepEqual(warned('range=7d&limit=3', false), ['limit has no effect on this endpoint'])
  assert.deepEqual(warned('start=2026-01-01&end=2026-01-02', true), [
    'start has no effect without range=custom',
    'end has no effect without range=custom',
  ])
  assert.deepEqual(warned('range=custom&start=2026-01-01&end=2026-01-02', true), [])
  assert.deepEqual(warned('ranges=7d&a%20b=1', true), [
    'unknown parameter ranges was ignored',
    'unknown parameter a%20b was ignored',
  ])
  assert.deepEqual(warned('range=custom&start=20260101&end=2026-01-02T10:00:00Z', true), [
    'the time in end has no effect, only its date as written counts',
  ])
  assert.deepEqual(warned('start=2026-01-02T10:00:00Z', true), ['start has no effect without range=custom'])
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, minLength: 1 }), (name) => {
      const query = readQueryString(`/?${encodeURIComponent(`x${name}`)}=1`)
      for (const warning of warningsOf(query, read(''), [])) assert.match(warning, /^[\x20-\x7e]+$/)
    }),
  )
})
