// The list of keys, with what needs attention above it.
import type { KeyListing } from '../../accounts/keys.ts'
import { plans } from '../../accounts/plans.ts'
import { counted, inFull } from '../../display/formats.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { notice } from '../layout/layout.ts'
import { dayText, relativeText, timeElement } from '../layout/times.ts'
import { expiresSoon, expiryText, stateOf } from './key-expiry.ts'
import { type KeyScope, keysAt } from './key-scope.ts'
import { type KeyUsage, sparkline, usageOf, windowText } from './key-usage.ts'

/** Success messages by `?done=`. */
const done: Readonly<Record<string, string>> = {
  deleted: 'The key is deleted. Requests with it are refused at once.',
}

/** `top`: the result of a form, above the list. */
export async function listPage(scope: KeyScope, top?: HtmlValue): Promise<Html> {
  const { visit, isOwner } = scope
  const keys = await keysAt(scope)
  const usage = await usageOf(scope, keys)
  const message = done[visit.query.get('done') ?? '']
  return scope.page(
    'API keys',
    html`
${message && notice(message)}${top}${hasAccess(scope) ? expiryWarnings(scope, keys) : noAccess(scope)}
<div class="row keys-head"><h2>${counted(keys.length, 'key')}</h2><span class="spring"></span>${
      isOwner && hasAccess(scope) && html`<a class="button first" href="${scope.path('/new')}">Create a key</a>`
    }</div>
${keys.length === 0 ? emptyState(scope) : table(scope, keys, usage)}
<p class="note">${
      scope.site
        ? 'A key reads statistics and nothing else: this site’s, or, for a key of the whole account, those of all its sites.'
        : 'A key reads statistics and nothing else: those of one site, or of all sites of the account.'
    } Keep keys on a server: whoever has a key can read. <a href="/api/v1/docs">How to use the API</a>${
      keys.length > 0 &&
      html`. Requests of the last 24 hours and the last use are up to a minute old${
        !visit.services.limiter &&
        '. The requests of this hour are known to the API process only: with REDIS_URL they are shown here, too'
      }`
    }.</p>`,
  )
}

export const hasAccess = ({ visit }: KeyScope): boolean => plans[visit.account.plan] !== null

/** Says how to get API access on a plan without it. */
function noAccess({ visit: { account } }: KeyScope): Html {
  const offers = Object.entries(plans).flatMap(([name, plan]) =>
    plan ? [`${name} (${inFull(plan.requestsPerHour)})`] : [],
  )
  const last = offers.pop()
  return html`<section class="card padded no-access" aria-labelledby="no-access">
  <h2 id="no-access">The ${account.plan} plan has no API access</h2>
  <p>Keys work on other plans, with so many requests per hour for each key: ${offers.join(', ')} and ${last}. Whoever runs this Footfall changes the plan with this command; keys then work within a second.</p>
  <pre tabindex="0">footfall account plan ${account.accountId} Starter</pre>
</section>`
}

/** Warns of keys that expire soon, but not of replaced ones, which are meant to end. */
function expiryWarnings(scope: KeyScope, keys: readonly KeyListing[]): HtmlValue {
  const now = scope.visit.services.now()
  return keys
    .filter((key) => expiresSoon(key, now) && !successorOf(key, keys))
    .map(
      (key) =>
        html`<p class="warning"><b>${key.name}</b> (${key.prefix}…) ${expiryText(key, now)}. ${
          scope.isOwner
            ? html`<a href="${scope.path(`/${key.id}`)}">Rotate it or change its expiry</a>, so that nothing stops.`
            : 'Ask an owner of the account to rotate it or to change its expiry.'
        }</p>`,
    )
}

const emptyState = (scope: KeyScope): Html => html`<section class="card padded no-keys">
  <p><b>There are no keys yet.</b></p>
  <p>With a key your own programs read the numbers of ${scope.site ? scope.site.domain : 'your sites'}: a report, a dashboard, a widget.${
    hasAccess(scope) && !scope.isOwner && ' An owner of the account can create one.'
  }</p>
</section>`

const table = (scope: KeyScope, keys: readonly KeyListing[], usage: ReadonlyMap<string, KeyUsage>): Html =>
  // On a phone each row is laid out as a card, which would take the roles of a table away.
  html`<section class="card"><table class="keys" role="table" aria-label="API keys">
<thead role="rowgroup"><tr role="row">
  <th scope="col" role="columnheader">Name</th><th scope="col" role="columnheader">Key</th><th scope="col" role="columnheader">Last used</th>
  <th scope="col" role="columnheader">State</th><th scope="col" role="columnheader">Last 24 hours</th>
  <th scope="col" role="columnheader" class="right">This hour</th>${scope.isOwner && html`<th scope="col" role="columnheader"><span class="unseen">Actions</span></th>`}
</tr></thead>
<tbody role="rowgroup">${keys.map((key) => row(scope, key, keys, usage.get(key.id) as KeyUsage))}</tbody></table></section>`

function row(scope: KeyScope, key: KeyListing, keys: readonly KeyListing[], usage: KeyUsage): Html {
  const now = scope.visit.services.now()
  const page = scope.path(`/${key.id}`)
  return html`<tr role="row">
  <th scope="row" role="rowheader"><a href="${page}"><b>${key.name}</b></a><span class="sub">${scopeText(scope, key)} · ${timeElement(key.createdAt, dayText(key.createdAt))}<br>by ${key.createdBy}</span></th>
  <td role="cell"><span class="mono">${key.prefix}…</span>${lineage(key, keys)}</td>
  <td role="cell" data-name="Last used">${lastUse(key, now)}</td>
  <td role="cell" class="state-cell">${stateMark(key, now)}<span class="sub${expiresSoon(key, now) && ' soon'}">${expiryText(key, now)}</span></td>
  <td role="cell" data-name="Last 24 hours">${sparkline(usage.byHour, 24)}</td>
  <td role="cell" data-name="This hour" class="right">${windowText(scope, key, usage)}</td>${
    scope.isOwner &&
    html`
  <td role="cell" class="right"><a class="button small" href="${page}" aria-label="Manage ${key.name}">Manage</a></td>`
  }
</tr>`
}

export const scopeText = ({ site }: KeyScope, { domain }: KeyListing): string =>
  domain === null ? 'whole account' : domain === site?.domain ? 'this site' : domain

export const lastUse = ({ lastUsedAt }: KeyListing, now: number): Html =>
  lastUsedAt ? timeElement(lastUsedAt, relativeText(lastUsedAt, now)) : html`never`

/** The colour repeats what the word says. */
export function stateMark(key: KeyListing, now: number): Html {
  const state = stateOf(key, now)
  const look = state === 'active' ? (expiresSoon(key, now) ? ' soon' : '') : ' off'
  return html`<span class="state${look}"><i></i>${state}</span>`
}

const successorOf = ({ id }: KeyListing, keys: readonly KeyListing[]): KeyListing | undefined =>
  keys.find(({ rotatedFrom }) => rotatedFrom === id)

/** Which key it replaced, and which replaced it. */
export function lineage(key: KeyListing, keys: readonly KeyListing[]): HtmlValue {
  const before = keys.find(({ id }) => id === key.rotatedFrom)
  const after = successorOf(key, keys)
  return [
    key.rotatedFrom !== null &&
      html`<span class="sub">replaces ${before ? html`<span class="mono">${before.prefix}…</span>` : 'a deleted key'}</span>`,
    after && html`<span class="sub">replaced by <span class="mono">${after.prefix}…</span></span>`,
  ]
}
