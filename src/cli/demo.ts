import { createSite, findSite, type Site } from '../accounts/sites.ts'
import { generateDemo } from '../demo/generate.ts'
import { sql, text as textValue } from '../stores/clickhouse-sql.ts'
import { eraseSites } from '../traffic/erasure.ts'
import { forgetFolds } from '../traffic/late-days.ts'
import { type Command, CommandError, type Context, positionals, text } from './command.ts'
import { ownerOf } from './site.ts'
import { showProgress } from './terminal.ts'

const bars = '▁▂▃▄▅▆▇█'

export const demo: Command = {
  summary: 'Fill a site with 13 months of believable traffic',
  usage: '<site> [--events <number>] [--seed <number>] [--replace]',
  options: {
    events: { type: 'string' },
    seed: { type: 'string' },
    replace: { type: 'boolean' },
    account: { type: 'string' },
  },
  optionHelp: {
    events: 'about how many, 10000 to 100000000; 100000 unless told otherwise',
    seed: 'the same seed makes the same traffic; 1 unless told otherwise',
    replace: 'erase the traffic the site has',
    account: 'who owns the site, if it is made now',
  },
  examples: ['footfall demo demo.example --events 1000000'],
  async run(input, context) {
    const [domain] = positionals(input, ['site']) as [string]
    const events = numberOf(text(input, 'events') ?? '100000', 10_000, 100_000_000, '--events')
    const seed = numberOf(text(input, 'seed') ?? '1', 0, Number.MAX_SAFE_INTEGER, '--seed')
    const { postgres, clickhouse } = context
    const known = await findSite(postgres, domain)
    const siteId = known?.id ?? (await createSite(postgres, { accountId: await ownerOf(postgres, input), domain }))
    if (known) await makeRoom(context, known, input.options.replace === true)

    const progress = showProgress(context.progressTo, 'Making traffic', 'events')
    const began = Date.now()
    const made = await generateDemo({
      clickhouse,
      siteId,
      domain,
      zone: known?.timeZone ?? 'UTC',
      events,
      seed,
      until: began,
      onProgress: progress.update,
    }).finally(() => forgetFolds(postgres, siteId)) // also of traffic that was made in part
    progress.end()
    const seconds = Math.round((Date.now() - began) / 100) / 10
    const weeks = await weeklyViews(context, siteId)
    return {
      data: { siteId, domain, seed, ...made, seconds },
      show: (terminal) =>
        [
          `${terminal.bold(domain)} has ${made.events.toLocaleString('en')} events in ${made.days} days now (${seconds} s).`,
          `Pageviews by week  ${terminal.good(weeks.map((views) => bars[Math.round((views / Math.max(...weeks)) * 7)]).join(''))}`,
          `Next: footfall key create ${domain}`,
        ].join('\n'),
    }
  },
}

async function makeRoom(context: Context, { id: siteId, domain, folds }: Site, replace: boolean): Promise<void> {
  const { postgres, clickhouse } = context
  if (replace) {
    await forgetFolds(postgres, siteId)
    return eraseSites(clickhouse, [siteId])
  }
  const [row] = await clickhouse.rows<{ any: number }>(
    sql`SELECT count() > 0 AS any FROM (SELECT 1 FROM events WHERE site_id = ${textValue(siteId)} LIMIT 1)`,
  )
  // Folded days without events: these are no longer kept (decision D-79), what was folded of them is.
  if (row?.any || folds.length > 0)
    throw new CommandError(`${domain} has traffic already.`, 'Use another domain, or --replace to erase it first.')
}

async function weeklyViews({ clickhouse }: Context, siteId: string): Promise<number[]> {
  const rows = await clickhouse.rows<{ views: number }>(sql`
    SELECT countIf(name = 'pageview') AS views FROM events WHERE site_id = ${textValue(siteId)}
    GROUP BY toStartOfWeek(day) AS week ORDER BY week`)
  return rows.map(({ views }) => views)
}

function numberOf(given: string, least: number, most: number, name: string): number {
  const number = Number(given.replaceAll('_', ''))
  if (!Number.isSafeInteger(number) || number < least || number > most) {
    throw new CommandError(`${name} cannot be ${given}.`, `It takes a whole number from ${least} to ${most}.`)
  }
  return number
}
