import { type Invitation, invitationsTo, inviteMember, revokeInvitation } from '../../users/invitations.ts'
import { changeRole, isRole, type Member, membersOf } from '../../users/members.ts'
import { linkAddress } from '../../users/one-time-links.ts'
import { emailOf, isEmail } from '../../users/users.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { accountField, accountHead, accountPath } from '../layout/account-head.ts'
import { fault, layout, notice } from '../layout/layout.ts'
import { relativeText, timeElement } from '../layout/times.ts'
import { type AccountVisit, goTo, type Reply, type Route, show } from '../route.ts'

export const membersRoutes: readonly Route[] = [
  { method: 'GET', path: '/account/members', access: 'member', handle: (visit) => membersPage(visit) },
  { method: 'POST', path: '/account/members/invite', access: 'owner', handle: invite },
  { method: 'POST', path: '/account/members/role', access: 'owner', handle: changeMember },
  { method: 'POST', path: '/account/invitations/revoke', access: 'owner', handle: revoke },
]

/** Success messages by `?done=`. */
const done: Readonly<Record<string, string>> = {
  role: 'The role is changed. It applies at once.',
  removed: 'The member is removed and signed out everywhere.',
  revoked: 'The invitation is revoked. Its link no longer works.',
}

const lastOwner = 'An account needs an owner. Make somebody else an owner first.'

async function invite(visit: AccountVisit): Promise<Reply> {
  const { services, form, account } = visit
  const email = emailOf(form.get('email') ?? '')
  const role = form.get('role') ?? ''
  if (!isEmail(email))
    return membersPage(visit, { wrong: 'This is not an email address. Write it like maria@example.com.' })
  if (!isRole(role)) return membersPage(visit, { wrong: 'Choose a role: viewer or owner.' })
  const { postgres, outbox } = services
  const made = await inviteMember(postgres, outbox, visit.actor, { accountId: account.accountId, email, role })
  if (!made) return membersPage(visit, { wrong: `${email} is a member already. You can change the role in the list.` })
  const address = linkAddress(services.publicUrl, 'invitation', made.token)
  return membersPage(visit, { link: { email, address, isMailed: made.isMailed } })
}

async function changeMember(visit: AccountVisit): Promise<Reply> {
  const { services, form } = visit
  const role = form.get('role') ?? ''
  if (!isRole(role)) return membersPage(visit, { wrong: 'Choose a role: viewer or owner.' })
  const isChanged = await changeRole(services.postgres, visit.actor, memberOf(visit), role)
  return afterChange(visit, isChanged, 'role')
}

export function afterChange(visit: AccountVisit, isChanged: boolean, what: keyof typeof done): Reply | Promise<Reply> {
  if (!isChanged) return membersPage(visit, { wrong: lastOwner })
  // Owners who remove themselves are signed out, so the next page is the sign-in.
  return goTo(accountPath(visit, '/account/members', { done: what }))
}

export const memberOf = ({ form, account }: AccountVisit) => ({
  accountId: account.accountId,
  userId: form.get('member') ?? '',
})

async function revoke(visit: AccountVisit): Promise<Reply> {
  const { services, form, account } = visit
  await revokeInvitation(services.postgres, visit.actor, account.accountId, form.get('invitation') ?? '')
  return goTo(accountPath(visit, '/account/members', { done: 'revoked' }))
}

interface Outcome {
  wrong?: string
  /** Shown once: only its hash is stored. */
  link?: NewLink
}

interface NewLink {
  email: string
  address: string
  isMailed: boolean
}

async function membersPage(visit: AccountVisit, { wrong, link }: Outcome = {}): Promise<Reply> {
  const { services, account, query } = visit
  const isOwner = account.role === 'owner'
  const [members, invitations] = await Promise.all([
    membersOf(services.postgres, account.accountId),
    isOwner ? invitationsTo(services.postgres, account.accountId) : [],
  ])
  const message = done[query.get('done') ?? '']
  const body = html`${accountHead(visit, '/account/members')}
${message && notice(message)}${wrong && fault(wrong)}${link && newLink(visit, link)}
<section aria-labelledby="members"><h2 id="members">${members.length === 1 ? '1 member' : `${members.length} members`}</h2>
<div class="card"><table class="people">
<thead><tr><th scope="col">Email</th><th scope="col">Role</th>${isOwner && html`<th scope="col" class="hide">Second factor</th>`}<th scope="col">Last sign-in</th>${isOwner && html`<th scope="col"><span class="unseen">Change</span></th>`}</tr></thead>
<tbody>${members.map((member) => memberRow(visit, member))}</tbody></table></div></section>
${
  invitations.length > 0 &&
  html`<section aria-labelledby="invitations"><h2 id="invitations">Invitations</h2>
<div class="card"><table class="people">
<thead><tr><th scope="col">Email</th><th scope="col">Role</th><th scope="col">Expires</th><th scope="col"><span class="unseen">Change</span></th></tr></thead>
<tbody>${invitations.map((invitation) => invitationRow(visit, invitation))}</tbody></table></div></section>`
}
${isOwner ? inviteForm(visit, wrong !== undefined) : html`<p class="note">Owners of the account can invite others and change roles.</p>`}`
  return show(layout({ title: 'Members', visit, body }), wrong ? 422 : 200)
}

