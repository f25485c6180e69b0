// A strict reading of the query string: nothing is coerced, merged or dropped here, so that a repeated, empty or undecodable
// parameter can be refused by name (decision D-55).

/** Every value sent for a name; null for one whose %-escapes do not decode. */
export type QueryString = ReadonlyMap<string, readonly (string | null)[]>

export function readQueryString(url: string): QueryString {
  const parameters = new Map<string, (string | null)[]>()
  const begin = url.indexOf('?')
  if (begin === -1) return parameters
  for (const part of url.slice(begin + 1).split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = equals === -1 ? part : part.slice(0, equals)
    const value = equals === -1 ? '' : part.slice(equals + 1)
    const key = decode(name) ?? name
    const values = parameters.get(key)
    if (values) values.push(decode(value))
    else parameters.set(key, [decode(value)])
  }
  return parameters
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
