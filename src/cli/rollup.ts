import { setTimeout as sleep } from 'node:timers/promises'
import { listSites, type Site } from '../accounts/sites.ts'
import { countDays, type DayRange, lastClosedDay } from '../calendar/days.ts'
import { byShard, type Stores } from '../cluster/stores.ts'
import { minuteMs } from '../durations.ts'
import { explain } from '../process/error-hints.ts'
import { differed, watchAnswers } from '../recounting/loop.ts'
import { retainedFrom } from '../rollups/coverage.ts'
import { verifyLedger } from '../rollups/ledger.ts'
import { eraseRound, type Round, retentionRound, rollUpRound, watchErasures, watchToday } from '../rollups/loop.ts'
import { olderDaysOf, type RolledUpAgain } from '../rollups/older-layouts.ts'
import { rebuildSite } from '../rollups/roll-up.ts'
import { type Verdict, verifySite } from '../rollups/verify.ts'
import { type Command, CommandError, type Context, type Input, positionals, text } from './command.ts'
import { differences } from './rollup-differences.ts'
import { retention } from './rollup-retention.ts'
import { siteOf } from './site-reference.ts'
import { showProgress } from './terminal.ts'

const siteOption = { site: { type: 'string' } } as const
const siteHelp = { site: 'only this site, by domain or id' }

/** The named site, or all sites that have rollups. */
async function sitesOf({ postgres }: Context, input: Input): Promise<Site[]> {
  const named = text(input, 'site')
  if (named !== undefined) return [await siteOf(postgres, named)]
  return (await listSites(postgres)).filter(({ coverage }) => coverage.versions.length > 0)
}

const status: Command = {
  summary: 'Show the last rolled-up day of each site',
  usage: '[--site <site>]',
  options: siteOption,
  optionHelp: siteHelp,
  async run(input, context) {
    positionals(input, [])
    await verifyLedger(context)
    const now = Date.now()
    const eventsFrom = await retainedFrom(context.postgres)
    const rows = (await sitesOf(context, input)).map(({ id, domain, coverage, timeZone }) => {
      const days = coverage.versions.flatMap((version) => version.days)
      const closed = lastClosedDay(timeZone, now)
      const through =
        days
          .map(([, last]) => last)
          .sort()
          .at(-1) ?? null
      const months = coverage.versions.flatMap((version) => version.months)
      return {
        ...{ id, domain, through, closed, days: countDays(days), months: Math.round(countDays(months) / 30.4) },
        withoutSessions: countDays(olderDaysOf(coverage)),
      }
    })
    return {
      data: rows,
      show: (terminal) =>
        rows.length === 0
          ? 'No site is rolled up. Reports of small sites read their events.'
          : terminal.table(
              ['Site', 'Rolled up through', 'Closed through', 'Days', 'Months', 'Without sessions'],
              rows.map(({ domain, through, closed, days, months, withoutSessions }) => [
                domain,
                through ?? 'not rolled up',
                closed,
                days.toLocaleString('en'),
                String(months),
                withoutSessions.toLocaleString('en'),
              ]),
            ) + keptNote(eventsFrom, '\n\n'),
    }
  },
}

const run: Command = {
  summary: 'Roll up closed days, drop old events, and erase the traffic of deleted sites',
  usage: '[--site <site>] [--watch]',
  options: { ...siteOption, watch: { type: 'boolean' } },
  optionHelp: {
    site: 'only this site, even if it is small',
    watch:
      'keep running: roll up each day when it closes, and count today of busy sites; several such processes may run at once',
  },
  examples: ['footfall rollup run', 'footfall rollup run --watch'],
  async run(input, context) {
    positionals(input, [])
    await verifyLedger(context)
    const named = text(input, 'site')
    const site = named === undefined ? undefined : await siteOf(context.postgres, named)
    const shards = byShard(context).filter(({ clickhouse }) => !site || clickhouse.shard === site.shard)
    const ending = new AbortController()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => ending.abort())
    const { signal } = ending
    const onError = (error: Error) => void context.progressTo.write(`Today could not be counted: ${sentence(error)}\n`)
    const onErasureError = (error: Error) =>
      void context.progressTo.write(`Deleted sites could not be erased: ${sentence(error)}\n`)
    const onRecountError = (error: Error) =>
      void context.progressTo.write(`Answers could not be recounted: ${sentence(error)}\n`)
    const onDifference = ({ domain }: { domain: string }, day: string, { request }: { request: string }) =>
      void context.progressTo.write(`${domain}, ${day}: ${differed}: ${request}\n`)
    const onSiteError = (error: Error, domain: string) => {
      total.failed++
      context.progressTo.write(`${domain} could not be rolled up: ${sentence(error)}\n`)
    }
    const beside = input.options.watch
      ? shards.flatMap((shard) => [
          watchToday(shard, signal, onError),
          watchErasures(shard, signal, onErasureError),
          watchAnswers(shard, { signal, onError: onRecountError, onDifference }),
        ])
      : []
    const total: Round & { dropped: string[]; held?: string } = { sites: 0, days: 0, failed: 0, dropped: [] }
    const months = site ? undefined : context.config.RETENTION_MONTHS
    const restUntil = new Map<string, number>()
    /** Returns how many days of older layouts another round would roll up again. */
    async function rollUp(shard: Stores): Promise<number> {
      let again = 0
      const round = await rollUpRound(shard, {
        now: Date.now(),
        ...(site && { siteId: site.id }),
        signal,
        onSite: (domain) => showProgress(context.progressTo, `Rolling up ${domain}`, 'events').update,
        onError: onSiteError,
        restUntil,
        onAgain(done) {
          showAgain(done)
          if (done.days > 0) again = done.left
        },
      })
      if (!round && !input.options.watch) {
        throw new CommandError(
          'Another process is rolling up.',
          'Wait for it. To see its progress: footfall rollup status',
        )
      }
      for (const name of ['sites', 'days'] as const) total[name] += round?.[name] ?? 0
      return again
    }
    function showAgain({ days, left, held }: RolledUpAgain): void {
      if (days > 0) context.progressTo.write(`Rolled up ${days} days again that had no sessions; ${left} are left.\n`)
      if (held) context.progressTo.write(`${held}\n`)
    }
    async function drop(): Promise<void> {
      if (months === undefined) return
      const round = await retentionRound(context, { months, signal, onError: onSiteError })
      total.dropped.push(...(round?.months ?? []))
      if (round?.held && round.held !== total.held) context.progressTo.write(`${round.held}\n`)
      if (round?.held) total.held = round.held
      else delete total.held
    }
    /** Each shard has its own loop, so that a shard that hangs does not delay the others. */
    const repeat = async (work: () => Promise<unknown>) => {
      while (!signal.aborted) {
        await work()
        await sleep(minuteMs, undefined, { signal }).catch(() => {})
      }
    }
    try {
      if (input.options.watch) {
        await Promise.all([...shards.map((shard) => repeat(() => rollUp(shard))), repeat(drop)])
      } else {
        // In rounds, because between two of them other processes roll up days that close, and what is replaced is deleted.
        for (const shard of shards) while ((await rollUp(shard)) > 0 && !signal.aborted);
        await drop()
      }
      if (!input.options.watch && !site) for (const shard of shards) await eraseRound(shard)
    } finally {
      ending.abort() // also after a failure, so that nothing keeps the process alive
      await Promise.all(beside)
    }
    return {
      data: total,
      show: () =>
        [
          `Rolled up ${total.days.toLocaleString('en')} days of ${total.sites.toLocaleString('en')} sites.`,
          ...(total.dropped.length > 0 ? [`Dropped the events of ${total.dropped.length} months.`] : []),
        ].join(' '),
      ...((total.failed > 0 || total.held) && { exitCode: 1 }),
    }
  },
}

