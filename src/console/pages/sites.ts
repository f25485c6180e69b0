import { listSitesOf, type Site } from '../../accounts/sites.ts'
import { rangeTexts } from '../../display/ranges.ts'
import { listDeletedSites } from '../../erasure/deleted-sites.ts'
import { maxHostname } from '../../hostnames.ts'
import { type SiteSummary, siteSummaries } from '../../stats/site-summaries.ts'
import { Unavailable } from '../../stores/breaker.ts'
import { deadlineFactor } from '../../stores/deadline.ts'
import { withoutEvents } from '../../traffic/first-event.ts'
import type { Membership } from '../../users/members.ts'
import { type Html, html } from '../../web/html.ts'
import { layout } from '../layout/layout.ts'
import { type Reply, type Route, show, type UserVisit } from '../route.ts'
import { siteCards } from './site-cards.ts'
import { searchOf } from './site-search.ts'

export const sitesRoutes: readonly Route[] = [{ method: 'GET', path: '/', access: 'user', handle: allSites }]

const orders = { name: 'Name', newest: 'Newest first', visitors: 'Most visitors' } as const
const ranges = { '7d': rangeTexts['7d'], '30d': rangeTexts['30d'], '90d': rangeTexts['90d'] }
/** As many as the statements of stats/site-summaries.ts read well at once. */
const cardsOnPage = 200
/** Longer than the statements may take, including their wait in the queue. */
const timeoutMs = 10_000 * deadlineFactor

interface ListOptions {
  /** A part of the domain. */
  search: string
  order: keyof typeof orders
  range: keyof typeof ranges
}

async function allSites(visit: UserVisit): Promise<Reply> {
  const { services, memberships, query } = visit
  const options: ListOptions = {
    search: searchOf(query),
    order: chosen(orders, query.get('sort'), 'name'),
    range: chosen(ranges, query.get('range'), '30d'),
  }
  const owned = memberships.filter(({ role }) => role === 'owner')
  const accountsOf = (some: readonly Membership[]) => some.map(({ accountId }) => accountId)
  const [sites, deleted] = await Promise.all([
    listSitesOf(services.postgres, accountsOf(memberships), options.order === 'newest' ? 'newest' : 'name'),
    listDeletedSites(services.postgres, accountsOf(owned)),
  ])
  const matches = sites.filter(({ domain }) => domain.includes(options.search))
  const erasing = deleted.filter(({ purgedAt }) => purgedAt === null).length
  return show(
    layout({
      title: 'Sites',
      visit,
      body: html`<div class="head"><div><h1>Sites</h1>${sites.length > 0 && html`<p>Visitors of the ${ranges[options.range].toLowerCase()}</p>`}</div>${sites.length > 0 && addLink(owned)}</div>
${sites.length > 1 && searchForm(options)}
${sites.length === 0 ? noSites(owned) : matches.length === 0 ? nothingFound(options.search) : await pageOf(visit, matches, options)}
${erasing > 0 && html`<p class="note">${erasing === 1 ? 'One deleted site is' : `${erasing} deleted sites are`} being erased. <a href="/deletions">See the progress</a></p>`}`,
    }),
  )
}

/** Two hundred cards, and links to the others. */
async function pageOf(visit: UserVisit, matches: readonly Site[], options: ListOptions): Promise<Html> {
  // The order by visitors needs the numbers of all sites, also of those on other pages.
  const ofAll = options.order === 'visitors' ? await summariesOf(visit, matches, options) : undefined
  const visitors = ({ id }: Site): number => ofAll?.get(id)?.visitors ?? 0
  const sorted = ofAll ? matches.toSorted((one, other) => visitors(other) - visitors(one)) : matches
  const pages = Math.ceil(matches.length / cardsOnPage)
  const page = Math.min(Math.max(1, Number.parseInt(visit.query.get('page') ?? '', 10) || 1), pages)
  const shown = sorted.slice((page - 1) * cardsOnPage, page * cardsOnPage)
  const summaries = ofAll ?? (await summariesOf(visit, shown, options))
  return html`${summaries.size === 0 && html`<p class="warning" role="status">The numbers cannot be read now. Reload the page in a few seconds.</p>`}
${siteCards(shown, { summaries, memberships: visit.memberships, waiting: await waitingOf(visit, shown, summaries) })}
${pages > 1 && pageLinks(options, page, pages)}`
}

