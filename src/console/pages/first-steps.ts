// The dashboard of a site that has no events yet: what to do, what has happened, and what to look at if nothing arrives.
import { readTracker } from '../../tracker/script.ts'
import { trackerTag } from '../../tracker/tag.ts'
import { type Html, html } from '../../web/html.ts'
import { siteScript } from '../layout/assets.ts'
import { sitePath } from '../layout/layout.ts'
import type { SiteVisit } from '../route.ts'
import { firstEvent } from './first-event.ts'
import { guideLinks } from './guides.ts'

/** The script loads the page again when the first event has arrived. */
export async function firstSteps(visit: SiteVisit): Promise<Html> {
  const { site, account } = visit
  const isOwner = account.role === 'owner'
  return html`<script type="module" src="${siteScript.path}"></script>
<div class="start">
<section class="card" aria-labelledby="start-title"><h2 id="start-title" class="start-title">Waiting for the first event</h2>
<ol class="steps-to-do">
<li class="done"><b>Add the site</b><p>${site.domain} is here.</p></li>
<li><b>Put this line into the <code>head</code> of every page</b>${snippet(visit)}${guideLinks(site)}</li>
<li><b>Open a page of ${site.domain}</b><p>Its event arrives here within seconds, and this page shows the numbers.</p>
<div class="first-event" role="status" data-poll="${sitePath(site, '/settings/first-event')}" data-then-reload>${await firstEvent(visit, sitePath(site))}</div></li>
<li><b>Then</b><p>${
    isOwner
      ? html`<a href="${sitePath(site, '/settings/goals')}">Make a goal</a>, <a href="${sitePath(site, '/settings/exclusions')}">leave out countries</a> or <a href="/account/members?account=${account.accountId}">invite a colleague</a>.`
      : 'The numbers are here for everybody in the account.'
  }</p></li>
</ol></section>
${nothingArrives(visit)}
</div>`
}

/** The line for the pages of a site, with its button. */
function snippet({ services, site }: Pick<SiteVisit, 'services' | 'site'>): Html {
  const { tag } = trackerTag(services.publicUrl, site.domain, readTracker())
  return html`
  <pre id="snippet" class="snippet" tabindex="0">${tag}</pre>
  <button class="button small scripted" type="button" data-copy="snippet">Copy snippet</button>`
}

const nothingArrives = ({ services, site }: SiteVisit): Html => html`
<section class="card padded causes" aria-labelledby="causes-title"><h2 id="causes-title">Nothing arrives?</h2>
<dl>
<dt>See what becomes of a hit</dt><dd>Open a page with <code>?debug</code> at the end of its address. The console of the browser says whether its event is counted, and if not, why.</dd>
<dt>A blocker in your browser</dt><dd>Try a private window without extensions.</dd>
<dt>A content security policy</dt><dd>Allow <code>script-src ${services.publicUrl}; connect-src ${services.publicUrl}</code>.</dd>
<dt>Another host</dt><dd>Only events of <a href="${sitePath(site, '/settings')}#hostnames">the hosts of the site</a> are counted; <code>localhost</code> is none of them.</dd>
</dl></section>`
