// The cookies of the console. Over https their names begin with __Host-, so no other host can set them; on this machine, where there may
// be no https, they have plain names.
import type { IncomingHttpHeaders } from 'node:http'

export interface Cookies {
  read(headers: IncomingHttpHeaders, name: CookieName): string | undefined
  set(name: CookieName, value: string, seconds?: number): string
  remove(name: CookieName): string
  /** The cookie of a shared link. Browsers send it only to the address of the link. */
  readOfLink(headers: IncomingHttpHeaders): string | undefined
  setOfLink(path: string, value: string, seconds: number): string
}

/**
 * `session`: the session. `form`: protects the forms of a browser without a session. `code`: the password was right, the code is missing
 * (users/right-password.ts). `flow`: a single sign-on in progress. `browser`: the user who signed in here before (users/attempts.ts).
 * `theme`: light or dark.
 */
type CookieName = 'session' | 'form' | 'code' | 'flow' | 'browser' | 'theme'

export function createCookies(publicUrl: string): Cookies {
  const isSecure = publicUrl.startsWith('https:')
  const fullName = (name: CookieName) => `${isSecure ? '__Host-' : ''}footfall-${name}`
  // A name that begins with __Host- would need the path /.
  const linkName = `${isSecure ? '__Secure-' : ''}footfall-link`
  const set = (name: CookieName, value: string, seconds?: number) =>
    `${fullName(name)}=${value}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}${seconds === undefined ? '' : `; Max-Age=${seconds}`}`
  return {
    read: (headers, name) => read(headers, fullName(name)),
    set,
    remove: (name) => set(name, '', 0),
    readOfLink: (headers) => read(headers, linkName),
    setOfLink: (path, value, seconds) =>
      `${linkName}=${value}; Path=${path}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}; Max-Age=${seconds}`,
  }
}

function read({ cookie }: IncomingHttpHeaders, name: string): string | undefined {
  const pair = cookie?.split(';').find((one) => one.trim().startsWith(`${name}=`))
  return pair?.slice(pair.indexOf('=') + 1).trim()
}
