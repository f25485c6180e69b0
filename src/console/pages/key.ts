// One key: everything about it and, for owners, what can be done with it.
import type { KeyListing } from '../../accounts/keys.ts'
import { hourMs } from '../../durations.ts'
import { changeKeyExpiry, removeKey, replaceKey, switchKey } from '../../users/key-changes.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { chosenExpiry, expiryChoice, expiryOfKey } from '../forms/expiry-choice.ts'
import { nonceField, nonceOf } from '../forms/nonces.ts'
import { fault, notice } from '../layout/layout.ts'
import { dayText, minuteText, timeElement } from '../layout/times.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, show } from '../route.ts'
import { expiresSoon, expiryText } from './key-expiry.ts'
import { hasAccess, lastUse, lineage, scopeText, stateMark } from './key-list.ts'
import { type KeyScope, keysAt, namedKey, sitesAt } from './key-scope.ts'
import { type KeyUsage, sparkline, usageOf, windowText } from './key-usage.ts'
import { shownOnce } from './new-key.ts'

const done: Readonly<Record<string, string>> = {
  disabled: 'The key is disabled. Requests with it are refused at once.',
  enabled: 'The key is enabled and works again.',
  expiry: 'The expiry is changed.',
}

/** How long the old key works after a rotation. */
const overlaps = [
  ['now', 'Now', 0],
  ['1h', 'In 1 hour', 1],
  ['24h', 'In 24 hours', 24],
  ['7d', 'In 7 days', 7 * 24],
] as const

export async function keyPage(scope: KeyScope, wrong?: string): Promise<Reply> {
  const keys = await keysAt(scope)
  const key = namedKey(scope, keys)
  const usage = (await usageOf(scope, [key])).get(key.id) as KeyUsage
  const message = done[scope.visit.query.get('done') ?? '']
  const body = html`
<p class="back"><a href="${scope.path()}"><span aria-hidden="true">← </span>All keys</a></p>
<h2 class="key-name">${key.name}</h2>
${message && notice(message)}${wrong && fault(wrong)}
${about(scope, key, keys, usage)}
${scope.isOwner && actions(scope, key)}`
  return show(scope.page(key.name, body), wrong ? 422 : 200)
}

