// Reports by email: who gets which, and a form to ask for one. report.ts changes and ends them.
import { InvalidSetting } from '../../accounts/site-rules.ts'
import { type ListedSite, selectListedSites } from '../../accounts/sites.ts'
import { filterWords } from '../../display/labels.ts'
import { dayMs } from '../../durations.ts'
import { type Interval, intervals } from '../../email-reports/due.ts'
import type { Subscription } from '../../email-reports/subscriptions.ts'
import { subscribe, visibleReports } from '../../users/report-changes.ts'
import { emailOf, isEmail } from '../../users/users.ts'
import { type Html, html } from '../../web/html.ts'
import { enteredFilters, filterList, textOf } from '../dashboard/filter-texts.ts'
import { tokenField } from '../forms/forms.ts'
import { scheduleFields, scheduleOf } from '../forms/report-schedule.ts'
import { accountField, accountHead, accountPath } from '../layout/account-head.ts'
import { siteScript } from '../layout/assets.ts'
import { fault, layout, notice } from '../layout/layout.ts'
import { relativeText, timeElement } from '../layout/times.ts'
import { Refusal } from '../refusals.ts'
import { type AccountVisit, goTo, type Reply, type Route, show } from '../route.ts'

export const reportsRoutes: readonly Route[] = [
  { method: 'GET', path: '/account/reports', access: 'member', handle: (visit) => reportsPage(visit) },
  { method: 'POST', path: '/account/reports', access: 'member', handle: addReport },
]

/** Success messages by `?done=`. */
const done: Readonly<Record<string, string>> = {
  subscribed: 'The first report comes when the current week or month is over.',
  asked: 'We ask the address by mail. It gets nothing else before it confirms, and is forgotten after seven days.',
  changed: 'The report comes at the new hour from now on.',
  ended: 'The report has ended. Mails that waited are not sent.',
}

export const intervalNames: Readonly<Record<Interval, string>> = { week: 'Weekly', month: 'Monthly' }

const tooMany = 'Too many mails have asked this address, or others of this account, to confirm. Try again in an hour.'

const isOwner = ({ account }: AccountVisit): boolean => account.role === 'owner'

/** The reports that the visitor may see and change. */
export const reportsOf = (visit: AccountVisit): Promise<Subscription[]> =>
  visibleReports(visit.services.postgres, visit.account.accountId, { ...visit.session.user, isOwner: isOwner(visit) })

async function addReport(visit: AccountVisit): Promise<Reply> {
  const { services, form, account, session } = visit
  const { postgres, outbox } = services
  if (!outbox) return reportsPage(visit, { text: 'Without a mail server no report can be sent.', status: 422 })
  const email = emailOf(form.get('email') || session.user.email)
  const domain = form.get('site') || undefined
  const site = (await selectListedSites(postgres, account.accountId)).find((one) => one.domain === domain)
  if (domain && !site) throw new Refusal('not_found')
  const interval = intervals.find((one) => one === form.get('every'))
  try {
    if (!isEmail(email)) throw new InvalidSetting('This is not an email address.', 'Write it like maria@example.com.')
    if (!interval) throw new InvalidSetting('How often is missing.', 'Choose weekly or monthly.')
    const entered = enteredFilters(form.getAll('filter'))
    if ('wrong' in entered) throw new InvalidSetting(entered.wrong, 'Choose the segment again.')
    const filters = entered.filters.map(textOf)
    if (filters.length > 0 && !site)
      throw new InvalidSetting('Filters are about one site.', 'Choose the segment again.')
    const wanted = { siteId: site?.id ?? null, filters, email, interval, ...scheduleOf(form) }
    const requester = { accountId: account.accountId, userId: session.user.id, actor: visit.actor }
    const outcome = await withinLimit(visit, email, () => subscribe(postgres, outbox, requester, wanted))
    if (outcome === 'too many') return reportsPage(visit, { text: tooMany, status: 429 })
    if (outcome === 'exists')
      throw new InvalidSetting(`${email} has this report already.`, 'You can change it in the list.')
    return goTo(accountPath(visit, '/account/reports', { done: outcome }))
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return reportsPage(visit, { text: `${error.message} ${error.advice}`, status: 422 })
  }
}

/** Only mails to confirm count for the limit of the network. */
async function withinLimit<Outcome>(
  { services: { confirmationLimit }, session, clientAddress }: AccountVisit,
  email: string,
  ask: () => Promise<Outcome>,
): Promise<Outcome | 'too many'> {
  if (email === session.user.email) return ask()
  if (confirmationLimit.take(clientAddress, 1) > 0) return 'too many'
  let outcome: Outcome | undefined
  try {
    outcome = await ask()
    return outcome
  } finally {
    if (outcome !== 'asked') confirmationLimit.giveBack(clientAddress, 1)
  }
}

interface Mistake {
  text: string
  status: number
}

