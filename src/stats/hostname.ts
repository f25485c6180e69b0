import { domainToASCII } from 'node:url'
import { ApiError } from '../errors.ts'

const longest = 253
const outsideAscii = /[\u0080-\u{10ffff}]/u
/** Characters that no host name may contain, neither an ASCII one nor an international one. */
const foreign = /[^\w.\-\u0080-\u{10ffff}]/u
const hostName = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/

/** The host in the form that events have: lower case, ASCII, without a trailing dot (decision D-52). */
export function readHostname(text: string): string {
  const host = hostOf(text)
  if (host !== undefined) return host
  const bare = hostOf(hostInAddress(text))
  throw new ApiError(
    'invalid_parameter',
    bare === undefined
      ? `hostname must be a host name such as shop.example.com, of at most ${longest} characters.`
      : `hostname must be a host name alone, without scheme, port, slash or space: send hostname=${bare}.`,
  )
}

function hostOf(text: string): string | undefined {
  if (foreign.test(text)) return undefined
  const ascii = outsideAscii.test(text) ? domainToASCII(text) : text.toLowerCase()
  const host = ascii.replace(/\.$/, '')
  return hostName.test(host) && host.length <= longest ? host : undefined
}

/** Strips scheme, user, port and path from an address that somebody copied. */
const hostInAddress = (text: string): string =>
  text
    .trim()
    .replace(/^([a-z][a-z\d+.-]*:)?\/\//i, '')
    .replace(/^[^/?#@]*@/, '')
    .replace(/[/?#:\s].*$/s, '')
