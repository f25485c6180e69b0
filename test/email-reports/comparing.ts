// What a report must say, made from the API's answers over HTTP alone, and how a letter differs from it.
import { isDeepStrictEqual } from 'node:util'
import type { Site } from '../../src/accounts/sites.ts'
import type { Interval } from '../../src/email-reports/due.ts'
import { type Random, seeded } from '../support/random.ts'
import { readAccountHtml, readAccountText, readSiteHtml, readSiteText, shownCells } from './letter-reading.ts'
import { onlyDay, type ReportsWorld } from './reports-world.ts'

const dayMs = 86_400_000
const iso = (at: number): string => new Date(at).toISOString().slice(0, 10)
const full = (count: number): string => count.toLocaleString('en-US')

export interface Difference {
  report: string
  part: string
  found: unknown
  expected: unknown
}

/** Composes random reports, four at a time. Each has its own number, which with the seed says which report it is. */
export async function compareMany(
  world: ReportsWorld,
  seed: string,
  numbers: Iterable<number>,
  tell: (number: number, differences: readonly Difference[]) => void,
): Promise<void> {
  const queue = numbers[Symbol.iterator]()
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let next = queue.next(); !next.done; next = queue.next())
        tell(next.value, await compareOne(world, seeded(`${seed}/${next.value}`)))
    }),
  )
}

/** Composes one random report and compares both of its parts with the API. */
async function compareOne(world: ReportsWorld, random: Random): Promise<Difference[]> {
  const interval = random.pick(['week', 'month'] as const)
  const firstDay = pickPeriod(random, interval)
  const lastDay = lastDayOf(interval, firstDay)
  return random.oneIn(6)
    ? compareAccount(world, random, { interval, firstDay, lastDay })
    : compareSite(world, random.pick(world.sites), { interval, firstDay, lastDay })
}

/** One of the last 60 weeks or 14 months: the oldest are before all traffic. Often the week or month of the site with one day. */
function pickPeriod(random: Random, interval: Interval): string {
  const isOnly = random.oneIn(5)
  if (interval === 'month') return isOnly ? `${onlyDay.slice(0, 8)}01` : iso(Date.UTC(2026, 9 - random.below(14), 1))
  // 2026-11-09 is a Monday, and so is the one 13 weeks before it, whose week has the only day.
  return iso(Date.UTC(2026, 10, 9) - (isOnly ? 13 : random.below(60)) * 7 * dayMs)
}

function lastDayOf(interval: Interval, firstDay: string): string {
  if (interval === 'week') return iso(Date.parse(firstDay) + 6 * dayMs)
  const [year, month] = firstDay.split('-').map(Number) as [number, number]
  return iso(Date.UTC(year, month, 0))
}

interface Days {
  interval: Interval
  firstDay: string
  lastDay: string
}

async function compareSite(world: ReportsWorld, site: Site, days: Days): Promise<Difference[]> {
  const { interval, firstDay, lastDay } = days
  const { subject, text, html } = await world.compose({ interval, firstDay, about: { site } })
  const ask = async (report: string, more: Record<string, string> = {}) =>
    world.api(`stats/${report}`, { site_id: site.id, range: 'custom', start: firstDay, end: lastDay, ...more })
  const overview = await ask('overview')
  const { current, previous, change } = overview.json.data
  const expected =
    current.visitors === 0
      ? quiet(interval, previous.visitors, firstDay, lastDay)
      : await busy(ask, overview.json.data, days, site.goals.length > 0 ? await goalsOf(world, site, days) : undefined)
  const differences = new Differences(`${interval} ${firstDay} of ${site.domain} (${site.timeZone})`)
  differences.unlessEqual('HTML', readSiteHtml(html), expected)
  differences.unlessEqual('text', readSiteText(text), expected)
  const visitors = current.visitors === 0 ? 'no visitors' : counted(current.visitors)
  differences.unlessEqual('subject', subject.startsWith(`${site.domain}: ${visitors}`), true)
  const compared = comparedDays(overview.headers.get('stats-previous-period') as string)
  for (const [part, lines] of [
    ['HTML', shownCells(html)],
    ['text', text.split('\n')],
  ] as const) {
    const line = lines.find((one) => one.includes('compared with'))
    differences.unlessEqual(`compared days, ${part}`, line?.endsWith(`, ${compared}`), true)
  }
  if (change.visitors === null && previous.visitors !== 0) throw new Error('the API has no change')
  return differences.all
}