async function reportsPage(visit: AccountVisit, mistake?: Mistake): Promise<Reply> {
  const { services, account, query } = visit
  const [reports, sites] = await Promise.all([
    reportsOf(visit),
    selectListedSites(services.postgres, account.accountId),
  ])
  const message = mistake ? undefined : done[query.get('done') ?? '']
  const body = html`${accountHead(visit, '/account/reports')}
<p class="lead">The numbers of a week or a month in your mailbox: visitors, what they read, where they came from.</p>
${message && notice(message)}${mistake && fault(mistake.text)}
${!services.outbox && noMailServer}
${reports.length > 0 ? reportTable(visit, reports) : html`<p class="card padded no-reports">${isOwner(visit) ? 'Nobody gets a report yet.' : 'You get no report yet.'}</p>`}
${services.outbox && reportForm(visit, sites)}`
  const head = html`<script type="module" src="${siteScript.path}"></script>\n`
  return show(layout({ title: 'Reports', visit, head, body }), mistake?.status ?? 200)
}

const noMailServer = html`<p class="warning" role="status">Nothing is sent, because this Footfall has no mail server. Whoever runs it sets <code>SMTP_URL</code>, <code>MAIL_FROM</code> and <code>PUBLIC_URL</code>: docs/mail.md says how.</p>`

const reportTable = (visit: AccountVisit, reports: readonly Subscription[]): Html => html`
<section aria-labelledby="reports"><h2 id="reports">${reports.length === 1 ? '1 report' : `${reports.length} reports`}</h2>
<div class="card"><table class="people reports">
<thead><tr><th scope="col">To</th><th scope="col">Report</th><th scope="col">When</th><th scope="col"><span class="unseen">Change</span></th></tr></thead>
<tbody>${reports.map((report) => reportRow(visit, report))}</tbody></table></div></section>`

function reportRow(visit: AccountVisit, report: Subscription): Html {
  const { id, email, interval, domain, filters, hour, timeZone, createdBy } = report
  const isMe = email === visit.session.user.email
  const named = html`<span class="unseen"> the ${interval}ly report to ${email} about ${aboutText(domain)}</span>`
  return html`<tr><th scope="row">${email}${isMe && html` <span class="people-me">you</span>`}${waiting(visit, report)}</th>
<td>${intervalNames[interval]}, ${aboutText(domain)}${filters.length > 0 && html`<span class="sub">only ${storedWords(filters)}</span>`}${createdBy !== email && html`<span class="sub">by ${createdBy}</span>`}</td>
<td>${hour}:00 <span class="sub">${timeZone}</span></td>
<td class="right"><div class="reports-buttons"><a class="button small" href="${accountPath(visit, `/account/reports/${id}`)}">Change${named}</a>
<form method="post" action="/account/reports/${id}/stop">${tokenField(visit.formToken)}${accountField(visit)}<button class="button small danger">Stop${named}</button></form></div></td></tr>`
}

/** Says so if the address has not confirmed. */
function waiting({ services }: AccountVisit, { isConfirmed, createdAt }: Subscription): Html | false {
  if (isConfirmed) return false
  const until = new Date(createdAt.getTime() + 7 * dayMs)
  return html`<span class="sub"><span class="state soon"><i></i>not confirmed yet</span></span><span class="sub">forgotten ${timeElement(until, relativeText(until, services.now()))}</span>`
}

/** `Page starts with /blog, Country Germany` */
export function storedWords(filters: readonly string[]): string {
  const read = enteredFilters(filters)
  return ('wrong' in read ? filters : read.filters.map(filterWords)).join(', ')
}

export const aboutText = (domain: string | null): string => domain ?? 'all sites'

function reportForm(visit: AccountVisit, sites: readonly ListedSite[]): Html {
  const { form, formToken, query, session } = visit
  const chosenSite = form.get('site') ?? query.get('site') ?? ''
  const sent = enteredFilters(form.has('every') ? form.getAll('filter') : query.getAll('filter'))
  const filters = 'wrong' in sent ? [] : sent.filters
  const about = filters.length > 0 ? sites.filter(({ domain }) => domain === chosenSite) : sites
  const filterFields =
    filters.length > 0 &&
    html`<p>Only ${filterList(filters)} ${filters.map((filter) => html`<input type="hidden" name="filter" value="${textOf(filter)}">`)}</p>`
  const option = (value: string, name: string, chosen: string): Html =>
    html`<option value="${value}"${value === chosen && html` selected`}>${name}</option>`
  return html`
<section aria-labelledby="add"><h2 id="add">${isOwner(visit) ? 'Send a report' : 'Get a report'}</h2>
<form class="card form people-form" method="post" action="/account/reports">
  ${tokenField(formToken)}${accountField(visit)}
  ${filterFields}
  <label>About <select name="site">${filters.length === 0 && option('', 'All sites of the account', chosenSite)}${about.map(({ domain }) => option(domain, domain, chosenSite))}</select></label>
  <label>How often <select name="every">${intervals.map((one) => option(one, intervalNames[one], form.get('every') ?? 'week'))}</select>
    <span class="hint">A week is Monday to Sunday. A report comes at the first chosen hour after its days are over in the time zones of its sites.</span></label>
  ${scheduleFields(form)}
  ${
    isOwner(visit) &&
    html`<label>Email <input name="email" type="email" required maxlength="254" autocomplete="off" value="${form.get('email') ?? session.user.email}">
    <span class="hint">Members get it at once. Any other address is asked to confirm first.</span></label>`
  }
  <div><button class="button first">${isOwner(visit) ? 'Send report' : 'Get report'}</button></div>
</form></section>`
}
