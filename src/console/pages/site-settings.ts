import { hostnamesOf, InvalidSetting, timeZoneOf } from '../../accounts/site-rules.ts'
import { readTracker } from '../../tracker/script.ts'
import { trackerTag } from '../../tracker/tag.ts'
import { changeHostnames, changeTimeZone, hostsText } from '../../users/site-changes.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { timeZoneField } from '../forms/time-zone-field.ts'
import { siteScript } from '../layout/assets.ts'
import { fault, layout, notice, settingsHead, sitePath } from '../layout/layout.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'
import { firstEvent } from './first-event.ts'
import { guideLinks } from './guides.ts'

export const siteSettingsRoutes: readonly Route[] = [
  { method: 'GET', path: '/sites/:domain/settings', access: 'site-member', handle: siteSettings },
  { method: 'POST', path: '/sites/:domain/settings/time-zone', access: 'site-owner', handle: saveTimeZone },
  { method: 'POST', path: '/sites/:domain/settings/hostnames', access: 'site-owner', handle: saveHostnames },
]

const saved = new Map([
  ['created', 'The site is added. Put the snippet into its pages.'],
  ['time-zone', 'The time zone is saved. New days begin at midnight there.'],
  ['hostnames', 'The host names are saved. They hold for new events.'],
])

/** A form that must be corrected. */
export interface Mistake {
  form: 'time-zone' | 'hostnames' | 'delete'
  text: string
}

async function siteSettings(visit: SiteVisit): Promise<Reply> {
  return show(await settingsPage(visit))
}

function saveTimeZone(visit: SiteVisit): Promise<Reply> {
  const { services, site, form } = visit
  return save(visit, 'time-zone', () =>
    changeTimeZone(services.postgres, visit.actor, site, timeZoneOf(form.get('zone') ?? ''), services.now()),
  )
}

function saveHostnames(visit: SiteVisit): Promise<Reply> {
  const { services, site, form } = visit
  return save(visit, 'hostnames', () => {
    const lines = (form.get('hostnames') ?? '').split(/[\s,]+/).filter(Boolean)
    const hosts = { hostnames: hostnamesOf(lines), allowSubdomains: form.has('subdomains') }
    return changeHostnames(services.postgres, visit.actor, site, hosts)
  })
}

async function save(visit: SiteVisit, form: 'time-zone' | 'hostnames', change: () => Promise<void>): Promise<Reply> {
  try {
    await change()
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return show(await settingsPage(visit, { form, text: `${error.message} ${error.advice}` }), 422)
  }
  visit.services.directory.forget(visit.site.id)
  return goTo(sitePath(visit.site, `/settings?saved=${form}`))
}

/** A form with a mistake shows the typed values; the other forms show the stored ones. */
export async function settingsPage(visit: SiteVisit, mistake?: Mistake): Promise<Html> {
  const { site, query } = visit
  const isOwner = visit.account.role === 'owner'
  const done = mistake ? undefined : saved.get(query.get('saved') ?? '')
  return layout({
    title: `Settings of ${site.domain}`,
    visit,
    site,
    head: html`<script type="module" src="${siteScript.path}"></script>\n`,
    body: html`${settingsHead(site, '/settings')}
${done && notice(done)}
${await snippetPart(visit)}
<h2>Site</h2>
<dl class="card facts">
  <dt>Domain</dt><dd>${site.domain}<span class="hint">Names the site here and in the snippet. It cannot be changed.</span></dd>
  <dt>Id</dt><dd><code>${site.id}</code><span class="hint">Names the site in the API, as <code>site_id</code>.</span></dd>
  ${!isOwner && readOnlyFacts(visit)}
</dl>
${reportsPart(visit)}
${isOwner ? html`${timeZonePart(visit, mistake)}${hostnamesPart(visit, mistake)}${deletePart(visit, mistake)}` : html`<p class="note">Owners of ${visit.account.name} can change these settings.</p>`}`,
  })
}