const rebuild: Command = {
  summary: 'Roll up all closed days again; reports stay correct meanwhile',
  usage: '[--site <site>]',
  options: siteOption,
  optionHelp: siteHelp,
  async run(input, context) {
    positionals(input, [])
    await verifyLedger(context)
    const sites = await sitesOf(context, input)
    const eventsFrom = await retainedFrom(context.postgres)
    let days = 0
    for (const site of sites) {
      const { id, domain, timeZone } = site
      const progress = showProgress(context.progressTo, `Rolling up ${domain}`, 'events')
      days += await rebuildSite(storesOf(context, site), id, lastClosedDay(timeZone, Date.now()), progress.update)
      progress.end()
    }
    return {
      data: { sites: sites.length, days },
      show: () =>
        `Rolled up ${days.toLocaleString('en')} days of ${sites.length.toLocaleString('en')} sites again.${keptNote(eventsFrom, ' ')}`,
    }
  },
}

const verify: Command = {
  summary: 'Count all rolled-up days again from the events, and compare',
  usage: '[--site <site>]',
  options: siteOption,
  optionHelp: siteHelp,
  async run(input, context) {
    positionals(input, [])
    await verifyLedger(context)
    const results: (Pick<Site, 'id' | 'domain'> & Verdict)[] = []
    for (const site of await sitesOf(context, input)) {
      const { id, domain } = site
      const progress = showProgress(context.progressTo, `Verifying ${domain}`, 'events')
      results.push({ id, domain, ...(await verifySite(storesOf(context, site), id, progress.update)) })
      progress.end()
    }
    const isWrong = results.some(({ wrong }) => wrong.length > 0)
    return {
      data: results,
      exitCode: isWrong ? 1 : 0,
      show: (terminal) =>
        [
          terminal.table(
            ['Site', 'Days', 'Without events', 'Not rolled up', 'Wrong'],
            results.map(({ domain, days, notRetained, missingDays, wrong }) => [
              domain,
              days.toLocaleString('en'),
              notRetained === 0 ? 'none' : notRetained.toLocaleString('en'),
              missingDays.map(spelled).join(', ') || 'none',
              wrong.map(({ span, day }) => (span === 'month' ? `month of ${day}` : day)).join(', ') || 'none',
            ]),
          ),
          ...(results.some(({ notRetained }) => notRetained > 0) ? ['', notVerified] : []),
          ...(isWrong ? ['', 'To roll up the wrong days again: footfall rollup rebuild'] : []),
        ].join('\n'),
    }
  },
}

const storesOf = ({ postgres, cluster }: Context, site: Site): Stores => ({ postgres, clickhouse: cluster.of(site) })

/** The error and its hint on one line. */
function sentence(error: Error): string {
  const { message, hint } = explain(error)
  return `${message} ${hint}`
}

const notVerified =
  'Days without events were not counted again, because retention dropped their events (RETENTION_MONTHS).'

/** 1970-01-01 means that all events are retained, because no event has that day. */
const keptNote = (eventsFrom: string, before: string): string =>
  eventsFrom === '1970-01-01'
    ? ''
    : `${before}Events are kept from ${eventsFrom} on; rollups of earlier days cannot change any more.`

const spelled = ([first, last]: DayRange): string => (first === last ? first : `${first} to ${last}`)

export const rollup = { status, run, retention, rebuild, verify, differences }
