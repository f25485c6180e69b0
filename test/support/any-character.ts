import fc from 'fast-check'

const surrogates = 0x800
const firstSurrogate = 0xd800

/**
 * Any character of Unicode, as the `unit` of a string. It is what fast-check has as `unit: 'binary'`, which first makes a table of all
 * 1,112,064 characters: 1 to 2.5 s of CPU in every process.
 */
export const anyCharacter = fc.nat({ max: 0x10ffff - surrogates }).map(
  (index) => String.fromCodePoint(index < firstSurrogate ? index : index + surrogates),
  (character) => indexOf(character as string),
)

/** fast-check asks for it: it also makes strings of names like `__proto__`, if they consist of such characters. */
function indexOf(character: string): number {
  const point = character.codePointAt(0)
  if (point === undefined || String.fromCodePoint(point) !== character) throw new Error('Not one character')
  return point < firstSurrogate ? point : point - surrogates
}
