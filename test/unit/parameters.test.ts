import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parameterNames, readParameters, warningsOf } from '../../src/api/parameters.ts'
import { readQueryString } from '../../src/api/query-string.ts'
import { ApiError } from '../../src/errors.ts'
import { countryNames } from '../../src/traffic/country.ts'

const read = (query: string, zone = 'UTC') => readParameters(readQueryString(`/?${query}`), zone)

/** The code a query is refused with, or `ok`. */
function codeOf(query: string): string {
  try {
    read(query)
    return 'ok'
  } catch (error) {
    return error instanceof ApiError ? error.code : String(error)
  }
}

test('limit is a whole number from 1 to 100 written plainly, never clamped (D-49)', () => {
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
    { numRuns: 3_000 },
  )
  for (const text of ['0', '101', '999', '1000', '-1', '+1', '1.0', '1e1', '010', ' 1', '1 ', '0x10', '١']) {
    assert.equal(codeOf(`limit=${encodeURIComponent(text)}`), 'invalid_parameter', text)
  }
})

test('a parameter sent twice or without a value is refused, whatever the values are (D-54, D-55)', () => {
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

test('the kinds of faults are told in the order unsupported_filter, invalid_parameter, invalid_date (D-38)', () => {
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

test('every country of the table is accepted in any case, and nothing else of two letters (D-50)', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  for (const code of letters.flatMap((one) => letters.map((other) => one + other))) {
    const expected = code in countryNames ? 'ok' : 'invalid_parameter'
    assert.equal(codeOf(`country=${code}`), expected, code)
    assert.equal(codeOf(`country=${code.toLowerCase()}`), expected, code)
  }
  assert.equal(read('country=de').filters.country, 'DE')
})

test('start and end are dates the calendar has, whatever the range (D-54)', () => {
  const pad = (number: number, length: number) => String(number).padStart(length, '0')
  fc.assert(
    fc.property(fc.nat({ max: 9999 }), fc.nat({ max: 14 }), fc.nat({ max: 33 }), (year, month, day) => {
      const date = new Date(0)
      date.setUTCFullYear(year, month - 1, day)
      const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && date.getUTCFullYear() === year
      const text = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`
      assert.equal(codeOf(`start=${text}`), exists ? 'ok' : 'invalid_date', text)
      if (exists) assert.equal(String(read(`end=${text}`).end), text)
    }),
    { numRuns: 2_000 },
  )
})

test('a date-time means the date it is in the zone of the site (D-54)', () => {
  const startOf = (text: string, zone: string) => String(read(`start=${encodeURIComponent(text)}`, zone).start)
  assert.equal(startOf('2026-03-14T23:30:00Z', 'UTC'), '2026-03-14')
  assert.equal(startOf('2026-03-14T23:30:00Z', 'Europe/Berlin'), '2026-03-15')
  assert.equal(startOf('2026-03-14T23:30:00+02:00', 'America/New_York'), '2026-03-14')
  assert.equal(startOf('2026-03-14t00:30:00.123456789z', 'America/New_York'), '2026-03-13')
})

test('a custom range needs both dates, in order', () => {
  assert.equal(codeOf('range=custom'), 'invalid_date')
  assert.equal(codeOf('range=custom&start=2026-01-01'), 'invalid_date')
  assert.equal(codeOf('range=custom&end=2026-01-01'), 'invalid_date')
  assert.equal(codeOf('range=custom&start=2026-01-02&end=2026-01-01'), 'invalid_date')
  assert.equal(codeOf('range=custom&start=2026-01-01&end=2026-01-01'), 'ok')
})

test('whatever is sent is read or refused with a code of ours', () => {
  const name = fc.oneof(fc.constantFrom(...parameterNames), fc.string({ unit: 'binary', maxLength: 5 }))
  const pair = fc
    .tuple(name, fc.string({ unit: 'binary', maxLength: 10 }))
    .map((both) => both.map(encodeURIComponent).join('='))
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 5 }), (pairs) => {
      assert.match(codeOf(pairs.join('&')), /^(ok|invalid_parameter|invalid_date|unsupported_filter)$/)
    }),
    { numRuns: 1_000 },
  )
})

test('a warning names what had no effect, in characters any header can carry (D-30)', () => {
  const warned = (query: string, limited: boolean) => warningsOf(readQueryString(`/?${query}`), read(query), limited)
  assert.deepEqual(warned('range=7d&limit=3&site_id=x', true), [])
  assert.deepEqual(warned('range=7d&limit=3', false), ['limit has no effect on this endpoint'])
  assert.deepEqual(warned('start=2026-01-01&end=2026-01-02', true), [
    'start has no effect without range=custom',
    'end has no effect without range=custom',
  ])
  assert.deepEqual(warned('range=custom&start=2026-01-01&end=2026-01-02', true), [])
  assert.deepEqual(warned('Range=7d&a%20b=1', true), [
    'unknown parameter Range was ignored',
    'unknown parameter a%20b was ignored',
  ])
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
      const query = readQueryString(`/?${encodeURIComponent(`x${name}`)}=1`)
      for (const warning of warningsOf(query, read(''), true)) assert.match(warning, /^[\x20-\x7e]+$/)
    }),
  )
})
