// Who is on a site now. The page shows one reading; its script keeps it moving with a stream of server-sent events, which is of the console: its
// gate is that of every page, and the API has one of its own (decision D-241).
import { clockTime } from '../../display/formats.ts'
import type { LiveReading, Watcher } from '../../stats/live.ts'
import { Unavailable } from '../../stores/breaker.ts'
import { type Html, html } from '../../web/html.ts'
import { arrowBefore } from '../dashboard/icons.ts'
import { liveParts } from '../dashboard/live-parts.ts'
import { contextOfSite, defaultState } from '../dashboard/state.ts'
import { dashboardStyles, liveStyles, movingScript } from '../layout/assets.ts'
import { fault, layout, sitePath } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { type Reply, type Route, type SiteVisit, show } from '../route.ts'

export const liveRoutes: readonly Route[] = [
  { method: 'GET', path: '/sites/:domain/live', access: 'site-member', handle: livePage },
  { method: 'GET', path: '/sites/:domain/live/stream', access: 'site-member', handle: liveStream },
]

async function livePage(visit: SiteVisit): Promise<Reply> {
  const { services, site } = visit
  const reading = await services.stats.live.read(site).catch((error: unknown) => {
    if (!(error instanceof Unavailable)) services.log.error({ site: site.domain, err: error }, 'a live page failed')
    return undefined
  })
  return show(
    layout({
      title: `Live · ${site.domain}`,
      visit,
      site,
      head: html`<link rel="stylesheet" href="${dashboardStyles.path}">
<link rel="stylesheet" href="${liveStyles.path}">
<script type="module" src="${movingScript.path}"></script>
`,
      body: html`<div class="live-head"><a class="back" href="${sitePath(site)}">${arrowBefore} Dashboard</a><h1>Live</h1>
<p class="live-state" role="status"><i></i><span>${asOf(site.timeZone, services.now())}. <a href="${sitePath(site, '/live')}">Refresh</a></span></p></div>
<div class="live" data-stream="${sitePath(site, '/live/stream')}">${reading ? partsOf(visit, reading) : fault('This cannot be read at the moment. Nothing is lost: visitors are still counted.')}</div>`,
    }),
  )
}

const asOf = (timeZone: string, at: number): string => {
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone)
  return `As of ${clockTime(local)}:${String(local.second).padStart(2, '0')}`
}

/** The same for everybody who watches a site, so it is written once. */
const written = new WeakMap<LiveReading, Html>()

function partsOf({ site }: Pick<SiteVisit, 'site'>, reading: LiveReading): Html {
  const known = written.get(reading)
  if (known) return known
  const parts = liveParts(reading, defaultState(contextOfSite(site)))
  written.set(reading, parts)
  return parts
}

function liveStream(visit: SiteVisit): Reply {
  const { services, site, session } = visit
  let end = () => {}
  const permission = { sessionId: session.id, siteId: site.id }
  const stream = services.streams.open(session.user.id, permission, () => end())
  if (!stream) throw new Refusal('too_many_streams')
  let sent: string | undefined
  const watcher: Watcher = {
    site: () => services.directory.site(site.id),
    show(reading) {
      const { text } = partsOf(visit, reading)
      if (text === sent) return
      sent = text
      stream.send(text)
    },
    fail(error) {
      if (sent === '') return
      sent = ''
      stream.send('', 'unavailable')
      if (!(error instanceof Unavailable))
        services.log.error({ site: site.domain, err: error }, 'a site could not be read live')
    },
  }
  end = services.stats.live.watch(site.id, watcher)
  return { status: 200, events: stream.body }
}
