// Removes a member, or lets somebody leave. A page before that lists their keys and links that still work, and offers to end them, too.
import type { KeyListing } from '../../accounts/keys.ts'
import { counted } from '../../display/formats.ts'
import { keysLeftBehind, type LinkLeftBehind, linksLeftBehind } from '../../users/left-behind.ts'
import { membersOf, removeMember } from '../../users/members.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { accountField, accountHead, accountPath } from '../layout/account-head.ts'
import { layout, sitePath } from '../layout/layout.ts'
import { relativeText, timeElement } from '../layout/times.ts'
import { Refusal } from '../refusals.ts'
import { type AccountVisit, type Reply, type Route, show } from '../route.ts'
import { afterChange, memberOf } from './members.ts'

export const memberRemovalRoutes: readonly Route[] = [
  { method: 'GET', path: '/account/members/remove', access: 'owner', handle: confirmRemoval },
  { method: 'POST', path: '/account/members/remove', access: 'owner', handle: dismissMember },
]

async function confirmRemoval(visit: AccountVisit): Promise<Reply> {
  const { services, account, session, query } = visit
  const members = await membersOf(services.postgres, account.accountId)
  const member = members.find(({ userId }) => userId === query.get('member'))
  if (!member) throw new Refusal('not_found')
  const maker = { accountId: account.accountId, email: member.email, now: services.now() }
  const [keys, links] = await Promise.all([
    keysLeftBehind(services.postgres, maker),
    linksLeftBehind(services.postgres, maker),
  ])
  const isMe = member.userId === session.user.id
  const title = isMe ? `Leave ${account.name}` : `Remove ${member.email}`
  const who = isMe ? 'You' : 'They'
  const list = accountPath(visit, '/account/members')
  const body = html`${accountHead(visit, '/account/members')}
<p class="back"><a href="${list}"><span aria-hidden="true">← </span>All members</a></p>
<h2 class="key-name">${title}</h2>
<form class="card form people-removal" method="post" action="/account/members/remove">
  ${tokenField(visit.formToken)}${accountField(visit)}<input type="hidden" name="member" value="${member.userId}">
  <p>${who} will be signed out everywhere, and see nothing of ${account.name} any more.${
    keys.length + links.length === 0 && ` ${who} made no API keys and no shared links that still work.`
  }</p>
  ${keys.length > 0 && keyChoice(visit, who, keys)}
  ${links.length > 0 && linkChoice(visit, who, links)}
  <div class="row"><button class="button danger">${isMe ? 'Leave this account' : 'Remove from account'}</button><a class="button" href="${list}">Cancel</a></div>
</form>`
  return show(layout({ title, visit, body }))
}

const keyChoice = (visit: AccountVisit, who: string, keys: readonly KeyListing[]): Html =>
  choice({
    legend: madeText(who, keys.length, 'API key'),
    items: keys.map(({ id, name, prefix, domain, lastUsedAt }) => ({
      href: accountPath(visit, `/account/keys/${id}`),
      name,
      about: html`<span class="mono">${prefix}…</span>, ${domain ?? 'whole account'}, ${lastUse(visit, lastUsedAt)}`,
    })),
    field: html`<input type="checkbox" name="keys" value="disable" checked>${keys.length === 1 ? 'Disable this key. It can be enabled again.' : 'Disable these keys. They can be enabled again.'}`,
  })

const linkChoice = (visit: AccountVisit, who: string, links: readonly LinkLeftBehind[]): Html =>
  choice({
    legend: madeText(who, links.length, 'shared link'),
    items: links.map(({ id, name, domain, lastUsedAt }) => ({
      href: sitePath({ domain }, `/settings/links/${id}`),
      name,
      about: html`${domain}, ${lastUse(visit, lastUsedAt)}`,
    })),
    field: html`<input type="checkbox" name="links" value="revoke" checked>Revoke ${links.length === 1 ? 'this link' : 'these links'}, for good.`,
  })

const madeText = (who: string, count: number, what: string): string =>
  `${who} made ${counted(count, what)} that still ${count === 1 ? 'works' : 'work'}`

interface Choice {
  legend: string
  items: readonly { href: string; name: string; about: Html }[]
  field: Html
}

/** Checked by default: the member may have copies, and a key that is ended by mistake is noticed sooner than one that is left by mistake. */
const choice = ({ legend, items, field }: Choice): Html => html`<fieldset class="choice"><legend>${legend}</legend>
  <ul>${items.map(({ href, name, about }) => html`<li><a href="${href}">${name}</a><span class="sub">${about}</span></li>`)}</ul>
  <label class="confirm">${field}</label></fieldset>`

const lastUse = ({ services }: AccountVisit, at: Date | null): HtmlValue =>
  at ? html`last used ${timeElement(at, relativeText(at, services.now()))}` : 'never used'

async function dismissMember(visit: AccountVisit): Promise<Reply> {
  const { services, form } = visit
  const keys = await removeMember(services.postgres, visit.actor, memberOf(visit), {
    endsKeys: form.get('keys') === 'disable',
    endsLinks: form.get('links') === 'revoke',
    now: services.now(),
  })
  for (const id of keys ?? []) services.directory.forget(id)
  return afterChange(visit, keys !== undefined, 'removed')
}
