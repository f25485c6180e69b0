// The statistics of this installation, from its databases. No key is needed, and no request is counted.

import { listSites, type Site } from '../accounts/sites.ts'
import type { AllStores } from '../cluster/stores.ts'
import { refuseOlder } from '../rollups/ledger.ts'
import { sitesParameters } from '../stats/parameters.ts'
import { limits, readFields } from '../stats/questions/parameters.ts'
import { instantOf } from '../stats/reports.ts'
import { createStatsService } from '../stats/service.ts'
import { sitesOverview } from '../stats/sites-overview.ts'
import { questionAnswer } from '../stats/source.ts'
import { deadlineFactor } from '../stores/deadline.ts'
import { CommandError } from './command.ts'
import type { SiteOverview, SitesSource } from './sites-source.ts'

/** Longer than the maximum time of a query plus the wait for its turn. */
const timeoutMs = 10_000 * deadlineFactor
const queueKey = 'command line'

const until = (signal?: AbortSignal): AbortSignal =>
  AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])])

/**
 * All answers of one source have the same current time, so that they agree (decision D-183). The sites are read once. For later numbers,
 * open another source.
 */
export function localSource({ postgres, cluster }: AllStores, now: number): SitesSource {
  const stats = createStatsService({ cluster, now: () => now, cacheBytes: 0 })
  let sites: Promise<Site[]> | undefined
  const allSites = () => {
    sites ??= refuseOlder({ postgres, cluster })
      .then(() => listSites(postgres))
      .then((all) => all.sort(byDomain))
    return sites
  }
  const siteOf = async (siteId: string): Promise<Site> => {
    const site = (await allSites()).find(({ id }) => id === siteId)
    if (!site) throw new CommandError(`There is no site ${siteId}.`, 'See them all with: footfall site list')
    return site
  }
  return {
    sites: allSites,
    async ask(kind, siteId, fields, signal) {
      const site = await siteOf(siteId)
      const { question, warnings } = readFields(fields, { kind, goals: site.goals, maxLimit: limits.csv })
      const result = await stats.ask({ site, question, queueKey, now: instantOf(site, now) }, until(signal))
      return questionAnswer(result, warnings)
    },
    async read(report, siteId, parameters, signal) {
      const site = await siteOf(siteId)
      return stats.read({ report, site, parameters, queueKey, now: instantOf(site, now) }, until(signal))
    },
    async overviews(parameters, signal) {
      const all = await allSites()
      const sites: SiteOverview[] = []
      const warnings = new Set<string>()
      const atOnce = sitesParameters.limit.max
      for (let first = 0; first < all.length; first += atOnce) {
        const some = { sites: all.slice(first, first + atOnce), parameters: { ...parameters, limit: atOnce }, queueKey }
        const result = await stats.readSites({ report: sitesOverview, ...some }, until(signal))
        sites.push(...result.data)
        for (const warning of result.warnings) warnings.add(warning)
      }
      return { sites, warnings: [...warnings] }
    },
  }
}

/** As the API orders them, whatever the collation of the database. */
const byDomain = (one: Site, other: Site): number => (one.domain < other.domain ? -1 : 1)
