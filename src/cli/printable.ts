// Makes text of visitors and other servers safe for a terminal. A terminal obeys control characters, and bidi characters can make a name look
// like another one.

/** Control characters, and characters that end a line. */
const control = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/gu
/** Invisible characters. */
const invisible = /\p{Cf}/gu

export const printable = (text: string): string => text.replace(invisible, '').replace(control, '\ufffd')

/** JSON with these characters escaped, so that a program still reads the same text. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped)

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