function about(scope: KeyScope, key: KeyListing, keys: readonly KeyListing[], usage: KeyUsage): Html {
  const now = scope.visit.services.now()
  const facts: [string, HtmlValue][] = [
    ['Key', html`<span class="mono">${key.prefix}…</span>${lineage(key, keys)}`],
    ['Reads', scopeText(scope, key)],
    [
      'State',
      html`${stateMark(key, now)}<span class="sub${expiresSoon(key, now) && ' soon'}">${expiryText(key, now)}</span>`,
    ],
    [
      'Created',
      html`${timeElement(key.createdAt, dayText(key.createdAt))}<span class="sub">by ${key.createdBy}</span>`,
    ],
    ['Last used', lastUse(key, now)],
    ['Last 24 hours', sparkline(usage.byHour, 32)],
    ['This hour', windowText(scope, key, usage)],
  ]
  return html`<dl class="card key-facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

function actions(scope: KeyScope, key: KeyListing): Html {
  const { form, services } = scope.visit
  const now = services.now()
  const standard = key.expiresAt ? '90' : 'never'
  const post = (action: string) => html`method="post" action="${scope.path(`/${key.id}/${action}`)}"`
  const overlap = form.get('overlap') ?? '24h'
  return html`<div class="actions">
<form class="card form" ${post('rotate')} data-once>${scope.hiddenFields}${nonceField()}
  <h3>Rotate</h3>
  <p>Makes a new key that reads the same. The old one works a little longer, so that you can replace it everywhere.</p>
  <fieldset class="choice"><legend>The old key ends</legend><div class="options">${overlaps.map(
    ([value, name]) =>
      html`<label><input type="radio" name="overlap" value="${value}"${value === overlap && html` checked`}>${name}</label>`,
  )}</div></fieldset>
  ${expiryChoice(form, now, expiryOfKey, { legend: 'The new key expires', standard })}
  <div><button class="button first">Rotate key</button></div>
</form>
<form class="card form" ${post('expiry')}>${scope.hiddenFields}
  <h3>Expiry</h3>
  <p>A later date also makes an expired key work again.</p>
  ${expiryChoice(form, now, expiryOfKey, { legend: 'It expires', standard })}
  <div><button class="button">Change expiry</button></div>
</form>
<form class="card form" ${post('state')}>${scope.hiddenFields}<input type="hidden" name="disabled" value="${key.disabled ? 'no' : 'yes'}">
  <h3>${key.disabled ? 'Enable' : 'Disable'}</h3>
  <p>${
    key.disabled
      ? 'The key works again at once, until it expires.'
      : html`Requests with this key are refused at once with <code>key_disabled</code>. You can enable it again.`
  }</p>
  <div><button class="button">${key.disabled ? 'Enable key' : 'Disable key'}</button></div>
</form>
<form class="card form" ${post('delete')}>${scope.hiddenFields}
  <h3>Delete</h3>
  <p>For good. Requests with this key are refused with <code>invalid_key</code>.</p>
  <label class="confirm"><input type="checkbox" name="confirm" value="yes" required>Yes, delete ${key.name}</label>
  <div><button class="button danger">Delete key</button></div>
</form>
</div>`
}

export async function switchNamedKey(scope: KeyScope): Promise<Reply> {
  const key = namedKey(scope, await keysAt(scope))
  const disabledField = scope.visit.form.get('disabled')
  if (disabledField !== 'yes' && disabledField !== 'no') throw new Refusal('foreign_form')
  const { postgres, directory } = scope.visit.services
  await switchKey(postgres, scope.visit.actor, key, disabledField === 'yes')
  directory.forget(key.id)
  return goTo(scope.path(`/${key.id}`, disabledField === 'yes' ? 'disabled' : 'enabled'))
}

export async function changeNamedExpiry(scope: KeyScope): Promise<Reply> {
  const key = namedKey(scope, await keysAt(scope))
  const { postgres, directory, now } = scope.visit.services
  const expiry = chosenExpiry(scope.visit.form, now(), expiryOfKey)
  if ('wrong' in expiry) return keyPage(scope, expiry.wrong)
  await changeKeyExpiry(postgres, scope.visit.actor, key, expiry.expiresAt)
  directory.forget(key.id)
  return goTo(scope.path(`/${key.id}`, 'expiry'))
}

export async function rotateNamedKey(scope: KeyScope): Promise<Reply> {
  const old = namedKey(scope, await keysAt(scope))
  const { form, services } = scope.visit
  const [, , hours] = overlaps.find(([value]) => value === form.get('overlap')) ?? []
  const expiry = chosenExpiry(form, services.now(), expiryOfKey)
  if (!hasAccess(scope))
    return keyPage(scope, 'The plan of the account has no API access, so a new key would not work.')
  if (hours === undefined) return keyPage(scope, 'Choose when the old key ends.')
  if ('wrong' in expiry) return keyPage(scope, expiry.wrong)
  const nonce = nonceOf(form)
  const oldExpiresAt = new Date(services.now() + hours * hourMs)
  return shownOnce(scope, async () => {
    const key = await replaceKey(services.postgres, services.keySecrets, scope.visit.actor, old, {
      oldExpiresAt,
      expiresAt: expiry.expiresAt ?? undefined,
      nonce,
    })
    if (!key) throw new Refusal('not_found')
    services.directory.forget(old.id)
    const sites = await sitesAt(scope)
    const site = sites.find(({ domain }) => domain === old.domain) ?? sites[0]
    const ends = old.expiresAt && old.expiresAt < oldExpiresAt ? old.expiresAt : oldExpiresAt
    const isOver = ends.getTime() <= services.now()
    const lead = html`<b>${old.name}</b> has a new key. The old one, ${old.prefix}…, ${isOver ? 'has ended' : html`works until ${minuteText(ends)}`}.`
    return { key, site, lead }
  })
}

export async function deleteNamedKey(scope: KeyScope): Promise<Reply> {
  const key = namedKey(scope, await keysAt(scope))
  if (scope.visit.form.get('confirm') !== 'yes') return keyPage(scope, 'Confirm that the key is to be deleted.')
  const { postgres, directory } = scope.visit.services
  await removeKey(postgres, scope.visit.actor, key)
  directory.forget(key.id)
  return goTo(scope.path('', 'deleted'))
}
