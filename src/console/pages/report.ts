// One report by email: change its hour, or end it.
import { InvalidSetting } from '../../accounts/site-rules.ts'
import type { Subscription } from '../../email-reports/subscriptions.ts'
import { changeReport, endReport } from '../../users/report-changes.ts'
import { html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { scheduleFields, scheduleOf } from '../forms/report-schedule.ts'
import { accountField, accountHead, accountPath } from '../layout/account-head.ts'
import { fault, layout } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { type AccountVisit, goTo, type Reply, type Route, show } from '../route.ts'
import { aboutText, intervalNames, reportsOf, storedWords } from './reports.ts'

export const reportRoutes: readonly Route[] = [
  { method: 'GET', path: '/account/reports/:id', access: 'member', handle: showReport },
  { method: 'POST', path: '/account/reports/:id', access: 'member', handle: saveReport },
  { method: 'POST', path: '/account/reports/:id/stop', access: 'member', handle: stopReport },
]

/** Reports of other accounts, and for a viewer those of others, look like reports that do not exist. */
async function namedReport(visit: AccountVisit): Promise<Subscription> {
  const report = (await reportsOf(visit)).find(({ id }) => id === visit.params.id)
  if (!report) throw new Refusal('not_found')
  return report
}

async function showReport(visit: AccountVisit): Promise<Reply> {
  return reportPage(visit, await namedReport(visit))
}

async function saveReport(visit: AccountVisit): Promise<Reply> {
  const report = await namedReport(visit)
  try {
    await changeReport(visit.services.postgres, visit.actor, report, scheduleOf(visit.form))
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return reportPage(visit, report, `${error.message} ${error.advice}`)
  }
  return goTo(accountPath(visit, '/account/reports', { done: 'changed' }))
}

async function stopReport(visit: AccountVisit): Promise<Reply> {
  await endReport(visit.services.postgres, visit.actor, await namedReport(visit))
  return goTo(accountPath(visit, '/account/reports', { done: 'ended' }))
}

function reportPage(visit: AccountVisit, report: Subscription, wrong?: string): Reply {
  const { id, email, interval, domain, filters } = report
  const path = `/account/reports/${id}`
  const hidden = html`${tokenField(visit.formToken)}${accountField(visit)}`
  const body = html`${accountHead(visit, '/account/reports')}
<p class="back"><a href="${accountPath(visit, '/account/reports')}"><span aria-hidden="true">← </span>All reports</a></p>
<h2 class="key-name">${intervalNames[interval]}, ${aboutText(domain)}</h2>
<p class="lead">Sent to ${email}.${filters.length > 0 && ` Only ${storedWords(filters)}.`}</p>
${wrong && fault(wrong)}
<form class="card form people-form" method="post" action="${path}">
  ${hidden}${scheduleFields(visit.form, report)}
  <p class="hint">No report is repeated or left out by a change.</p>
  <div><button class="button first">Save</button></div>
</form>
<form class="reports-action" method="post" action="${path}/stop">${hidden}<button class="button danger">Stop this report</button></form>`
  return show(layout({ title: 'Report', visit, body }), wrong ? 422 : 200)
}
