// The cards of the landing page. Numbers of all cards come from a few statements (stats/site-summaries.ts).
import type { Site } from '../../accounts/sites.ts'
import { counted, countText } from '../../display/formats.ts'
import { metrics } from '../../display/metrics.ts'
import type { SiteSummary } from '../../stats/site-summaries.ts'
import type { Membership } from '../../users/members.ts'
import { type Html, html } from '../../web/html.ts'
import { changeOf } from '../dashboard/numbers.ts'
import { sitePath } from '../layout/layout.ts'

interface Shown {
  /** Empty if they cannot be read now: then the cards are links without numbers. */
  summaries: ReadonlyMap<string, SiteSummary>
  memberships: readonly Membership[]
  /** The ids of sites without any event. */
  waiting: ReadonlySet<string>
}

export const siteCards = (sites: readonly Site[], shown: Shown): Html =>
  html`<ul class="cards">${sites.map((site) => siteCard(site, shown))}</ul>`

function siteCard(site: Site, { summaries, memberships, waiting }: Shown): Html {
  const summary = summaries.get(site.id)
  const account = memberships.length > 1 && memberships.find(({ accountId }) => accountId === site.accountId)
  return html`<li><a class="card site-card" href="${sitePath(site)}">
  <span class="site-card-head"><b>${site.domain}</b> ${summary && summary.currentVisitors > 0 && now(summary)}</span>
  ${account && html`<span class="site-card-facts">${account.name}</span>`}
  ${waiting.has(site.id) ? waitingText : summary && numbers(summary)}
</a></li>`
}

/** As high as the numbers of the other cards. */
const waitingText = html`<span class="site-card-waiting"><span class="state soon"><i></i>Waiting for the first event</span></span>`

const now = ({ currentVisitors }: SiteSummary): Html =>
  html`<span class="now" title="${counted(currentVisitors, 'visitor')} in the last five minutes"><i></i>${countText(currentVisitors)}<span class="unseen"> now</span></span>`

const numbers = ({ visitors, previousVisitors, change, days }: SiteSummary): Html =>
  html`<span class="site-card-numbers"><span class="site-card-visitors" title="${counted(visitors, 'visitor')}">${countText(visitors)}<span class="unseen"> ${visitors === 1 ? 'visitor' : 'visitors'}</span></span> ${changeOf(metrics.visitors, change, previousVisitors)}</span>
  ${sparkline(days)}`

const width = 220
const height = 36
/** Half of the line's width, so that its highest point is not cut off. */
const edge = 1

/** The last day is not over, so its line is dashed, as in the chart of the dashboard. */
function sparkline(days: readonly number[]): Html {
  const max = Math.max(...days, 1)
  const points = days.map((visitors, index) => {
    const x = (index * width) / Math.max(1, days.length - 1)
    const y = height - edge - (visitors / max) * (height - 2 * edge)
    return `${x.toFixed(1)},${y.toFixed(1)}`
  })
  return html`<svg class="site-card-line" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true"><polyline points="${points.slice(0, -1).join(' ')}"/><polyline class="unfinished" points="${points.slice(-2).join(' ')}"/></svg>`
}
