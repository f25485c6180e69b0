import { type Html, type HtmlValue, html } from '../../web/html.ts'

/** What can be done with the numbers beside it. */
export const moreMenu = (about: string, items: HtmlValue): Html =>
  html`<details class="menu dots"><summary aria-label="More about ${about}" title="More">${dots}</summary><div class="menu-body links">
${items}</div></details>`

const dots = html`<svg width="16" height="16" viewBox="0 0 16 16" fill="currentColor" aria-hidden="true"><circle cx="3" cy="8" r="1.5"/><circle cx="8" cy="8" r="1.5"/><circle cx="13" cy="8" r="1.5"/></svg>`
