import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visitorText } from '../../src/mcp/visitor-text.ts'

test('ordinary text in any language stays as it is', () => {
  for (const text of [
    '',
    '/pricing?',
    'Über uns – Straße',
    '日本語のページ',
    'مرحبا بالعالم',
    'नमस्ते',
    '🎉 Sale!',
    'a  b',
  ])
    assert.equal(visitorText(text), text)
})

test('characters that nobody sees are removed: controls, bidi marks, zero-width characters, tags, line separators', () => {
  const invisible = [
    '\u0000 \u0007 \u001b \u007f \u0085 \u009f \n \r \t', // controls
    '\u061c \u200e \u200f \u202a \u202b \u202c \u202d \u202e \u2066 \u2067 \u2068 \u2069', // bidi
    '\u200b \u200c \u200d \u2060 \ufeff \u00ad \u034f \u180e', // zero width
    '\u2028 \u2029', // separators
    '\u{e0001} \u{e0041} \u{e007f} \ufe00 \ufe0f \u{e0100} \u{e01ef}', // tags and variation selectors
    '\u115f \u1160 \u3164 \uffa0', // fillers
  ].flatMap((line) => line.split(' '))
  assert.ok(invisible.length > 40)
  for (const character of invisible) {
    const code = character.codePointAt(0)?.toString(16)
    assert.equal(visitorText(`ab${character}cd`), 'abcd', `U+${code}`)
  }
})

test('half of a surrogate pair becomes a replacement character, and long text is cut between characters', () => {
  assert.equal(visitorText('a\ud800b'), 'a\ufffdb')
  assert.equal(visitorText('x'.repeat(300)), 'x'.repeat(300))
  assert.equal(visitorText('x'.repeat(301)), `${'x'.repeat(299)}…`)
  assert.equal(visitorText('🎉'.repeat(300)), '🎉'.repeat(300))
  assert.equal(visitorText('🎉'.repeat(301)), `${'🎉'.repeat(299)}…`)
})
