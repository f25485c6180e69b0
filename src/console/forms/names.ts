export const maxNameLength = 60

/** The mistake in the name of a key or link, or undefined. */
export function wrongName(what: 'key' | 'link', name: string): string | undefined {
  if (name === '') return `Give the ${what} a name, so that you recognise it in the list.`
  if (name.length > maxNameLength) return `The name is too long: ${maxNameLength} characters are enough for a list.`
  return /\p{Cc}/u.test(name) ? 'The name must be plain text in one line.' : undefined
}
