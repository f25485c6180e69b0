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
 * `session`: who is signed in. `form`: binds the forms of somebody who is not. `code`: whose password was right and who is asked for a
 * code. `flow`: who is on the way to the provider of single sign-on. `browser`: who has signed in here before (users/attempts.ts).
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
  const found = cookie?.split(';').find((one) => one.trim().startsWith(`${name}=`))
  return found?.slice(found.indexOf('=') + 1).trim()
}
