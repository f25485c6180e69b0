import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readQueryString } from '../../src/stats/query-string.ts'
import { anyCharacter } from '../support/any-character.ts'
import { runs } from '../support/property-runs.ts'

const pairs = fc.array(fc.tuple(fc.string({ unit: anyCharacter, minLength: 1 }), fc.string({ unit: anyCharacter })), {
  maxLength: 20,
})

/** The meaning of a list of pairs: every value of a name, in the order sent. */
function grouped(list: readonly (readonly [string, string | null])[]): [string, (string | null)[]][] {
  const values = new Map<string, (string | null)[]>()
  for (const [name, value] of list) values.set(name, [...(values.get(name) ?? []), value])
  return [...values]
}

test('every pair is returned, repeated names in the order sent, from any encoder', () => {
  fc.assert(
    fc.property(pairs, (list) => {
      const asForm = new URLSearchParams(list as [string, string][]).toString()
      const asUri = list.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
      for (const query of [asForm, asUri]) assert.deepEqual([...readQueryString(`/path?${query}`)], grouped(list))
    }),
    runs(2_000),
  )
})

test('no input makes it throw, and no pair is lost', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '%', '4', '1', '=', '&', '+', '?', '%C3', '%A4', '%ZZ') }),
      (query) => {
        const read = [...readQueryString(`/?${query}`).values()].flat()
        assert.equal(read.length, query.split('&').filter((part) => part !== '').length)
      },
    ),
    runs(5_000),
  )
})

const examples: [url: string, read: [string, (string | null)[]][]][] = [
  ['/path', []],
  ['/path?', []],
  ['/path?&&', []],
  ['?a=1', [['a', ['1']]]],
  ['/?a', [['a', ['']]]],
  ['/?a=', [['a', ['']]]],
  ['/?=1', [['', ['1']]]],
  [
    '/?a=1&a=2&b=3&a=',
    [
      ['a', ['1', '2', '']],
      ['b', ['3']],
    ],
  ],
  ['/?a=b=c', [['a', ['b=c']]]],
  ['/?a=b?c', [['a', ['b?c']]]],
  ['/?a=1+2%2B3', [['a', ['1 2+3']]]],
  ['/?%61=%C3%A4', [['a', ['ä']]]],
  ['/?a=%', [['a', [null]]]],
  ['/?a=%C3&a=1', [['a', [null, '1']]]], // half of a character
  ['/?a=%ED%A0%80', [['a', [null]]]], // half of a surrogate pair
  ['/?%ZZ=1', [['%ZZ', ['1']]]], // a name that cannot be decoded stays as it was sent
  [
    '/?a[]=1&A=2',
    [
      ['a[]', ['1']],
      ['A', ['2']],
    ],
  ], // brackets have no meaning, and names are case-sensitive
  [
    '/?__proto__=1&constructor=2',
    [
      ['__proto__', ['1']],
      ['constructor', ['2']],
    ],
  ],
]

for (const [url, read] of examples) {
  test(`${url} is read as ${JSON.stringify(read)}`, () => assert.deepEqual([...readQueryString(url)], read))
}