type Ask = (report: string, more?: Record<string, string>) => ReturnType<ReportsWorld['api']>

const quiet = (interval: Interval, before: number, firstDay: string, lastDay: string): string => {
  const days = (Date.parse(lastDay) - Date.parse(firstDay)) / dayMs + 1
  const period = interval === 'week' ? 'the week before' : `the ${days} days before`
  return `Nobody visited the site this ${interval}.${before === 0 ? '' : ` It had ${counted(before)} in ${period}.`}`
}

async function goalsOf(world: ReportsWorld, site: Site, { firstDay, lastDay }: Days) {
  const about = { site_id: site.id, range: 'custom', start: firstDay, end: lastDay, limit: '5' }
  const metrics = 'conversions,conversion_rate'
  return (await world.api('stats/breakdown', { ...about, by: 'goal', metrics }, 'v2')).json.data
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of the API
async function busy(ask: Ask, { current, previous, change }: any, { interval, firstDay, lastDay }: Days, goals: any) {
  const data = async (report: string, more?: Record<string, string>) => (await ask(report, more)).json.data
  const five = { limit: '5' }
  const series = await data('timeseries')
  const back = (day: string) => iso(Date.parse(day) - 7 * dayMs)
  const before = interval === 'week' && (await data('timeseries', { start: back(firstDay), end: back(lastDay) }))
  const pages = await data('pages', five)
  const countries = await data('geo', five)
  const events = await data('events', five)
  const direct = (await data('channels')).find(({ channel }: { channel: string }) => channel === 'Direct')
  const hosts = await data('referrers', { limit: '100' })
  const sources = [
    ...(direct ? [['Direct', direct.visitors]] : []),
    ...hosts.map((row: { referrer: string; visitors: number }) => [row.referrer, row.visitors]),
  ]
    .sort((one, other) => other[1] - one[1])
    .slice(0, 5)
  const line = (name: string, field: string, show: (value: number) => string) => [
    name,
    show(current[field]),
    show(previous[field]),
    percent(change[field]),
  ]
  return {
    headline: headline(current.visitors, previous.visitors, change.visitors),
    numbers: [
      line('Visitors', 'visitors', full),
      line('Pageviews', 'pageviews', full),
      line('Sessions', 'sessions', full),
      line('Bounce rate', 'bounce_rate', (value) => `${value}%`),
      line('Visit duration', 'avg_duration', duration),
    ],
    days: series.map(({ date, visitors }: { date: string; visitors: number }, index: number) => [
      dayName(date),
      full(visitors),
      ...(before ? [full(before[index].visitors)] : []),
    ]),
    lists: {
      Pages: listed(
        pages,
        ({ pathname, views }) => [cut(pathname), full(views), share(views, current.pageviews)],
        'No page was viewed.',
      ),
      Sources: listed(
        sources,
        ([name, visitors]) => [cut(name), full(visitors), share(visitors, current.visitors)],
        'No source is known.',
      ),
      Countries: listed(
        countries,
        ({ name, visitors }) => [cut(name), full(visitors), share(visitors, current.visitors)],
        'No country is known.',
      ),
      'Custom events': listed(
        events,
        ({ name, count, visitors }) => [cut(name), full(count), full(visitors)],
        'No custom event was sent.',
      ),
      ...(goals && {
        Goals: listed(
          goals,
          ({ goal, conversions, conversion_rate }) => [
            cut(goal),
            full(conversions),
            conversion_rate === 0 ? '<0.1%' : `${conversion_rate}%`,
          ],
          'No goal was reached.',
        ),
      }),
    },
  }
}

/** A report shows at most 80 characters of a name. */
const cut = (name: string): string => (name.length <= 80 ? name : `${name.slice(0, 79)}…`)

// biome-ignore lint/suspicious/noExplicitAny: rows of the API
const listed = (rows: any[], line: (row: any) => string[], nothing: string) =>
  rows.length === 0 ? nothing : rows.map(line)

async function compareAccount(world: ReportsWorld, random: Random, { interval, firstDay, lastDay }: Days) {
  const sites = random.oneIn(2) ? world.sites : random.sample(world.sites, 1 + random.below(6))
  const { subject, text, html } = await world.compose({ interval, firstDay, about: { account: 'Acme', sites } })
  const answer = await world.api('sites/overview', { range: 'custom', start: firstDay, end: lastDay })
  const ids = sites.map(({ id }) => id)
  // biome-ignore lint/suspicious/noExplicitAny: rows of the API
  const rows: any[] = answer.json.data.filter(({ site_id }: { site_id: string }) => ids.includes(site_id))
  rows.sort(
    (one, other) =>
      other.current.visitors - one.current.visitors ||
      other.current.pageviews - one.current.pageviews ||
      (one.domain < other.domain ? -1 : 1),
  )
  const sum = (period: 'current' | 'previous') => rows.reduce((total, row) => total + row[period].visitors, 0)
  const [visitors, before] = [sum('current'), sum('previous')]
  const tenths = Math.round((Math.abs(visitors - before) * 1000) / before)
  const change = before === 0 ? null : (Math.sign(visitors - before) * tenths) / 10
  const where = ` on ${sites.length} ${sites.length === 1 ? 'site' : 'sites'}`
  const expected = {
    headline: headline(visitors, before, change, where),
    sites: rows.map(({ domain, current, change }) => [
      domain,
      full(current.visitors),
      full(current.pageviews),
      percent(change.visitors),
    ]),
  }
  const differences = new Differences(`${interval} ${firstDay} of ${sites.length} sites`)
  differences.unlessEqual('HTML', readAccountHtml(html), expected)
  differences.unlessEqual('text', readAccountText(text), expected)
  const shown = visitors === 0 ? 'no visitors' : counted(visitors)
  differences.unlessEqual('subject', subject.startsWith(`Acme: ${shown}${where}`), true)
  return differences.all
}

class Differences {
  readonly all: Difference[] = []
  private readonly report: string

  constructor(report: string) {
    this.report = report
  }

  unlessEqual(part: string, found: unknown, expected: unknown): void {
    if (!isDeepStrictEqual(found, expected)) this.all.push({ report: this.report, part, found, expected })
  }
}

const counted = (visitors: number): string => `${full(visitors)} ${visitors === 1 ? 'visitor' : 'visitors'}`

const headline = (visitors: number, before: number, change: number | null, where = ''): string =>
  `${counted(visitors)}${where}${change === null ? '' : ` ${percent(change)} from ${full(before)}`}`

const percent = (change: number | null): string =>
  change === null ? '–' : `${change > 0 ? '+' : ''}${change.toLocaleString('en-US')}%`

/** Half a percent is rounded up, and what is less is not nothing. */
function share(count: number, total: number): string {
  const whole = Math.floor((count * 100 + total / 2) / total)
  return whole === 0 ? '<1%' : `${whole}%`
}

function duration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  if (hours > 0) return `${hours}h ${minutes}m`
  return minutes > 0 ? `${minutes}m ${seconds % 60}s` : `${seconds}s`
}

const name = (day: string, part: 'weekday' | 'month'): string =>
  new Intl.DateTimeFormat('en-US', { [part]: part === 'month' ? 'long' : 'short', timeZone: 'UTC' }).format(
    Date.parse(day),
  )

/** `Mon 9 November` */
const dayName = (day: string): string => `${name(day, 'weekday')} ${Number(day.slice(8))} ${name(day, 'month')}`

/** `2 – 8 November` from `2026-11-02T00:00:00+01:00/2026-11-09T00:00:00+01:00`. */
function comparedDays(interval: string): string {
  const [from = '', to = ''] = interval.split('/')
  const [first, last] = [from.slice(0, 10), iso(Date.parse(to.slice(0, 10)) - dayMs)]
  const month = first.slice(0, 7) === last.slice(0, 7) ? '' : ` ${name(first, 'month')}`
  return `${Number(first.slice(8))}${month} – ${Number(last.slice(8))} ${name(last, 'month')}`
}