async function snippetPart(visit: SiteVisit): Promise<Html> {
  const { services, site } = visit
  const { tag } = trackerTag(services.publicUrl, site.domain, readTracker())
  return html`<h2 id="snippet-title">Snippet</h2>
<section class="card padded" aria-labelledby="snippet-title">
  <p class="lead">Put this line into the <code>head</code> of every page of ${site.domain}. Then open one of them: its event arrives here within seconds.</p>
  <pre id="snippet" class="snippet" tabindex="0">${tag}</pre>
  <div class="row snippet-state">
    <button class="button scripted" type="button" data-copy="snippet">Copy snippet</button>
    <div class="first-event" role="status" data-poll="${sitePath(site, '/settings/first-event')}">${await firstEvent(visit)}</div>
  </div>
  ${guideLinks(site)}
</section>`
}

/** Names the account, because the visitor may have several. */
function reportsPart({ site, account }: SiteVisit): Html {
  const query = new URLSearchParams({ account: account.accountId, site: site.domain })
  return html`<h2 id="reports-title">Reports by email</h2>
<section class="card padded row" aria-labelledby="reports-title">
  <p class="reports-lead">Get the numbers of ${site.domain} every week or month.</p>
  <a class="button" href="/account/reports?${query.toString()}">Reports</a>
</section>`
}

const readOnlyFacts = ({ site }: SiteVisit): Html => html`
  <dt>Time zone</dt><dd>${site.timeZone}<span class="hint">A day of the site begins at midnight in this zone.</span></dd>
  <dt>Host names</dt><dd>${hostsText(site)}<span class="hint">Events of other hosts are not counted.</span></dd>`

function timeZonePart({ site, form, formToken }: SiteVisit, mistake: Mistake | undefined): Html {
  const wrong = mistake?.form === 'time-zone' ? mistake.text : undefined
  return html`
<h2 id="time-zone">Time zone</h2>
<form class="card form setting" method="post" action="${sitePath(site, '/settings/time-zone')}">
  ${tokenField(formToken)}
  ${wrong && fault(wrong)}
  <div>${timeZoneField({ value: wrong ? (form.get('zone') ?? '') : site.timeZone })}
    <span class="hint">A day of the site begins at midnight in this zone. After a change, events that are already recorded keep their day. New events and ranges such as “last 7 days” follow the new zone.</span></div>
  <div><button class="button">Save time zone</button></div>
</form>`
}

function hostnamesPart({ site, form, formToken }: SiteVisit, mistake: Mistake | undefined): Html {
  const wrong = mistake?.form === 'hostnames' ? mistake.text : undefined
  const lines = wrong ? (form.get('hostnames') ?? '') : site.hostnames.join('\n')
  const isChecked = wrong ? form.has('subdomains') : site.allowSubdomains
  return html`
<h2 id="hostnames">Host names</h2>
<form class="card form setting" method="post" action="${sitePath(site, '/settings/hostnames')}">
  ${tokenField(formToken)}
  ${wrong && fault(wrong)}
  <label>Hosts of the site, one per line
    <textarea name="hostnames" required rows="3" maxlength="30000" autocapitalize="none" spellcheck="false">${'\n'}${lines}</textarea>
    <span class="hint">Only events of these hosts are counted, each also with <code>www.</code> before it. A change holds for new events; recorded events stay.</span>
  </label>
  <label class="check"><input type="checkbox" name="subdomains" value="yes"${isChecked && html` checked`}>Also all subdomains</label>
  <div><button class="button">Save host names</button></div>
</form>`
}

function deletePart({ site, form, formToken }: SiteVisit, mistake: Mistake | undefined): Html {
  const wrong = mistake?.form === 'delete' ? mistake.text : undefined
  return html`
<h2 id="delete">Delete this site</h2>
<form class="card form setting danger-zone" method="post" action="${sitePath(site, '/settings/delete')}">
  ${tokenField(formToken)}
  ${wrong && fault(wrong)}
  <p>Deletes ${site.domain}, its API keys and all its traffic for good. Keys stop working at once. Backups that exist still contain it.</p>
  <label>Type <b>${site.domain}</b> to confirm
    <input name="confirm" required maxlength="300" autocomplete="off" autocapitalize="none" spellcheck="false" value="${wrong ? (form.get('confirm') ?? '') : ''}">
  </label>
  <div><button class="button danger">Delete site for good</button></div>
</form>`
}
