import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readRevenue } from '../../src/enrichment/revenue.ts'
import { runs } from '../support/property-runs.ts'

const read = (amount: unknown, currency: unknown = 'EUR') => readRevenue({ amount, currency })

test('an amount is read in minor units of its currency, from an object or a text with its JSON', () => {
  const amounts: [string | number, string, number][] = [
    ['19.90', 'EUR', 1_990],
    [19.9, 'EUR', 1_990],
    [4.35, 'USD', 435],
    ['0.07', 'USD', 7],
    ['1', 'USD', 100],
    ['007.5', 'USD', 750],
    [0, 'USD', 0],
    ['0.00', 'USD', 0],
    ['1500', 'JPY', 1_500],
    [1500, 'KRW', 1_500],
    ['1.234', 'KWD', 1_234],
    ['1.2', 'BHD', 1_200],
    ['1.2345', 'CLF', 12_345],
    ['1.2345', 'UYW', 12_345],
  ]
  for (const [amount, currency, minor] of amounts) {
    assert.deepEqual(read(amount, currency), { amount: minor, currency }, `${amount} ${currency}`)
    assert.deepEqual(readRevenue(JSON.stringify({ amount, currency })), { amount: minor, currency })
  }
  assert.deepEqual(read('19.90', 'eur'), { amount: 1_990, currency: 'EUR' })
})

test('without revenue there is nothing; what is no revenue is invalid', () => {
  for (const nothing of [undefined, null, '']) assert.equal(readRevenue(nothing), undefined)
  for (const wrong of [{}, [], '[]', '{', 'null', '19.90', 19.9, true, { amount: '1' }, { currency: 'EUR' }]) {
    assert.equal(readRevenue(wrong), 'invalid', JSON.stringify(wrong))
  }
})

test('more decimals than the currency has, signs, exponents and other texts are invalid', () => {
  for (const amount of [
    '19.901',
    '19.900',
    0.1 + 0.2,
    '1.',
    '.5',
    '',
    ' 1',
    '1\n',
    '1,50',
    '1 000',
    '1e3',
    1e21,
    1e-7,
  ]) {
    assert.equal(read(amount), 'invalid', String(amount))
  }
  for (const amount of [
    '-1',
    -1,
    '+1',
    '0x10',
    '١',
    'NaN',
    Number.NaN,
    Infinity,
    true,
    null,
    undefined,
    [1],
    { amount: 1 },
  ]) {
    assert.equal(read(amount), 'invalid', String(amount))
  }
  assert.equal(read('1.5', 'JPY'), 'invalid')
  assert.equal(read('1.2345', 'KWD'), 'invalid')
  assert.equal(read('1.23456', 'CLF'), 'invalid')
})

test('10^12 minor units are the most', () => {
  for (const [most, tooMuch, currency] of [
    ['10000000000.00', '10000000000.01', 'EUR'],
    ['1000000000000', '1000000000001', 'JPY'],
    ['100000000.0000', '100000000.0001', 'CLF'],
  ]) {
    assert.deepEqual(read(most, currency), { amount: 1e12, currency })
    assert.equal(read(tooMuch, currency), 'invalid')
  }
  assert.equal(read('9'.repeat(60_000)), 'invalid')
})

test('all currencies that people pay with are known, and nothing else', () => {
  const known = Intl.supportedValuesOf('currency').filter((code) => read('1', code) !== 'invalid')
  // Replaced before 2025, or without minor units.
  const left = new Set(['CUC', 'HRK', 'SLL', 'ZWL', 'XDR', 'XSU'])
  assert.deepEqual(
    known,
    Intl.supportedValuesOf('currency').filter((code) => !left.has(code)),
  )
  for (const currency of [
    '',
    'EU',
    'EURO',
    'EUR ',
    'BTC',
    'XAU',
    'XXX',
    'constructor',
    'DEM',
    978,
    null,
    undefined,
    ['EUR'],
  ]) {
    assert.equal(readRevenue({ amount: '1', currency }), 'invalid', String(currency))
  }
})

test('every amount that can be paid is read exactly, as text and as number', () => {
  const currency = fc.constantFrom<[string, number]>(['JPY', 0], ['EUR', 2], ['KWD', 3], ['CLF', 4])
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e12 }), currency, (amount, [code, decimals]) => {
      const digits = String(amount).padStart(decimals + 1, '0')
      const point = digits.length - decimals
      const text = decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`
      assert.deepEqual(read(text, code), { amount, currency: code })
      assert.deepEqual(read(Number(text), code), { amount, currency: code })
    }),
    runs(10_000),
  )
})
