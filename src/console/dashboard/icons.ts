// Drawn, because characters may come from another font, which arrives late.
import { html } from '../../web/html.ts'

export const chevron = html`<svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true"><path d="M1 3l4 4 4-4"/></svg>`

export const arrowBefore = html`<svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><path d="M8 1L3 6l5 5"/></svg>`

export const arrowAfter = html`<svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><path d="M4 1l5 5-5 5"/></svg>`
