import { rangeTexts } from '../../display/ranges.ts'
import { html } from '../../web/html.ts'

/** dashboard.js finds what a key does by the attribute data-key. */
export const rangeKeys: ReadonlyMap<keyof typeof rangeTexts, string> = new Map([
  ['24h', 'd'],
  ['7d', 'w'],
  ['30d', 'm'],
  ['12m', 'y'],
])

const shortcuts: readonly (readonly [string, string])[] = [
  ...Array.from(rangeKeys, ([range, key]) => [key.toUpperCase(), rangeTexts[range]] as const),
  ['C', 'Custom range'],
  ['X', 'Compare with the previous period'],
  ['/', 'Filter'],
  ['S', 'Search a list'],
  ['?', 'This help'],
]

export const shortcutHelp = html`<dialog class="help" id="help" aria-labelledby="help-title"><h2 id="help-title">Keyboard shortcuts</h2>
<dl class="keys">${shortcuts.map(([key, text]) => html`<dt><kbd>${key}</kbd></dt><dd>${text}</dd>`)}</dl>
<h3>On the chart</h3>
<dl class="keys"><dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>Read the numbers</dd><dt><kbd>Shift</kbd> with <kbd>←</kbd> <kbd>→</kbd></dt><dd>Choose days, then Enter</dd></dl>
<form method="dialog"><button class="button">Close</button></form></dialog>`
