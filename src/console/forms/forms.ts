// Refuses forms that no page of ours sent (CSRF). It checks Origin, Sec-Fetch-Site and a token, though each alone would be enough.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Html, html } from '../../web/html.ts'

/** Only a page of ours knows the cookie's value, so only it can make the token. */
export const formTokenOf = (cookieValue: string): string =>
  createHmac('sha256', cookieValue).update('form').digest('base64url')

export const tokenField = (token: string): Html => html`<input type="hidden" name="token" value="${token}">`

/** Returns the reason to refuse, or undefined. */
export function foreignForm(
  headers: IncomingHttpHeaders,
  publicUrl: string,
  { token, expected }: { token: string | null; expected: string | undefined },
): string | undefined {
  if (headers.origin !== publicUrl) return 'origin'
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return 'site'
  if (!expected || !token || !equal(token, expected)) return 'token'
  return undefined
}

function equal(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
