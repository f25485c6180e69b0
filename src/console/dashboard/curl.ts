import type { ReportName } from '../../stats/reports.ts'
import { type HtmlValue, html } from '../../web/html.ts'
import { apiAddressOf, type DashboardState } from './state.ts'

/** Marks the end of a row of links below numbers: the row is shown when its end has arrived (dashboard.css). */
export const rowEnd = html`<i class="end"></i>`

/** The same numbers from the API: the command, and a button that copies it. Not behind a shared link, because its readers have no key. */
export function curlOf({
  state,
  report,
  limit,
  title,
  text = 'Copy as curl',
  publicUrl,
}: {
  state: DashboardState
  report: ReportName
  limit: number
  title: string
  text?: string
  publicUrl: string
}): HtmlValue {
  if (state.isShared) return false
  const id = `curl-${report}`
  return html`<details class="curl menu"><summary aria-label="${text}: ${title}">${text}</summary>
<div class="menu-body"><pre id="${id}" tabindex="0">curl -H "Authorization: Bearer $API_KEY" \\
  "${publicUrl}${apiAddressOf(state, report, limit)}"</pre>
<button class="button" type="button" data-copy="${id}" hidden>Copy</button></div></details>`
}
