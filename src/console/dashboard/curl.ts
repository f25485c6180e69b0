import { type HtmlValue, html } from '../../web/html.ts'
import { type DashboardState, queryOf, questionFields } from './state.ts'

/** Marks the end of a row of links below numbers: the row is shown when its end has arrived (dashboard.css). */
export const rowEnd = html`<i class="end"></i>`

/** A question to the API, as a panel asks it. */
export interface Asked {
  kind: 'totals' | 'timeseries' | 'breakdown'
  fields: readonly (readonly [string, string])[]
}

/** The same numbers from the API: the command, and a button that copies it. Not behind a shared link, because its readers have no key. */
export function curlOf(
  state: DashboardState,
  publicUrl: string,
  { kind, fields }: Asked,
  { id, text = 'Copy as curl', label }: { id: string; text?: string; label: string },
): HtmlValue {
  if (state.isShared) return false
  const query = queryOf([['site_id', state.site.id], ...questionFields(state, fields)])
  return html`<details class="curl"><summary class="item" aria-label="${text}: ${label}">${text}</summary>
<pre id="curl-${id}" tabindex="0">curl -H "Authorization: Bearer $API_KEY" \\
  "${publicUrl}/api/v2/stats/${kind}?${query}"</pre>
<button class="button small" type="button" data-copy="curl-${id}" hidden>Copy</button></details>`
}
