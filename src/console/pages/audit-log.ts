import { auditedActions, type RecordedAction, recordedActions } from '../../users/audit-log.ts'
import { type Html, html } from '../../web/html.ts'
import { accountHead, accountPath } from '../layout/account-head.ts'
import { layout } from '../layout/layout.ts'
import { minuteText, relativeText } from '../layout/times.ts'
import { type AccountVisit, type Reply, type Route, show } from '../route.ts'

export const auditLogRoutes: readonly Route[] = [
  { method: 'GET', path: '/account/audit', access: 'owner', handle: auditLogPage },
]

const pageLength = 50

async function auditLogPage(visit: AccountVisit): Promise<Reply> {
  const { services, account, query } = visit
  const before = query.get('before') ?? ''
  const isId = /^\d{1,18}$/.test(before)
  // Reads one entry more than the page shows, to see whether there is another page.
  const actions = await recordedActions(services.postgres, account.accountId, {
    limit: pageLength + 1,
    ...(isId && { before }),
  })
  const entries = actions.slice(0, pageLength)
  const next = actions.length > pageLength ? entries.at(-1)?.id : undefined
  return show(
    layout({
      title: 'Audit log',
      visit,
      body: html`${accountHead(visit, '/account/audit')}
<p class="lead">Who changed what, newest first. Nobody can change or delete an entry. Addresses are shortened.</p>
${
  entries.length === 0
    ? html`<p>${isId ? 'There are no older entries.' : 'Nothing has happened yet. Every change in this account will appear here.'}</p>`
    : html`<div class="card"><table class="people people-log">
<thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">From</th></tr></thead>
<tbody>${entries.map((entry) => entryRow(entry, services.now()))}</tbody></table></div>`
}
<p class="row people-pages">${isId && html`<a class="button" href="${accountPath(visit, '/account/audit')}">Newest</a>`}${
        next && html`<a class="button" href="${accountPath(visit, '/account/audit', { before: next })}">Older</a>`
      }</p>`,
    }),
  )
}

const entryRow = ({ at, actor, action, subject, details, address }: RecordedAction, now: number): Html => html`
<tr><td><time datetime="${at.toISOString()}">${minuteText(at)}<span class="hint">${relativeText(at, now)}</span></time></td>
<td>${actor}</td><td>${auditedActions[action] ?? action}${subject !== actor && html`: <b>${subject}</b>`}${details && html`<span class="hint">${details}</span>`}</td>
<td>${address || '–'}</td></tr>`
