// What a recipient gets. Both parts of a letter say the same; the text part is for readers and programs without HTML.

export interface Letter {
  /** One line without control characters: see `subjectOf`. */
  subject: string
  text: string
  html: string
}

/** Controls, and characters that end a line. In a subject they could begin another header. */
const breaks = /[\p{Cc}\p{Zl}\p{Zp}]+/gu
/** Characters that nobody sees, or that change the order of those around them. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/gu

/** Text of strangers (site names, paths, names of events) as one visible line. */
export function visibleLine(text: string, maxCharacters: number): string {
  const line = text.toWellFormed().replace(invisible, '').replace(breaks, ' ').trim()
  const characters = [...line]
  return characters.length <= maxCharacters ? line : `${characters.slice(0, maxCharacters - 1).join('')}…`
}

/** Longer subjects are cut by every mail program anyway. */
const maxSubject = 150

/** Every subject passes through here. */
export const subjectOf = (text: string): string => visibleLine(text, maxSubject)
