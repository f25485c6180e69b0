// Shared links: the dashboard of a site for people without an account, its lists as CSV, and the numbers of the widget (decision D-188).

import { publicQueueKey } from '../../stats/fair-queue.ts'
import { readStoredFilters } from '../../stats/questions/filters.ts'
import { notesOfDays } from '../../users/notes.ts'
import { unlockedNote, unlockedSeconds } from '../../users/unlocked-link.ts'
import { html } from '../../web/html.ts'
import { asking, type Interval, momentOf, type Totals } from '../dashboard/answers.ts'
import { defaultState } from '../dashboard/state.ts'
import { showCsv, showDashboard, type Viewing } from '../dashboard/view.ts'
import { tokenField } from '../forms/forms.ts'
import { contentPolicy } from '../layout/content-policy.ts'
import { fault, layout } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { goTo, type LinkVisit, type Reply, type Route, show } from '../route.ts'
import { judgeWithinLimits } from '../sign-in/signing-in.ts'

/** A dashboard asks at most ten questions, reads titles, finds its first day, and counts who is there now. A file may have as many rows as nothing else. */
const costOfPage = 13

export const shareRoutes: readonly Route[] = [
  { method: 'GET', path: '/share/:token', access: 'link', cost: costOfPage, handle: sharedDashboard },
  {
    method: 'GET',
    path: '/share/:token/csv/:report',
    access: 'link',
    cost: costOfPage,
    handle: (visit) => showCsv(viewingOf(visit), visit.params.report ?? ''),
  },
  { method: 'GET', path: '/share/:token/widget.json', access: 'embeddable-link', cost: 1, handle: widgetNumbers },
  { method: 'GET', path: '/share/:token/password', access: 'locked-link', cost: 1, handle: askPassword },
  { method: 'POST', path: '/share/:token/password', access: 'locked-link', cost: 1, handle: unlock },
]

function viewingOf({ services, site, link, path, url, theme }: LinkVisit): Viewing {
  const locked = readStoredFilters(link.filters, site)
  // Without one of its filters it would show more than it was made for.
  if (!locked) throw new Refusal('closed_link')
  const context = { site, path, locked, isShared: true, theme }
  const notes = link.showsNotes
    ? (days: { first: string; last: string }) => notesOfDays(services.postgres, site.id, days)
    : undefined
  return { services, context, url, queueKey: publicQueueKey, notes }
}

async function sharedDashboard(visit: LinkVisit): Promise<Reply> {
  const reply = await showDashboard(viewingOf(visit))
  return visit.link.isEmbeddable ? { ...reply, headers: { 'Content-Security-Policy': contentPolicy('*') } } : reply
}

/** The form must be sent with our Origin, which browsers leave out with `no-referrer` (decision D-178). */
const formHeaders = { 'Referrer-Policy': 'same-origin' }

function askPassword(visit: LinkVisit, wrong?: string): Reply {
  const { addressOf, theme, formToken, isUnlocked } = visit
  if (isUnlocked) return goTo(addressOf(''))
  const page = layout({
    title: 'Password',
    theme,
    isShared: true,
    narrow: true,
    body: html`<h1>Password</h1>
<p class="lead">This link needs a password. Whoever gave you the link knows it.</p>
<form class="card form" method="post" action="${addressOf('/password')}">
  ${tokenField(formToken)}
  ${wrong && fault(wrong)}
  <label>Password <input name="password" type="password" autocomplete="current-password" required autofocus></label>
  <div><button class="button first">Open</button></div>
</form>`,
  })
  return { ...show(page, wrong ? 401 : 200), headers: formHeaders }
}

async function unlock(visit: LinkVisit): Promise<Reply> {
  const { services, link, form, path, addressOf, cookies, clientAddress } = visit
  if (visit.isUnlocked) return goTo(addressOf(''))
  const sender = { services, clientAddress, browserCookie: undefined }
  const isRight = await judgeWithinLimits(sender, 'password', link.id, async () =>
    (await services.passwords.verify(form.get('password') ?? '', link.passwordHash, link.id)) ? true : undefined,
  )
  if (!isRight) return askPassword(visit, 'That is not the password of this link. Type it again.')
  const now = services.now()
  const note = unlockedNote(services.keySecrets, link, now)
  return goTo(addressOf(''), [cookies.setOfLink(path, note, unlockedSeconds(link, now))])
}

/** The visitors of the last 30 days, in total and by day: what the API answers. */
async function widgetNumbers(visit: LinkVisit): Promise<Reply> {
  const { services, site } = visit
  const state = defaultState(viewingOf(visit).context)
  const moment = momentOf(state, services.now())
  const ask = asking(services, publicQueueKey, state, moment, new AbortController().signal)
  const metrics = ['metrics', 'visitors'] as const
  const [totals, days] = await Promise.all([
    ask.ask<Totals>('totals', [metrics]),
    ask.ask<Interval[]>('timeseries', [metrics]),
  ])
  if ('fault' in totals || 'fault' in days) throw new Refusal('failed')
  const json = {
    domain: site.domain,
    visitors: totals.value.visitors,
    days: days.value.map(({ visitors }) => visitors),
  }
  // Pages of any site may read it; they get no more than what the page of the link shows. It reads no cookie, so caches may keep it; a
  // link that is revoked shows for a minute longer there.
  const headers = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public, max-age=60', Vary: 'Accept-Encoding' }
  return { status: 200, json, headers }
}