/** Without numbers the cards still lead to the sites. */
async function summariesOf(
  { services: { stats, log, now }, session }: UserVisit,
  sites: readonly Site[],
  { range }: ListOptions,
): Promise<ReadonlyMap<string, SiteSummary>> {
  const all = new Map<string, SiteSummary>()
  const parameters = { range: { name: range }, filters: {}, limit: cardsOnPage }
  const request = { report: siteSummaries, parameters, queueKey: `user ${session.user.id}`, now: now() }
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    for (let first = 0; first < sites.length; first += cardsOnPage) {
      const some = sites.slice(first, first + cardsOnPage)
      const { data } = await stats.readSites({ ...request, sites: some }, signal)
      for (const summary of data) all.set(summary.site_id, summary)
    }
    return all
  } catch (error) {
    // The log already says that ClickHouse is down, once.
    if (!(error instanceof Unavailable)) log.error({ err: error }, 'the numbers of all sites cannot be read')
    return new Map()
  }
}

/** The ids of sites that have never had an event. Only those can be without visitors and without rolled-up days. */
async function waitingOf(
  { services: { cluster, log } }: UserVisit,
  sites: readonly Site[],
  summaries: ReadonlyMap<string, SiteSummary>,
): Promise<ReadonlySet<string>> {
  const silent = sites.filter(({ id, coverage }) => summaries.get(id)?.visitors === 0 && coverage.versions.length === 0)
  const byShard = Map.groupBy(silent, ({ shard }) => shard)
  const waiting = Array.from(byShard, ([shard, some]) => withoutEvents(cluster.of({ shard }), idsOf(some)))
  return Promise.all(waiting).then(
    (all) => new Set(all.flat()),
    (error) => {
      if (!(error instanceof Unavailable)) log.error({ err: error }, 'whether sites have events cannot be read')
      return new Set()
    },
  )
}

const idsOf = (sites: readonly Site[]): string[] => sites.map(({ id }) => id)

/** The account is named, because a user may be a viewer in the first one. */
const addLink = ([first]: readonly Membership[]) =>
  first && html`<a class="button first" href="/sites/new?account=${first.accountId}">Add a site</a>`

const noSites = (owned: readonly Membership[]): Html =>
  owned.length > 0
    ? html`<div class="card empty">
  <h2>Add your first site</h2>
  <p>Enter its domain, put one line into its pages, and see its visitors a few seconds later.</p>
  ${addLink(owned)}
</div>`
    : html`<div class="card empty">
  <h2>No sites yet</h2>
  <p>You see a site here as soon as an owner of the account adds one.</p>
</div>`

const nothingFound = (search: string): Html =>
  html`<div class="card empty"><h2>No site matches “${search}”</h2><p><a class="button" href="/">Show all sites</a></p></div>`

const searchForm = ({ search, order, range }: ListOptions): Html => html`
<form class="row search" method="get" action="/" role="search" data-at-once>
  <label class="unseen" for="q">Search sites</label>
  <input id="q" name="q" type="search" placeholder="Search sites" maxlength="${maxHostname}" value="${search}">
  ${select('range', 'Range', ranges, range)}
  ${select('sort', 'Sort by', orders, order)}
  <button class="button unscripted">Show</button>
</form>`

const select = (name: string, label: string, options: Readonly<Record<string, string>>, chosen: string): Html => html`
  <label class="unseen" for="${name}">${label}</label>
  <select id="${name}" name="${name}">${Object.entries(options).map(
    ([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )}</select>`

function pageLinks({ search, order, range }: ListOptions, page: number, pages: number): Html {
  const link = (to: number, text: string) =>
    to >= 1 &&
    to <= pages &&
    html`<a class="button" href="/?${new URLSearchParams({ q: search, range, sort: order, page: String(to) }).toString()}">${text}</a>`
  return html`<nav class="row pages" aria-label="Pages">${link(page - 1, 'Previous')}<span>Page ${page} of ${pages}</span>${link(page + 1, 'Next')}</nav>`
}

const chosen = <Name extends string>(
  names: Readonly<Record<Name, string>>,
  name: string | null,
  defaultName: NoInfer<Name>,
): Name => (name !== null && Object.hasOwn(names, name) ? (name as Name) : defaultName)
