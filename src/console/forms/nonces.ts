// A form that makes something once has a nonce: sending it again makes no second one (decision D-180).
import { randomBytes } from 'node:crypto'
import { type Html, html } from '../../web/html.ts'
import { Refusal } from '../refusals.ts'

/** Every such form has its own. */
export const nonceField = (): Html =>
  html`<input type="hidden" name="nonce" value="${randomBytes(16).toString('base64url')}">`

/** Only a form of ours has one. */
export function nonceOf(form: URLSearchParams): string {
  const nonce = form.get('nonce') ?? ''
  if (!/^[\w-]{22}$/.test(nonce)) throw new Refusal('foreign_form')
  return nonce
}
