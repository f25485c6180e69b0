// Text that visitors or other servers wrote, for a terminal: a terminal obeys control characters, and those for the direction of writing
// can make a name look like another one.

/** What a terminal obeys, and what it takes for the end of a line. */
const obeyed = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu
/** What a reader cannot see. */
const invisible = /\p{Cf}/gu

export const printable = (text: string): string => text.replace(invisible, '').replace(obeyed, '\ufffd')

/** JSON in which these characters are escaped: a program reads the same text. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped)

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
