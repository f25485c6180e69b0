// Alerts in the settings of a site: the list, and adding one. alert.ts changes and removes one.
import { InvalidSetting } from '../../accounts/site-rules.ts'
import { sentenceOf } from '../../alerts/alert.ts'
import { type Alert, alertsOf } from '../../alerts/alerts.ts'
import { counted, inFull } from '../../display/formats.ts'
import { addAlert } from '../../users/alert-changes.ts'
import { type Html, html } from '../../web/html.ts'
import { webhooksOf } from '../../webhooks/webhooks.ts'
import { alertFields, enteredAlert, mailTargetNames } from '../forms/alert-fields.ts'
import { tokenField } from '../forms/forms.ts'
import { nonceField, nonceOf } from '../forms/nonces.ts'
import { fault, layout, notice, settingsHead, sitePath } from '../layout/layout.ts'
import { relativeText, timeElement } from '../layout/times.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'

export const alertsRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/sites/:domain/settings/alerts',
    access: 'site-member',
    handle: (visit) => alertsPage(visit),
  },
  { method: 'POST', path: '/sites/:domain/settings/alerts', access: 'site-owner', handle: createNewAlert },
]

const done = new Map([
  ['added', 'The alert is added, and judged once a minute from now on.'],
  ['changed', 'The alert is changed. It begins anew.'],
  ['removed', 'The alert is removed, and nothing more is sent about it.'],
])

/** An address below the list. */
export const alertsPath = ({ site }: SiteVisit, rest = ''): string => sitePath(site, `/settings/alerts${rest}`)

async function createNewAlert(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const nonce = nonceOf(form)
  try {
    await addAlert(services.postgres, actor, site, enteredAlert(form), nonce)
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return alertsPage(visit, `${error.message} ${error.advice}`)
  }
  return goTo(alertsPath(visit, '?done=added'))
}

const isOwner = ({ account }: SiteVisit): boolean => account.role === 'owner'

async function alertsPage(visit: SiteVisit, wrong?: string): Promise<Reply> {
  const { services, site, query, account } = visit
  const [alerts, webhooks] = await Promise.all([
    alertsOf(services.postgres, site.id),
    webhooksOf(services.postgres, site.id),
  ])
  const message = wrong ? undefined : done.get(query.get('done') ?? '')
  const body = html`${settingsHead(site, '/settings/alerts')}
${message && notice(message)}${wrong && fault(wrong)}
<p class="lead">An alert tells you when something happens on ${site.domain} that you would want to look at: one message when it begins, and one when it is over.</p>
${!services.outbox && noMailServer}
${alerts.length > 0 ? alertTable(visit, alerts, webhooks.length > 0) : html`<p class="card padded no-reports">${site.domain} has no alerts yet.</p>`}
${isOwner(visit) ? addForm(visit) : html`<p class="note">Owners of ${account.name} can change the alerts.</p>`}`
  return show(layout({ title: `Alerts · ${site.domain}`, visit, site, body }), wrong ? 422 : 200)
}

const noMailServer = html`<p class="warning" role="status">No mail is sent, because this Footfall has no mail server; webhooks are called. Whoever runs it sets <code>SMTP_URL</code>, <code>MAIL_FROM</code> and <code>PUBLIC_URL</code>: docs/mail.md says how.</p>`

const alertTable = (visit: SiteVisit, alerts: readonly Alert[], hasWebhooks: boolean): Html => html`
<section aria-labelledby="alerts"><h2 id="alerts">${counted(alerts.length, 'alert')}</h2>
<div class="card"><table class="people reports">
<thead><tr><th scope="col">Alert</th><th scope="col">Tells</th><th scope="col">State</th>${isOwner(visit) && html`<th scope="col"><span class="unseen">Change</span></th>`}</tr></thead>
<tbody>${alerts.map((alert) => alertRow(visit, alert, hasWebhooks))}</tbody></table></div></section>`

function alertRow(visit: SiteVisit, alert: Alert, hasWebhooks: boolean): Html {
  const { id, condition, mailTo, toWebhooks, quiet, createdBy } = alert
  const sentence = sentenceOf(condition)
  const named = html`<span class="unseen"> the alert: ${sentence}</span>`
  return html`<tr><th scope="row"><span class="alert-sentence">${sentence}</span><span class="sub">by ${createdBy}</span></th>
<td>${mailTo === 'nobody' ? 'no mail' : `mail to ${mailTargetNames[mailTo]}`}${toWebhooks && html`<span class="sub">webhooks${!hasWebhooks && ', once the site has one'}</span>`}${quiet && html`<span class="sub">quiet from ${quiet.from}:00 until ${quiet.until}:00</span>`}</td>
<td>${stateOf(visit, alert)}</td>${
    isOwner(visit) &&
    html`
<td class="right"><div class="reports-buttons"><a class="button small" href="${alertsPath(visit, `/${id}`)}">Change${named}</a>
<form method="post" action="${alertsPath(visit, `/${id}/remove`)}">${tokenField(visit.formToken)}<button class="button small danger">Remove${named}</button></form></div></td>`
  }</tr>`
}

/** The colour repeats what the word says. */
function stateOf({ services }: SiteVisit, { isOn, isTold, beganAt, overAt, beganWith }: Alert): Html {
  const when = (time: Date) => timeElement(time, relativeText(time, services.now()))
  const { visitors, usual } = beganWith ?? {}
  const numbers =
    beganAt && visitors !== undefined
      ? html`<span class="sub">with ${counted(visitors, 'visitor')}${usual !== undefined && `, usually ${inFull(usual)}`}</span>`
      : undefined
  return html`<span class="state${isOn ? ' soon' : ' off'}"><i></i>${isOn ? 'on' : 'off'}</span>${isOn !== isTold && html`<span class="sub">told after the quiet hours</span>`}${
    beganAt && html`<span class="sub">${isOn ? 'began' : 'last began'} ${when(beganAt)}</span>`
  }${numbers}${!isOn && overAt && html`<span class="sub">over ${when(overAt)}</span>`}`
}

const addForm = (visit: SiteVisit): Html => html`
<section aria-labelledby="add"><h2 id="add">Add an alert</h2>
<form class="card form people-form alert-form" method="post" action="${alertsPath(visit)}" data-once>
  ${tokenField(visit.formToken)}${nonceField()}
  ${alertFields(visit.form)}
  <div><button class="button first">Add alert</button></div>
</form></section>`
