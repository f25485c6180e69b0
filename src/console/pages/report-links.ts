// What the links of mails lead to: confirming a report, and ending it. Nobody needs to sign in. A GET changes nothing, because mail programs and
// their scanners open links; a POST needs nothing but the link, because mail programs end reports with one click (RFC 8058, decision D-222).
import { subscriptionOfLink } from '../../email-reports/links.ts'
import { findSubscription, type Subscription } from '../../email-reports/subscriptions.ts'
import { confirmReport, unsubscribe } from '../../users/report-changes.ts'
import { type HtmlValue, html } from '../../web/html.ts'
import { layout } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { type MailedVisit, type Reply, type Route, show } from '../route.ts'
import { intervalNames, storedWords } from './reports.ts'

export const reportLinkRoutes: readonly Route[] = [
  { method: 'GET', path: '/reports/confirm/:token', access: 'mailed-link', handle: askToConfirm },
  { method: 'POST', path: '/reports/confirm/:token', access: 'mailed-link', handle: confirm },
  { method: 'GET', path: '/reports/unsubscribe/:token', access: 'mailed-link', handle: askToUnsubscribe },
  { method: 'POST', path: '/reports/unsubscribe/:token', access: 'mailed-link', handle: end },
]

/** Throws if the token was not made for this action by this installation. */
function idOf({ services, params }: MailedVisit, action: 'confirm' | 'unsubscribe'): string {
  const id = subscriptionOfLink(services.keySecrets, action, params.token ?? '')
  if (!id) throw new Refusal('closed_mail_link')
  return id
}

async function askToConfirm(visit: MailedVisit): Promise<Reply> {
  const report = await findSubscription(visit.services.postgres, idOf(visit, 'confirm'))
  if (!report || report.isConfirmed) throw new Refusal('closed_mail_link')
  return page(visit, {
    title: 'Do you want this report?',
    body: html`${facts(report)}
<form class="reports-action" method="post"><button class="button first" name="confirm" value="yes">Yes, send it</button></form>
<p class="note">If you do not want it, close this page: nothing is sent, and the request is forgotten after seven days.</p>`,
  })
}

async function confirm(visit: MailedVisit): Promise<Reply> {
  const { services, form } = visit
  const id = idOf(visit, 'confirm')
  // Whoever sends the form of one click to every link of a mail has confirmed nothing.
  if (form.get('confirm') !== 'yes' || !(await confirmReport(services.postgres, id))) {
    throw new Refusal('closed_mail_link')
  }
  return page(visit, {
    title: 'The report is confirmed',
    body: html`<p class="lead">The first one comes when the current week or month is over. Every mail has a link to stop it.</p>`,
  })
}

async function askToUnsubscribe(visit: MailedVisit): Promise<Reply> {
  const report = await findSubscription(visit.services.postgres, idOf(visit, 'unsubscribe'))
  if (!report) return ended(visit)
  return page(visit, {
    title: 'Stop this report?',
    body: html`${facts(report)}
<form class="reports-action" method="post"><button class="button first">Stop this report</button></form>`,
  })
}

async function end(visit: MailedVisit): Promise<Reply> {
  await unsubscribe(visit.services.postgres, idOf(visit, 'unsubscribe'))
  return ended(visit)
}

/** The same for whoever ends it and whoever comes again. */
const ended = (visit: MailedVisit): Reply =>
  page(visit, {
    title: 'The report has ended',
    body: html`<p class="lead">It is not sent any more. If you want it again, ask whoever looks after the site, or set it up again if you can sign in.</p>`,
  })

const facts = ({
  email,
  interval,
  domain,
  account,
  filters,
  hour,
  timeZone,
  createdBy,
}: Subscription): HtmlValue => html`<dl class="card facts">
  <dt>Report</dt><dd>${intervalNames[interval]}, ${domain ?? `all sites of ${account}`}</dd>
  ${filters.length > 0 && html`<dt>Only</dt><dd>${storedWords(filters)}</dd>`}
  <dt>To</dt><dd>${email}</dd>
  <dt>At</dt><dd>${hour}:00, ${timeZone}</dd>
  ${createdBy !== email && html`<dt>Asked for by</dt><dd>${createdBy}</dd>`}
</dl>`

const page = ({ theme }: MailedVisit, { title, body }: { title: string; body: HtmlValue }): Reply =>
  show(layout({ title, theme, isShared: true, narrow: true, body: html`<h1>${title}</h1>\n${body}` }))
