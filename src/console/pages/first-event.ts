// Whether the first event of a site has arrived: shown under its snippet, and polled by the script until it has.
import { lastDroppedEvent } from '../../accounts/dropped-events.ts'
import type { Site } from '../../accounts/sites.ts'
import { clockTime } from '../../display/formats.ts'
import { isAllowedHost, isSiteHost } from '../../hostnames.ts'
import { hasEvents } from '../../traffic/first-event.ts'
import { hostsText } from '../../users/site-changes.ts'
import { type Html, html } from '../../web/html.ts'
import { tokenField } from '../forms/forms.ts'
import { sitePath } from '../layout/layout.ts'
import { type ConsoleServices, type Reply, type Route, type SiteVisit, show } from '../route.ts'

export const firstEventRoutes: readonly Route[] = [
  { method: 'GET', path: '/sites/:domain/settings/first-event', access: 'site-member', handle: firstEventReply },
]

async function firstEventReply(visit: SiteVisit): Promise<Reply> {
  return show(await firstEvent(visit))
}

/** A part of a page: short enough for one line on a phone, so that nothing below it moves when the state changes. */
export async function firstEvent(visit: SiteVisit, page = sitePath(visit.site, '/settings')): Promise<Html> {
  const { services, site } = visit
  const state = await stateOf(services.cluster, site)
  if (state === 'received')
    return html`<span class="state" data-done><i></i>First event received.</span> <a class="again" href="${sitePath(site)}">Dashboard</a>`
  return html`<span class="state soon"><i></i>${
    state === 'waiting' ? 'Waiting for the first event' : 'Cannot tell right now'
  }</span> <a class="again unscripted" href="${page}">Check again</a>${state === 'waiting' && (await droppedHit(visit))}`
}

const reasons: Readonly<Record<string, string>> = {
  bot: 'It came from a program, by its user agent, or had none.',
  spam_referrer: 'Its referrer is known for spam.',
  site_limit: 'The site had too many events at that moment.',
}

/** The last hit that was not counted, and what to do about it (decision D-248). Anybody can send a hit with any host. */
async function droppedHit({ services, site, account, formToken }: SiteVisit): Promise<Html | false> {
  const hit = await lastDroppedEvent(services.postgres, site.id)
  if (!hit) return false
  const isForeign = hit.reason === 'hostname_not_allowed'
  if (isForeign && isAllowedHost(hit.hostname, site)) return false
  const time = clockTime(Temporal.Instant.fromEpochMilliseconds(hit.at).toZonedDateTimeISO(site.timeZone))
  const why = isForeign
    ? html`Foreign host name: <b>${hit.hostname}</b> is not one of ${hostsText(site)}.`
    : (reasons[hit.reason] ?? hit.reason)
  const mayAllow = isForeign && account.role === 'owner' && isSiteHost(hit.hostname)
  return html`
<div class="warning dropped-hit"><p><b>The last hit was dropped</b>, at ${time}. ${why}</p>${
    mayAllow &&
    html`
<form method="post" action="${sitePath(site, '/settings/hostnames')}">${tokenField(formToken)}
<input type="hidden" name="hostnames" value="${[...site.hostnames, hit.hostname].join(' ')}">${site.allowSubdomains && html`<input type="hidden" name="subdomains" value="yes">`}
<button class="button">Count ${hit.hostname} too</button> <span>Only if it is yours.</span></form>`
  }</div>`
}

async function stateOf(cluster: ConsoleServices['cluster'], site: Site): Promise<'received' | 'waiting' | 'unknown'> {
  // The events of a site with rollups may be older than the retention.
  if (site.coverage.versions.length > 0) return 'received'
  try {
    return (await hasEvents(cluster.of(site), site.id)) ? 'received' : 'waiting'
  } catch {
    return 'unknown' // the settings must work while ClickHouse does not answer
  }
}
