// Which requests are sent: single ones, the same one many times at once, the same question about many sites at once, repeated
// ones, and ones that name an answer known already, of this site or of another.
import { type ReportName, reports } from '../../../src/stats/reports.ts'
import type { Random } from '../../oracle/random.ts'
import { type Question, ranges } from './expected.ts'
import { countries, devices, type WatermarkedSite } from './watermarked-sites.ts'

export interface Ask {
  site: WatermarkedSite
  question: Question
  key: string
  /** Account keys have to name the site, site keys may. */
  namesSite: boolean
  /** Number of the API process. */
  api: number
  ifNoneMatch?: { header: string; ownTag?: string }
}

/** Tags of answers given so far, by site and question. */
export interface KnownTags {
  of(site: WatermarkedSite, question: Question): string | undefined
}

const names = Object.keys(reports) as ReportName[]

export function* makeAsks(
  random: Random,
  sites: readonly WatermarkedSite[],
  apis: number,
  tags: KnownTags,
): Generator<Ask, never> {
  const popular = Array.from({ length: 2 * names.length }, (_, index) =>
    makeQuestion(random, names[index % names.length]),
  )
  for (;;) {
    const question = random.oneIn(3) ? makeQuestion(random) : random.pick(popular)
    const site = random.pick(sites)
    if (random.oneIn(3)) yield* Array.from({ length: 8 }, () => makeAsk(site, question))
    else if (random.oneIn(2)) yield* random.sample(sites, 10).map((each) => makeAsk(each, question))
    else yield makeAsk(site, aboutNames(random, site, sites, question))
  }

  function makeAsk(site: WatermarkedSite, question: Question): Ask {
    const withSiteKey = random.oneIn(2)
    return {
      site,
      question,
      key: random.pick(withSiteKey ? site.siteKeys : site.accountKeys),
      namesSite: !withSiteKey || random.oneIn(3),
      api: random.below(apis),
      ...(random.oneIn(3) && withTag(site, question)),
    }
  }

  function withTag(site: WatermarkedSite, question: Question): Pick<Ask, 'ifNoneMatch'> {
    const own = tags.of(site, question)
    const others = random
      .sample(sites, 3)
      .filter((other) => other !== site)
      .flatMap((other) => tags.of(other, question) ?? [])
    const sent = random.oneIn(3) || !own ? others : random.oneIn(2) ? [own] : [...others, own]
    if (sent.length === 0) return {}
    return { ifNoneMatch: { header: sent.join(', '), ...(own && sent.includes(own) && { ownTag: own }) } }
  }
}

function makeQuestion(random: Random, report: ReportName = random.pick(names)): Question {
  return {
    report,
    range: random.pick(ranges),
    ...(random.oneIn(3) && { limit: random.pick([1, 2, 100]) }),
    ...(random.oneIn(4) && { country: random.pick([...countries, 'AD']) }),
    ...(random.oneIn(4) && { device: random.pick(devices) }),
  }
}

/** Filters on words that only one site has: its own, or another's, which it must know nothing of. */
function aboutNames(
  random: Random,
  site: WatermarkedSite,
  sites: readonly WatermarkedSite[],
  question: Question,
): Question {
  const { mark } = random.oneIn(2) ? site : random.pick(sites)
  return {
    ...question,
    ...(random.oneIn(2) && { hostname: `${mark}.example` }),
    ...(random.oneIn(2) && { utmSource: `utm-${mark}` }),
  }
}
