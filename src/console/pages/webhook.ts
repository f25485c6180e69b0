// One webhook: its log, and what owners can do with it.
import { InvalidSetting } from '../../accounts/site-rules.ts'
import { counted, inFull } from '../../display/formats.ts'
import { removeWebhook, replayWebhook, rotateWebhook, switchWebhook, testWebhook } from '../../users/webhook-changes.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { deliveriesOf, type LoggedDelivery } from '../../webhooks/log.ts'
import { type Webhook, webhooksOf } from '../../webhooks/webhooks.ts'
import { tokenField } from '../forms/forms.ts'
import { nonceField, nonceOf } from '../forms/nonces.ts'
import { fault, layout, notice, settingsHead } from '../layout/layout.ts'
import { dayText, minuteText, relativeText, timeElement } from '../layout/times.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type Reply, type Route, type SiteVisit, show } from '../route.ts'
import { secretOnce, shownBefore, stateMark, webhookState, webhooksPath } from './webhooks.ts'

const path = '/sites/:domain/settings/webhooks/:id'

/** For owners only: whoever knows the whole address may be able to use it. */
export const webhookRoutes: readonly Route[] = [
  { method: 'GET', path, access: 'site-owner', handle: (visit) => namedPage(visit) },
  { method: 'POST', path: `${path}/test`, access: 'site-owner', handle: sendTestMessage },
  { method: 'POST', path: `${path}/replay`, access: 'site-owner', handle: replayMessage },
  { method: 'POST', path: `${path}/state`, access: 'site-owner', handle: switchNamed },
  { method: 'POST', path: `${path}/rotate`, access: 'site-owner', handle: rotateNamed },
  { method: 'POST', path: `${path}/delete`, access: 'site-owner', handle: deleteNamed },
]

const pageLength = 50

/** Success messages by `?done=`. */
const done = new Map([
  ['test', 'A test is on its way. Reload the page to see what became of it.'],
  ['replayed', 'The message is on its way once more. Reload the page to see what became of it.'],
  ['enabled', 'The webhook is enabled, and gets messages from now on.'],
  ['disabled', 'The webhook is disabled. What waited for it has failed.'],
])

async function named({ services, site, params }: SiteVisit): Promise<Webhook> {
  const webhook = (await webhooksOf(services.postgres, site.id)).find(({ id }) => id === params.id)
  if (!webhook) throw new Refusal('not_found')
  return webhook
}

async function namedPage(visit: SiteVisit): Promise<Reply> {
  return show(await webhookPage(visit, await named(visit)))
}

async function sendTestMessage(visit: SiteVisit): Promise<Reply> {
  const { services, site, form } = visit
  const nonce = nonceOf(form)
  return change(visit, 'test', (webhook) => testWebhook(services.postgres, site, webhook, nonce))
}

async function replayMessage(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const replay = { delivery: form.get('delivery') ?? '', nonce: nonceOf(form) }
  return change(visit, 'replayed', (webhook) => replayWebhook(services.postgres, actor, site, webhook, replay))
}

async function switchNamed(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const disabledField = form.get('disabled')
  if (disabledField !== 'yes' && disabledField !== 'no') throw new Refusal('foreign_form')
  const disabled = disabledField === 'yes'
  return change(visit, disabled ? 'disabled' : 'enabled', (webhook) =>
    switchWebhook(services.postgres, actor, site, webhook, disabled),
  )
}

async function change(visit: SiteVisit, result: string, apply: (webhook: Webhook) => Promise<unknown>): Promise<Reply> {
  const webhook = await named(visit)
  try {
    await apply(webhook)
  } catch (error) {
    if (!(error instanceof InvalidSetting)) throw error
    return show(await webhookPage(visit, webhook, fault(`${error.message} ${error.advice}`)), 422)
  }
  return goTo(webhooksPath(visit, `/${webhook.id}?done=${result}`))
}

async function rotateNamed(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const webhook = await named(visit)
  // What the form has seen: a form that is sent again finds a later version.
  const seen = { ...webhook, secretVersion: Number(/^\d{1,9}$/.exec(form.get('version') ?? '')?.[0] ?? -1) }
  const rotated = await rotateWebhook(services.postgres, services.keySecrets, actor, site, seen)
  const now = await named(visit)
  if (!rotated) return show(await webhookPage(visit, now, shownBefore), 409)
  return show(
    await webhookPage(visit, now, secretOnce(rotated, html`The webhook has a new secret, and the old one has ended.`)),
  )
}

async function deleteNamed(visit: SiteVisit): Promise<Reply> {
  const { services, actor, site, form } = visit
  const webhook = await named(visit)
  if (form.get('confirm') !== 'yes')
    return show(await webhookPage(visit, webhook, fault('Confirm that the webhook is to be deleted.')), 422)
  await removeWebhook(services.postgres, actor, site, webhook)
  return goTo(webhooksPath(visit, '?done=deleted'))
}

