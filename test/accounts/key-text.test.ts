import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hashKeyText, isKeyText, keyPrefix, newKeyText } from '../../src/accounts/key-text.ts'
import { anyCharacter } from '../support/any-character.ts'
import { runs } from '../support/property-runs.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const many = 100_000
const keys = Array.from({ length: many }, (_, index) => newKeyText(index % 2 ? 'site' : 'account'))

test('100,000 keys are all different, well-formed and accepted', () => {
  assert.equal(new Set(keys).size, many)
  for (const [index, key] of keys.entries()) {
    assert.match(key, index % 2 ? /^ff_s_[0-9A-Za-z]{36}$/ : /^ff_a_[0-9A-Za-z]{36}$/)
    assert.ok(isKeyText(key), key)
  }
})

test('every character is equally likely in each of the 30 random positions', () => {
  const counts = Array.from({ length: 30 }, () => new Map([...base62].map((character) => [character, 0])))
  for (const key of keys) {
    counts.forEach((count, place) => {
      const character = key[5 + place] as string
      count.set(character, (count.get(character) ?? 0) + 1)
    })
  }
  // 7 standard deviations: a fair generator fails once in 10^8 runs, one that takes a byte modulo 62 always fails.
  const expected = many / 62
  const spread = 7 * Math.sqrt(expected)
  for (const count of counts) {
    assert.equal(count.size, 62)
    for (const [character, seen] of count) assert.ok(Math.abs(seen - expected) < spread, `${character} ${seen} times`)
  }
})

test('every character occurs in each position of the checksum except the first, which has only what remains of 32 bits', () => {
  for (let place = 36; place < 41; place++) {
    assert.equal(new Set(keys.map((key) => key[place])).size, 62, `place ${place}`)
  }
  assert.deepEqual([...new Set(keys.map((key) => key[35]))].sort(), ['0', '1', '2', '3', '4'])
})

test('a key with any one character changed is refused', () => {
  for (const key of keys.slice(0, 20)) {
    for (let place = 0; place < key.length; place++) {
      for (const character of `${base62}_- \n`) {
        const changed = key.slice(0, place) + character + key.slice(place + 1)
        assert.equal(isKeyText(changed), changed === key, changed)
      }
    }
  }
})

test('a key with two neighbouring characters swapped, or a piece cut off or added, is refused', () => {
  for (const key of keys.slice(0, 1000)) {
    for (let place = 5; place < key.length - 1; place++) {
      const swapped = key.slice(0, place) + key[place + 1] + key[place] + key.slice(place + 2)
      assert.equal(isKeyText(swapped), swapped === key)
    }
    for (let length = 0; length < key.length; length++) assert.ok(!isKeyText(key.slice(0, length)))
    for (const more of ['0', ' ', '\n', '\0']) assert.ok(!isKeyText(key + more) && !isKeyText(more + key))
  }
})

test('text that was never created as a key is refused', () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => !isKeyText(text)))
  const shaped = fc.string({ unit: fc.constantFrom(...base62), minLength: 36, maxLength: 36 })
  fc.assert(
    fc.property(shaped, fc.constantFrom('s', 'a'), (text, scope) => !isKeyText(`ff_${scope}_${text}`)),
    runs(10_000),
  )
})

test('the stored form of a key shows only its first four random characters, and depends on the secret', () => {
  const [key = '', other = ''] = keys
  assert.equal(keyPrefix(key), key.slice(0, 9))
  const secret = Buffer.from('one secret')
  assert.equal(hashKeyText(key, secret).length, 32)
  assert.deepEqual(hashKeyText(key, secret), hashKeyText(key, secret))
  assert.notDeepEqual(hashKeyText(key, secret), hashKeyText(other, secret))
  assert.notDeepEqual(hashKeyText(key, secret), hashKeyText(key, Buffer.from('another secret')))
})
