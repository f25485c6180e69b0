// Which requests are sent: single ones, the same request many times at once, the same query for many sites at once, repeated ones, and
// conditional ones with an ETag of this site or of another.
import type { Random } from '../../support/random.ts'
import { isAboutSites, modelledReports, type Query, ranges, sitesEndpoints } from './expected.ts'
import { isQuestion, pickAsked, questionEndpoints, withMark } from './questions.ts'
import { countries, devices, type WatermarkedSite } from './watermarked-sites.ts'

export interface Ask {
  site: WatermarkedSite
  /** The sites that the response is about, by domain: this one, or all of its account. */
  sites: readonly WatermarkedSite[]
  query: Query
  key: string
  /** Account keys have to name the site; site keys may. */
  namesSite: boolean
  /** The number of the API process. */
  api: number
  ifNoneMatch?: { header: string; ownTag?: string }
}

/** ETags of the responses so far, by sites and query. */
export interface KnownTags {
  of(sites: readonly WatermarkedSite[], query: Query): string | undefined
}

export function* makeAsks(
  random: Random,
  sites: readonly WatermarkedSite[],
  apis: number,
  tags: KnownTags,
): Generator<Ask, never> {
  const popular = Array.from({ length: 2 * asked.length }, (_, index) => makeQuery(random, asked[index % asked.length]))
  for (;;) {
    const query = random.oneIn(3) ? makeQuery(random) : random.pick(popular)
    const site = random.pick(sites)
    if (random.oneIn(3)) yield* Array.from({ length: 8 }, () => makeAsk(site, query))
    else if (random.oneIn(2)) yield* random.sample(sites, 10).map((each) => makeAsk(each, query))
    else yield makeAsk(site, aboutNames(random, site, sites, query))
  }

  function makeAsk(site: WatermarkedSite, query: Query): Ask {
    const withSiteKey = random.oneIn(2)
    const mustName = !withSiteKey && !isAboutSites(query.report)
    const namesSite = mustName || random.oneIn(3)
    const about = withSiteKey || namesSite ? [site] : sites.filter(({ accountId }) => accountId === site.accountId)
    return {
      site,
      sites: about,
      query,
      key: random.pick(withSiteKey ? site.siteKeys : site.accountKeys),
      namesSite,
      api: random.below(apis),
      ...(random.oneIn(3) && withTag(about, query)),
    }
  }

  function withTag(about: readonly WatermarkedSite[], query: Query): Pick<Ask, 'ifNoneMatch'> {
    const own = tags.of(about, query)
    const others = random
      .sample(sites, 3)
      .filter((other) => !about.includes(other))
      .flatMap((other) => tags.of([other], query) ?? [])
    const sent = random.oneIn(3) || !own ? others : random.oneIn(2) ? [own] : [...others, own]
    if (sent.length === 0) return {}
    return { ifNoneMatch: { header: sent.join(', '), ...(own && sent.includes(own) && { ownTag: own }) } }
  }
}

const asked = [...modelledReports, ...sitesEndpoints, ...questionEndpoints]

function makeQuery(random: Random, report: Query['report'] = random.pick(asked)): Query {
  if (report === 'v2/goals') return { report, range: '30d' }
  const isList = !isQuestion(report) || report === 'v2/stats/breakdown'
  return {
    report,
    range: random.pick(ranges),
    ...(isQuestion(report) && pickAsked(random, report)),
    ...(isList && random.oneIn(3) && { limit: random.pick([1, 2, 100]) }),
    ...(random.oneIn(4) && { country: random.pick([...countries, 'AD']) }),
    ...(random.oneIn(4) && { device: random.pick(devices) }),
  }
}

/** Filters on words that only one site has: its own, or those of another site, which it must not find. */
function aboutNames(random: Random, site: WatermarkedSite, sites: readonly WatermarkedSite[], query: Query): Query {
  const { mark } = random.oneIn(2) ? site : random.pick(sites)
  if (isQuestion(query.report)) return withMark(query, mark)
  return {
    ...query,
    ...(random.oneIn(2) && { hostname: `${mark}.example` }),
    ...(random.oneIn(2) && { utmSource: `utm-${mark}` }),
  }
}
