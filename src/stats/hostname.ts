import { ApiError } from '../errors.ts'
import { asciiOf, isPageHost, maxHostname } from '../hostnames.ts'

/** Characters that no host name may contain, neither an ASCII one nor an international one. */
const foreign = /[^\w.\-\u0080-\u{10ffff}]/u

/** The host as events store it: lower case, ASCII, without a trailing dot (decision D-52). */
export function readHostname(text: string): string {
  const host = hostOf(text)
  if (host !== undefined) return host
  const bare = hostOf(hostInAddress(text))
  throw new ApiError(
    'invalid_parameter',
    bare === undefined
      ? `hostname must be a host name such as shop.example.com, of at most ${maxHostname} characters.`
      : `hostname must be a host name alone, without scheme, port, slash or space: send hostname=${bare}.`,
  )
}

function hostOf(text: string): string | undefined {
  if (foreign.test(text)) return undefined
  const host = asciiOf(text).toLowerCase().replace(/\.$/, '')
  return isPageHost(host) ? host : undefined
}

/** Strips scheme, user, port and path from a copied address. */
const hostInAddress = (text: string): string =>
  text
    .trim()
    .replace(/^([a-z][a-z\d+.-]*:)?\/\//i, '')
    .replace(/^[^/?#@]*@/, '')
    .replace(/[/?#:\s].*$/s, '')
