// Refuses forms that no page of ours sent (CSRF). It checks Origin, Sec-Fetch-Site and a token, though each alone would be enough.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type Html, html } from '../../web/html.ts'

/** Only a page of ours knows the cookie's value, so only it can make the token. */
export const formTokenOf = (cookieValue: string): string =>
  createHmac('sha256', cookieValue).update('form').digest('base64url')

export const tokenField = (token: string): Html => html`<input type="hidden" name="token" value="${token}">`

export function isFromOurPage(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const site = headers['sec-fetch-site']
  return headers.origin === publicUrl && (site === undefined || site === 'same-origin')
}

export const isOurToken = (token: string | null, expected: string | undefined): boolean =>
  Boolean(expected && token && equal(token, expected))

function equal(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