/** `top`: the result of a form. */
async function webhookPage(visit: SiteVisit, webhook: Webhook, top?: HtmlValue): Promise<Html> {
  const { services, site, query } = visit
  const before = query.get('before')
  // Reads one more than the page shows, to see whether there is another page.
  const read = await deliveriesOf(services.postgres, webhook.id, { before, limit: pageLength + 1 })
  const deliveries = read.slice(0, pageLength)
  const older = read.length > pageLength ? deliveries.at(-1)?.id : undefined
  const message = top ? undefined : done.get(query.get('done') ?? '')
  const facts: [string, HtmlValue][] = [
    ['State', webhookState(webhook)],
    [
      'Created',
      html`${timeElement(webhook.createdAt, dayText(webhook.createdAt))}<span class="sub">by ${webhook.createdBy}</span>`,
    ],
  ]
  const body = html`${settingsHead(site, '/settings/webhooks')}
<p class="back"><a href="${webhooksPath(visit)}"><span aria-hidden="true">← </span>All webhooks</a></p>
<h2 class="key-name webhook-url">${webhook.url}</h2>
${message && notice(message)}${top}
<dl class="card key-facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<section aria-labelledby="log"><div class="row keys-head"><h2 id="log">Messages of the last 30 days</h2><span class="spring"></span>${
    !webhook.disabledAt && testForm(visit, webhook)
  }</div>
${deliveries.length > 0 ? table(visit, webhook, deliveries) : html`<p class="card padded no-reports">${before ? 'There are no older messages.' : 'No message yet. Send a test to see whether the receiver takes it.'}</p>`}
<p class="row people-pages">${before && html`<a class="button" href="${webhooksPath(visit, `/${webhook.id}`)}">Newest</a>`}${
    older && html`<a class="button" href="${webhooksPath(visit, `/${webhook.id}?before=${older}`)}">Older</a>`
  }</p></section>
${actions(visit, webhook)}`
  return layout({ title: `Webhook · ${site.domain}`, visit, site, body })
}

const post = (visit: SiteVisit, { id }: Webhook, action: string): Html =>
  html`method="post" action="${webhooksPath(visit, `/${id}/${action}`)}"`

const testForm = (visit: SiteVisit, webhook: Webhook): Html =>
  html`<form ${post(visit, webhook, 'test')} data-once>${tokenField(visit.formToken)}${nonceField()}<button class="button first">Send a test</button></form>`

const table = (visit: SiteVisit, webhook: Webhook, deliveries: readonly LoggedDelivery[]): Html => html`
<div class="card"><table class="people reports webhook-log">
<thead><tr><th scope="col">Message</th><th scope="col">What became of it</th><th scope="col"><span class="unseen">Replay</span></th></tr></thead>
<tbody>${deliveries.map((delivery) => row(visit, webhook, delivery))}</tbody></table></div>`

function row(visit: SiteVisit, webhook: Webhook, delivery: LoggedDelivery): Html {
  const { id, type, body, state, createdAt, replayOf, problem } = delivery
  const isOver = state !== 'waiting' && state !== 'sending'
  return html`<tr><th scope="row"><code>${type}</code><span class="sub">${timeElement(createdAt, relativeText(createdAt, visit.services.now()))}${replayOf && ', a replay'}</span>
<details><summary>Details<span class="unseen"> of the message of ${minuteText(createdAt)}</span></summary><p class="sub mono">${replayOf ?? id}</p><pre tabindex="0">${body}</pre></details></th>
<td>${stateMark(state)}<span class="sub">${answer(delivery)}</span>${problem && html`<span class="sub webhook-problem">${problem}</span>`}${
    state === 'waiting' && html`<span class="sub">${nextAttempt(delivery, visit.services.now())}</span>`
  }</td>
<td class="right">${
    isOver &&
    !webhook.disabledAt &&
    html`<form ${post(visit, webhook, 'replay')} data-once>${tokenField(visit.formToken)}${nonceField()}<input type="hidden" name="delivery" value="${id}"><button class="button small">Replay<span class="unseen"> the ${type} of ${minuteText(createdAt)}</span></button></form>`
  }</td></tr>`
}

/** `204, 87 ms, 2 attempts` */
const answer = ({ httpStatus, durationMs, attempts }: LoggedDelivery): string =>
  [httpStatus, durationMs !== null && `${inFull(durationMs)} ms`, attempts > 0 && counted(attempts, 'attempt')]
    .filter(Boolean)
    .join(', ')

function nextAttempt({ nextAttemptAt }: LoggedDelivery, now: number): Html {
  const isNow = nextAttemptAt.getTime() <= now
  return html`tried ${isNow ? 'in a moment' : timeElement(nextAttemptAt, relativeText(nextAttemptAt, now))}`
}

const actions = (visit: SiteVisit, webhook: Webhook): Html => html`<div class="actions">
<form class="card form" ${post(visit, webhook, 'rotate')} data-once>${tokenField(visit.formToken)}<input type="hidden" name="version" value="${webhook.secretVersion}">
  <h3>New secret</h3>
  <p>The old one ends at once. Messages that the receiver refuses until it knows the new one are sent again.</p>
  <div><button class="button">Make a new secret</button></div>
</form>
<form class="card form" ${post(visit, webhook, 'state')}>${tokenField(visit.formToken)}<input type="hidden" name="disabled" value="${webhook.disabledAt ? 'no' : 'yes'}">
  <h3>${webhook.disabledAt ? 'Enable' : 'Disable'}</h3>
  <p>${webhook.disabledAt ? 'It gets messages from then on.' : 'It gets no more messages, and what waits for it fails. You can enable it again.'}</p>
  <div><button class="button">${webhook.disabledAt ? 'Enable webhook' : 'Disable webhook'}</button></div>
</form>
<form class="card form" ${post(visit, webhook, 'delete')}>${tokenField(visit.formToken)}
  <h3>Delete</h3>
  <p>For good, with its secret and its log.</p>
  <label class="confirm"><input type="checkbox" name="confirm" value="yes" required>Yes, delete this webhook</label>
  <div><button class="button danger">Delete webhook</button></div>
</form>
</div>`
