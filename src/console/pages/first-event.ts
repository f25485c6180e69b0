// Whether the first event of a site has arrived: shown under its snippet, and polled by the script until it has.
import type { Site } from '../../accounts/sites.ts'
import { hasEvents } from '../../traffic/first-event.ts'
import { type Html, html } from '../../web/html.ts'
import { sitePath } from '../layout/layout.ts'
import { type ConsoleServices, type Reply, type Route, type SiteVisit, show } from '../route.ts'

export const firstEventRoutes: readonly Route[] = [
  { method: 'GET', path: '/sites/:domain/settings/first-event', access: 'site-member', handle: firstEventReply },
]

async function firstEventReply({ services, site }: SiteVisit): Promise<Reply> {
  return show(await firstEvent(services, site))
}

/** A part of a page: short enough for one line on a phone, so that nothing below it moves when the state changes. */
export async function firstEvent({ cluster }: ConsoleServices, site: Site): Promise<Html> {
  const state = await stateOf(cluster, site)
  if (state === 'received') return html`<span class="state" data-done><i></i>First event received</span>`
  return html`<span class="state soon"><i></i>${
    state === 'waiting' ? 'Waiting for the first event' : 'Cannot tell right now'
  }</span> <a class="again unscripted" href="${sitePath(site, '/settings')}">Check again</a>`
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
