import { html } from '../../web/html.ts'

/** dashboard.js finds what a key does by the attribute data-key. */
const shortcuts = [
  ['D', 'Last 24 hours'],
  ['W', 'Last 7 days'],
  ['M', 'Last 30 days'],
  ['Y', 'Last 12 months'],
  ['C', 'Custom range'],
  ['X', 'Compare with the previous period'],
  ['/', 'Filter'],
  ['?', 'This help'],
] as const

export const shortcutHelp = html`<dialog class="help" id="help" aria-labelledby="help-title"><h2 id="help-title">Keyboard shortcuts</h2>
<dl class="keys">${shortcuts.map(([key, text]) => html`<dt><kbd>${key}</kbd></dt><dd>${text}</dd>`)}</dl>
<h3>On the chart</h3>
<dl class="keys"><dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>Read the numbers</dd><dt><kbd>Shift</kbd> with <kbd>←</kbd> <kbd>→</kbd></dt><dd>Choose days, then Enter</dd></dl>
<form method="dialog"><button class="button">Close</button></form></dialog>`
