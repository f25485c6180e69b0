import { createSite, findSite, type NewSite, type Site } from '../accounts/sites.ts'
import type { Stores } from '../cluster/stores.ts'
import { generateDemo } from '../demo/generate.ts'
import { eraseSites } from '../erasure/rows.ts'
import { whileOnItsShard } from '../moving/writing.ts'
import { forgetRollups } from '../rollups/invalidation.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { sql, text as textValue } from '../stores/clickhouse-sql.ts'
import { type Command, CommandError, type Context, positionals, text } from './command.ts'
import { ownerOf } from './site.ts'
import { showProgress } from './terminal.ts'

const bars = '▁▂▃▄▅▆▇█'

export const demo: Command = {
  summary: 'Fill a site with 13 months of realistic demo traffic',
  usage: '<site> [--events <number>] [--seed <number>] [--replace]',
  options: {
    events: { type: 'string' },
    seed: { type: 'string' },
    replace: { type: 'boolean' },
    account: { type: 'string' },
  },
  optionHelp: {
    events: 'approximate number of events, 10000 to 100000000; the default is 100000',
    seed: 'the same seed gives the same traffic; the default is 1',
    replace: 'erase the existing traffic of the site first',
    account: 'owner of the site, if the site does not exist yet',
  },
  examples: ['footfall demo demo.example --events 1000000'],
  async run(input, context) {
    const [domain] = positionals(input, ['site']) as [string]
    const events = numberOf(text(input, 'events') ?? '100000', 10_000, 100_000_000, '--events')
    const seed = numberOf(text(input, 'seed') ?? '1', 0, Number.MAX_SAFE_INTEGER, '--seed')
    const { postgres, cluster } = context
    const existing = await findSite(postgres, domain)
    const site = existing ?? (await newSite(context, { accountId: await ownerOf(postgres, input), domain }))
    const { id: siteId } = site
    const progress = showProgress(context.progressTo, 'Generating traffic', 'events')
    const began = Date.now()
    const { made, weeks } = await whileOnItsShard(postgres, siteId, async () => {
      const clickhouse = cluster.of((await findSite(postgres, siteId)) ?? site)
      if (existing) await makeRoom({ postgres, clickhouse }, existing, input.options.replace === true)
      const generated = await generateDemo({
        clickhouse,
        siteId,
        domain,
        zone: existing?.timeZone ?? 'UTC',
        events,
        seed,
        until: began,
        onProgress: progress.update,
      }).finally(() => forgetRollups(postgres, siteId)) // also after an error, because some traffic may be written
      return { made: generated, weeks: await weeklyViews(clickhouse, siteId) }
    })
    progress.end()
    const seconds = Math.round((Date.now() - began) / 100) / 10
    return {
      data: { siteId, domain, seed, ...made, seconds },
      show: (terminal) =>
        [
          `${terminal.bold(domain)} now has ${made.events.toLocaleString('en')} events on ${made.days} days (${seconds} s).`,
          `Pageviews by week  ${terminal.good(weeks.map((views) => bars[Math.round((views / Math.max(...weeks)) * 7)]).join(''))}`,
          `Next: footfall key create ${domain}`,
        ].join('\n'),
    }
  },
}

async function newSite({ postgres }: Context, site: NewSite): Promise<Site> {
  return (await findSite(postgres, await createSite(postgres, site))) as Site
}

async function makeRoom(
  { postgres, clickhouse }: Stores,
  { id: siteId, domain, coverage }: Site,
  replace: boolean,
): Promise<void> {
  if (replace) {
    await forgetRollups(postgres, siteId)
    return eraseSites(clickhouse, async () => [siteId])
  }
  const [row] = await clickhouse.rows<{ any: number }>(
    sql`SELECT count() > 0 AS any FROM (SELECT 1 FROM events WHERE site_id = ${textValue(siteId)} LIMIT 1)`,
  )
  // A site can have rolled-up days without events, because retention drops events and keeps rollups (decision D-79).
  if (row?.any || coverage.versions.length > 0)
    throw new CommandError(`${domain} already has traffic.`, 'Use another domain, or --replace to erase it first.')
}

async function weeklyViews(clickhouse: ClickHouse, siteId: string): Promise<number[]> {
  const rows = await clickhouse.rows<{ views: number }>(sql`
    SELECT countIf(name = 'pageview') AS views FROM events WHERE site_id = ${textValue(siteId)}
    GROUP BY toStartOfWeek(day) AS week ORDER BY week`)
  return rows.map(({ views }) => views)
}

function numberOf(value: string, min: number, max: number, name: string): number {
  const number = Number(value.replaceAll('_', ''))
  if (!Number.isSafeInteger(number) || number < min || number > max) {
    throw new CommandError(`${name} cannot be ${value}.`, `Use a whole number from ${min} to ${max}.`)
  }
  return number
}
