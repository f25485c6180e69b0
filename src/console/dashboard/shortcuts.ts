import { html } from '../../web/html.ts'
import { type RangeChoice, rangeTexts } from './range-choice.ts'

/** dashboard.js finds what a key does by the attribute data-key. In the order of the menu. */
export const rangeKeys: ReadonlyMap<Exclude<RangeChoice['name'], 'custom'>, string> = new Map([
  ['today', 'd'],
  ['yesterday', 'e'],
  ['24h', 'h'],
  ['7d', 'w'],
  ['30d', 'm'],
  ['90d', 'q'],
  ['12m', 'y'],
  ['this_week', 'i'],
  ['this_month', 'n'],
  ['last_month', 'l'],
  ['this_year', 'r'],
  ['all', 'a'],
])

const shortcuts: readonly (readonly [string, string])[] = [
  ...Array.from(rangeKeys, ([range, key]) => [key.toUpperCase(), rangeTexts[range]] as const),
  ['C', 'Choose dates'],
  ['X', 'Compare with the previous period'],
  ['/', 'Filter'],
  ['S', 'Search a list'],
  ['K', 'Another site'],
  ['?', 'This help'],
]

export const shortcutHelp = html`<dialog class="help" id="help" aria-labelledby="help-title"><h2 id="help-title">Keyboard shortcuts</h2>
<dl class="keys columns">${shortcuts.map(([key, text]) => html`<dt><kbd>${key}</kbd></dt><dd>${text}</dd>`)}</dl>
<h3>On the chart</h3>
<dl class="keys"><dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>Read the numbers</dd><dt><kbd>Enter</kbd></dt><dd>Open a point</dd><dt><kbd>Shift</kbd> with <kbd>←</kbd> <kbd>→</kbd></dt><dd>Choose days, then Enter</dd></dl>
<form method="dialog"><button class="button">Close</button></form></dialog>`