function memberRow(visit: AccountVisit, { userId, email, role, hasSecondFactor, signedInAt }: Member): Html {
  const isMe = userId === visit.session.user.id
  const isOwner = visit.account.role === 'owner'
  const hidden = html`${tokenField(visit.formToken)}${accountField(visit)}<input type="hidden" name="member" value="${userId}">`
  const actions = html`<details class="people-menu"><summary class="button small">Change<span class="unseen"> ${email}</span></summary><div>
  <form method="post" action="/account/members/role">${hidden}
    <button class="button" name="role" value="${role === 'owner' ? 'viewer' : 'owner'}">${role === 'owner' ? 'Make viewer' : 'Make owner'}</button></form>
  <a class="button danger" href="${accountPath(visit, '/account/members/remove', { member: userId })}">${isMe ? 'Leave this account' : 'Remove from account'}</a>
</div></details>`
  return html`<tr><th scope="row">${email}${isMe && html` <span class="people-me">you</span>`}</th><td>${role}</td>
${isOwner && html`<td class="hide">${hasSecondFactor ? 'on' : 'off'}</td>`}<td data-label="Last sign-in:">${lastSignIn(visit, signedInAt)}</td>${
    isOwner && html`<td class="right">${actions}</td>`
  }</tr>`
}

const lastSignIn = ({ services }: AccountVisit, at: Date | null): HtmlValue =>
  at ? timeElement(at, relativeText(at, services.now())) : 'never'

const invitationRow = (visit: AccountVisit, { id, email, role, expiresAt }: Invitation): Html => html`
<tr><th scope="row">${email}</th><td>${role}</td><td data-label="Expires">${timeElement(expiresAt, relativeText(expiresAt, visit.services.now()))}</td>
<td class="right"><form method="post" action="/account/invitations/revoke">${tokenField(visit.formToken)}${accountField(visit)}
<input type="hidden" name="invitation" value="${id}"><button class="button small danger">Revoke<span class="unseen"> the invitation of ${email}</span></button></form></td></tr>`

const inviteForm = (visit: AccountVisit, isAgain: boolean): Html => html`
<section aria-labelledby="invite"><h2 id="invite">Invite somebody</h2>
<form class="card form people-form" method="post" action="/account/members/invite">
  ${tokenField(visit.formToken)}${accountField(visit)}
  <label>Email <input name="email" type="email" required maxlength="254" autocomplete="off" value="${isAgain && (visit.form.get('email') ?? '')}"></label>
  <label>Role <select name="role"><option value="viewer">Viewer: sees everything, changes nothing</option><option value="owner"${visit.form.get('role') === 'owner' && html` selected`}>Owner: changes everything</option></select></label>
  <div><button class="button first">Create invitation</button>
  <span class="hint">${
    visit.services.outbox
      ? 'They get a mail with a link. It works once, for seven days.'
      : 'You get a link to pass on. It works once, for seven days. Footfall sends no mail, because no mail server is set up.'
  }</span></div>
</form></section>`

const newLink = ({ services }: AccountVisit, { email, address, isMailed }: NewLink): Html => html`
<section class="people-link" role="status"><p>${
  isMailed
    ? html`<b>A mail with this link is on its way to ${email}.</b> You can also pass it on yourself.`
    : html`<b>Pass this link on to ${email}.</b>${services.outbox && ' It is not sent by mail: there were too many invitations in the last hour.'}`
} It is shown only now and works once.</p>
<p class="row"><code id="link" tabindex="0">${address}</code><button class="button scripted" type="button" data-copy="link">Copy link</button></p></section>`
