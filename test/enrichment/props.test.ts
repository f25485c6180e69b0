import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readProps } from '../../src/enrichment/props.ts'
import { anyCharacter } from '../support/any-character.ts'
import { runs } from '../support/property-runs.ts'

const numbered = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))

test('texts, numbers and booleans are properties, of an object or of a text with its JSON', () => {
  const given = { plan: 'pro', seats: 3, price: 0.5, trial: false, 'a.B_c-9': ' Ä ' }
  const props = { plan: 'pro', seats: '3', price: '0.5', trial: 'false', 'a.B_c-9': ' Ä ' }
  assert.deepEqual(readProps(given), { props, dropped: [] })
  assert.deepEqual(readProps(JSON.stringify(given)), { props, dropped: [] })
})

test('without properties nothing is dropped; what is no object is', () => {
  for (const nothing of [undefined, null, '', {}, '{}'])
    assert.deepEqual(readProps(nothing), { props: undefined, dropped: [] })
  for (const wrong of [[], ['a'], 1, true, 'plan', '{"plan":', '["a"]', '"{}"', 'null']) {
    assert.deepEqual(readProps(wrong), { props: undefined, dropped: ['props'] }, JSON.stringify(wrong))
  }
})

test('values that are blank, null, objects or lists are dropped by name', () => {
  const given = { none: '', blank: ' \t\u00a0', control: '\u0000\u0085', null: null, object: {}, list: ['a'], kept: 0 }
  assert.deepEqual(readProps(given), {
    props: { kept: '0' },
    dropped: ['props.none', 'props.blank', 'props.control', 'props.null', 'props.object', 'props.list'],
  })
})

test('a key has 1 to 60 letters, digits and _ . -', () => {
  const longest = 'k'.repeat(60)
  assert.deepEqual(Object.keys(readProps({ [longest]: 'v' }).props ?? {}), [longest])
  for (const key of ['', `${longest}k`, 'a b', 'ä', 'a/b', 'a\n', 'a@b']) {
    assert.deepEqual(readProps({ [key]: 'v' }).props, undefined, key)
  }
  assert.deepEqual(readProps({ 'a b': 'v' }).dropped, ['props.a b'])
})

test('names of Object.prototype do no harm', () => {
  const read = readProps('{"__proto__":"x","constructor":"y","toString":"z"}')
  assert.deepEqual(read, { props: { constructor: 'y', toString: 'z' }, dropped: ['props.__proto__'] })
  assert.deepEqual(readProps('{"__proto__":{"plan":"pro"}}'), { props: undefined, dropped: ['props.__proto__'] })
  assert.equal(Object.getPrototypeOf(read.props), Object.prototype)
})

test('a value keeps 200 characters without control characters, never half of one', () => {
  const recorded = (value: string) => readProps({ value }).props?.value
  assert.equal(recorded('a\u0000b\nc\u007fd\u0085e'), 'abcde')
  assert.equal(recorded('x'.repeat(201)), 'x'.repeat(200))
  assert.equal(recorded(`${'x'.repeat(199)}😀`), 'x'.repeat(199))
  assert.equal(recorded(`${'x'.repeat(198)}😀`), `${'x'.repeat(198)}😀`)
  assert.equal(recorded('a\ud800b'), 'a\ufffdb')
})

test('the first 30 properties count, and 30 names of dropped ones are told', () => {
  const read = readProps({ 'bad key': 1, ...numbered(100) })
  assert.deepEqual(read.props, numbered(30))
  assert.equal(read.dropped.length, 30)
  assert.deepEqual(read.dropped.slice(0, 2), ['props.bad key', 'props.k30'])
  // Many bad ones do not hide the good ones behind them.
  const bad = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`bad ${index}`, 'v']))
  assert.deepEqual(readProps({ ...bad, ...numbered(31) }).props, numbered(30))
  assert.deepEqual(readProps({ [' '.repeat(500)]: 'v' }).dropped, [`props.${' '.repeat(94)}`])
})

test('an email address is not recorded, and only an email address is removed', () => {
  const addresses = [
    'jane@example.com',
    ' Jane.Doe+shop@mail.example.co.uk\n',
    'mailto:jane@example.com',
    'jane%40example.com',
    'jörg@bücher.example',
    `jane@${'sub.'.repeat(60)}example`, // longer than a value
  ]
  for (const value of addresses) assert.deepEqual(readProps({ value }).props, { value: '(removed)' }, value)
  for (const value of ['pro', '@jane', 'a @ b', 'jane@', 'v1@2', 'https://example.com/@jane', '3 apples @ 1.50']) {
    assert.deepEqual(readProps({ value }).props, { value }, value)
  }
})

test('whatever is sent, keys and values are within their limits and each field is recorded or named', () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 300 })
  const key = fc.oneof(fc.stringMatching(/^[A-Za-z0-9_.-]{1,62}$/), text)
  const value = fc.oneof(text, fc.double(), fc.boolean(), fc.emailAddress(), fc.jsonValue())
  fc.assert(
    fc.property(fc.array(fc.tuple(key, value), { maxLength: 80 }), (fields) => {
      const given = Object.fromEntries(fields)
      const { props = {}, dropped } = readProps(given)
      const recorded = Object.entries(props)
      for (const [name, recordedValue] of recorded) {
        assert.match(name, /^[A-Za-z0-9_.-]{1,60}$/)
        assert.ok(recordedValue.trim() !== '' && recordedValue.length <= 200 && recordedValue.isWellFormed())
        assert.doesNotMatch(recordedValue, /\p{Cc}/u)
      }
      assert.ok(recorded.length <= 30)
      for (const name of dropped) assert.ok(name.startsWith('props.') && name.length <= 100 && name.isWellFormed())
      assert.equal(dropped.length, Math.min(30, Object.keys(given).length - recorded.length))
      assert.deepEqual(readProps(props), { props: recorded.length > 0 ? props : undefined, dropped: [] })
    }),
    runs(2_000),
  )
})
