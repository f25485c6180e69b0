// Pieces that all sections use: headings with a permalink, tables of fields, and text with `code` in it.
import { type Html, type HtmlValue, html } from '../../web/html.ts'

const heading = (id: string, title: string): Html =>
  html`<h2>${title} <a class="permalink" href="#${id}" aria-label="Permalink to ${title}">#</a></h2>`

/** A section with text on the left and code on the right; without code the text has the whole width. */
export const section = (id: string, title: string, text: HtmlValue, codes?: HtmlValue): Html => html`
<section id="${id}">
<div class="text">
${heading(id, title)}
${text}
</div>
${codes && html`<div class="codes">${codes}</div>`}
</section>`

/** Turns text between backticks into code. */
export const prose = (text: string): HtmlValue =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))

/** A row of a table. Fields without a column in the table are undefined in all its rows. */
export interface Row {
  id: string
  names: readonly string[]
  depth?: number
  /** Beside the name, for example the type. */
  facts?: HtmlValue
  unit?: string
  meaning: HtmlValue
}

/** Each name is a permalink to its row. */
export const rows = (columns: readonly string[], all: readonly Row[]): Html => html`
<table class="fields"><thead class="unseen"><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead><tbody>${all.map(row)}</tbody></table>`

const row = ({ id, names, depth = 0, facts, unit, meaning }: Row): Html => html`
<tr id="${id}"${depth > 0 && html` class="depth-${depth}"`}><th class="name" scope="row"><a href="#${id}">${names.map(
  (name, index) => html`${index > 0 && ', '}<code>${name}</code>`,
)}</a></th>${facts !== undefined && html`<td class="facts">${facts}</td>`}${
  unit !== undefined && html`<td class="unit">${unit && html`<span>${unit}</span>`}</td>`
}<td class="meaning">${meaning}</td></tr>`

/** A plain table with a head. */
export const table = (columns: readonly string[], all: readonly (readonly HtmlValue[])[]): Html => html`
<div class="scroll" tabindex="0"><table class="plain"><thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead><tbody>${all.map(
  (cells) =>
    html`<tr>${cells.map((cell, index) => (index === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`))}</tr>`,
)}</tbody></table></div>`
