import type { Command } from './command.ts'
import { sourceHelp, sourceOptions } from './sites-source.ts'
import { watchSeconds } from './stats/watching.ts'

export const stats: Command = {
  summary: 'Show the statistics of a site, or of all sites',
  usage:
    '[<site> | --all-sites] [--range <range>] [--by <dimension>] [--filter <filter>] [--compare] [--watch] [--csv] [--url <address>] …',
  options: {
    range: { type: 'string' },
    start: { type: 'string' },
    end: { type: 'string' },
    country: { type: 'string' },
    device: { type: 'string' },
    hostname: { type: 'string' },
    'utm-source': { type: 'string' },
    by: { type: 'string' },
    filter: { type: 'string', multiple: true },
    metrics: { type: 'string' },
    goal: { type: 'string' },
    interval: { type: 'string' },
    order: { type: 'string' },
    limit: { type: 'string' },
    compare: { type: 'boolean' },
    'compare-with': { type: 'string' },
    match: { type: 'string' },
    'all-sites': { type: 'boolean' },
    csv: { type: 'boolean' },
    watch: { type: 'boolean' },
    ...sourceOptions,
  },
  optionHelp: {
    range: '24h, 7d, 30d, 90d, 12m or custom; the default is 30d',
    start: 'first day of a custom range, such as 2026-01-31',
    end: 'last day of a custom range',
    country: 'only visitors from this country, such as DE',
    device: 'only desktop, mobile or tablet',
    hostname: 'only this host',
    'utm-source': 'only sessions with this UTM source',
    by: 'list any dimension, such as browser, entry_page or prop:plan (docs/questions.md)',
    filter:
      'only what matches, such as page:is:/pricing or referrer:contains:google; may be repeated, and then all must match',
    metrics: 'the numbers to show, such as visitors,bounce_rate,revenue:EUR',
    goal: 'the goal that conversions, conversion_rate and revenue are about',
    interval: 'a chart by hour, day, week or month; the default is day',
    order: 'sort a list by one of --metrics; with :asc the smallest comes first',
    limit: 'rows of each list, 1 to 100, with --by to 100,000; the default is 10',
    compare: 'show the previous period and the change',
    'compare-with': 'another period: year, or two days such as 2026-01-01/2026-01-31',
    match: 'weekday: compare with a period that begins on the same weekday',
    'all-sites': 'one line for each site',
    csv: 'print a table as CSV; without a terminal the same table is printed with tabs',
    watch: `draw again every ${watchSeconds.local} seconds, or every ${watchSeconds.remote} seconds from a server, until Ctrl-C`,
    ...sourceHelp,
  },
  examples: [
    'footfall stats example.com --range 30d --compare',
    'footfall stats example.com --by browser --filter page:is:/pricing',
    'footfall stats example.com --filter referrer:contains:google --goal Signup --metrics visitors,conversions,conversion_rate',
    'footfall stats --all-sites --watch',
    'footfall stats example.com --country DE --csv > germany.csv',
    'footfall stats example.com --url https://stats.example.com --key-file ~/.footfall-key',
  ],
  async run(input, context) {
    const { showStats } = await import('./stats/show.ts') // it would delay every other command by a third of a second
    return showStats(input, context)
  },
}
