// Nonces of forms that create something: sending such a form again creates no second one (decision D-180).
import { randomBytes } from 'node:crypto'
import { type Html, html } from '../../web/html.ts'
import { Refusal } from '../refusals.ts'

export const nonceField = (): Html =>
  html`<input type="hidden" name="nonce" value="${randomBytes(16).toString('base64url')}">`

/** Throws if the nonce is missing: then no page of ours sent the form. */
export function nonceOf(form: URLSearchParams): string {
  const nonce = form.get('nonce') ?? ''
  if (!/^[\w-]{22}$/.test(nonce)) throw new Refusal('foreign_form')
  return nonce
}
