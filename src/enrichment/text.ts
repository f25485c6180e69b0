/** Removes control characters and everything beyond `maxLength` characters. Blanks alone count as no text. */
export function cleanText(text: string, maxLength: number): string {
  const printable = text.replace(/\p{Cc}/gu, '').slice(0, maxLength)
  // The cut may have split a surrogate pair.
  const whole = printable.replace(/[\uD800-\uDBFF]$/, '').toWellFormed()
  return whole.trim() === '' ? '' : whole
}
