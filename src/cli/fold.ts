import { setTimeout as sleep } from 'node:timers/promises'
import { listSites, type Site } from '../accounts/sites.ts'
import { lastClosedDay } from '../folding/calendar.ts'
import { lengthOf, refoldSite } from '../folding/fold.ts'
import { eraseRound, foldRound, type Round, watchErasures, watchOpenDays } from '../folding/loop.ts'
import { clocksDiffer, declareKept, planRetention } from '../folding/retention.ts'
import { type Verdict, verifySite } from '../folding/verify.ts'
import { explain } from '../process/error-hints.ts'
import type { DayRange } from '../traffic/folds.ts'
import { eventsKeptFrom } from '../traffic/kept.ts'
import { type Command, CommandError, type Context, type Input, positionals, text } from './command.ts'
import { siteOf } from './site.ts'
import { showProgress } from './terminal.ts'

const siteOption = { site: { type: 'string' } } as const
const siteHelp = { site: 'only this one, by domain or id' }

/** The site named, or all that have something folded. */
async function sitesOf({ postgres }: Context, input: Input): Promise<Site[]> {
  const named = text(input, 'site')
  if (named !== undefined) return [await siteOf(postgres, named)]
  return (await listSites(postgres)).filter(({ folds }) => folds.length > 0)
}

const status: Command = {
  summary: 'Show how far each site is folded',
  usage: '[--site <site>]',
  options: siteOption,
  optionHelp: siteHelp,
  async run(input, context) {
    positionals(input, [])
    const now = Date.now()
    const keptFrom = await eventsKeptFrom(context.postgres)
    const rows = (await sitesOf(context, input)).map(({ id, domain, folds, timeZone }) => {
      const days = folds.flatMap((fold) => fold.days)
      const closed = lastClosedDay(timeZone, now)
      const through =
        days
          .map(([, last]) => last)
          .sort()
          .at(-1) ?? null
      const months = folds.flatMap((fold) => fold.months)
      return { id, domain, through, closed, days: lengthOf(days), months: Math.round(lengthOf(months) / 30.4) }
    })
    return {
      data: rows,
      show: (terminal) =>
        rows.length === 0
          ? 'No site is folded: small sites are read from their events.'
          : terminal.table(
              ['Site', 'Folded through', 'Closed through', 'Days', 'Months'],
              rows.map(({ domain, through, closed, days, months }) => [
                domain,
                through ?? 'not folded',
                closed,
                days.toLocaleString('en'),
                String(months),
              ]),
            ) + keptNote(keptFrom, '\n\n'),
    }
  },
}

const run: Command = {
  summary: 'Fold the days that have closed, drop old events, and erase what is left of deleted sites',
  usage: '[--site <site>] [--watch]',
  options: { ...siteOption, watch: { type: 'boolean' } },
  optionHelp: {
    site: 'only this one, also if it is small',
    watch:
      'go on, looking for closed days and counting open ones of busy sites: a process of its own, of which several may run',
  },
  examples: ['footfall fold run', 'footfall fold run --watch'],
  async run(input, context) {
    positionals(input, [])
    const named = text(input, 'site')
    const siteId = named === undefined ? undefined : (await siteOf(context.postgres, named)).id
    const ending = new AbortController()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => ending.abort())
    const { signal } = ending
    const onError = (error: Error) =>
      void context.progressTo.write(`Open days could not be counted: ${sentence(error)}\n`)
    const onErasureError = (error: Error) =>
      void context.progressTo.write(`Deleted sites could not be erased: ${sentence(error)}\n`)
    const beside = input.options.watch
      ? [watchOpenDays(context, signal, onError), watchErasures(context, signal, onErasureError)]
      : []
    const total: Round & { dropped: string[] } = { sites: 0, days: 0, failed: 0, dropped: [] }
    try {
      do {
        const round = await foldRound(context, {
          now: Date.now(),
          retentionMonths: context.config.RETENTION_MONTHS,
          ...(siteId !== undefined && { siteId }),
          signal,
          onSite: (domain) => showProgress(context.progressTo, `Folding ${domain}`, 'days').update,
          onError: (error, domain) =>
            void context.progressTo.write(`${domain} could not be folded: ${sentence(error)}\n`),
        })
        if (!round && !input.options.watch) {
          throw new CommandError(
            'Another process is folding at the moment.',
            'Wait for it, or look: footfall fold status',
          )
        }
        for (const name of ['sites', 'days', 'failed'] as const) total[name] += round?.[name] ?? 0
        total.dropped.push(...(round?.dropped ?? []))
        if (round?.held && round.held !== total.held) context.progressTo.write(`${round.held}\n`)
        if (round?.held) total.held = round.held
        else delete total.held
        if (input.options.watch) await sleep(60_000, undefined, { signal }).catch(() => {})
      } while (input.options.watch && !signal.aborted)
      if (!input.options.watch && siteId === undefined) await eraseRound(context)
    } finally {
      ending.abort() // also after a failure: nothing may keep the process from ending
      await Promise.all(beside)
    }
    return {
      data: total,
      show: () =>
        [
          `Folded ${total.days.toLocaleString('en')} days of ${total.sites.toLocaleString('en')} sites.`,
          ...(total.dropped.length > 0 ? [`Events of ${total.dropped.length} months were dropped.`] : []),
        ].join(' '),
      ...((total.failed > 0 || total.held) && { exitCode: 1 }),
    }
  },
}

const retention: Command = {
  summary: 'Show which old events RETENTION_MONTHS is about to drop, and confirm it where that is more than one month',
  usage: '[--confirm]',
  options: { confirm: { type: 'boolean' } },
  optionHelp: { confirm: 'drop them: whatever folds does it, 20 minutes later or more; nothing can bring them back' },
  examples: ['footfall fold retention', 'footfall fold retention --confirm'],
  async run(input, context) {
    positionals(input, [])
    const months = context.config.RETENTION_MONTHS
    if (months === undefined)
      throw new CommandError('Events are kept for ever.', 'Set RETENTION_MONTHS to drop old ones.')
    const plan = await planRetention(context, { months })
    if (!plan) throw new CommandError(clocksDiffer, 'Set the clocks right and try again.')
    const confirmed = input.options.confirm === true
    if (confirmed) await declareKept(context.postgres, plan.keptFrom)
    return {
      data: { ...plan, confirmed },
      show: (terminal) =>
        [
          plan.months.length === 0
            ? `No month has events of before ${plan.keptFrom} that were not dropped or confirmed yet.`
            : terminal.table(
                ['Month', 'Events', 'Bytes'],
                plan.months.map(({ month, events, bytes }) => [
                  `${month.slice(0, 4)}-${month.slice(4)}`,
                  events.toLocaleString('en'),
                  bytes.toLocaleString('en'),
                ]),
              ),
          '',
          confirmed
            ? `Events are kept from ${plan.keptFrom} on: older ones are folded and then dropped by whatever folds.`
            : `With --confirm, events are kept from ${plan.keptFrom} on.`,
        ].join('\n'),
    }
  },
}

const rebuild: Command = {
  summary: 'Fold all closed days again; answers stay right meanwhile',
  usage: '[--site <site>]',
  options: siteOption,
  optionHelp: siteHelp,
  async run(input, context) {
    positionals(input, [])
    const sites = await sitesOf(context, input)
    const keptFrom = await eventsKeptFrom(context.postgres)
    let days = 0
    for (const { id, domain, timeZone } of sites) {
      const progress = showProgress(context.progressTo, `Folding ${domain}`, 'days')
      days += await refoldSite(context, id, lastClosedDay(timeZone, Date.now()), progress.update)
      progress.end()
    }
    return {
      data: { sites: sites.length, days },
      show: () =>
        `Folded ${days.toLocaleString('en')} days of ${sites.length.toLocaleString('en')} sites again.${keptNote(keptFrom, ' ')}`,
    }
  },
}

const verify: Command = {
  summary: 'Count all folded days again from the events and compare',
  usage: '[--site <site>]',
  options: siteOption,
  optionHelp: siteHelp,
  async run(input, context) {
    positionals(input, [])
    const results: (Pick<Site, 'id' | 'domain'> & Verdict)[] = []
    for (const { id, domain } of await sitesOf(context, input)) {
      const progress = showProgress(context.progressTo, `Verifying ${domain}`, 'days')
      results.push({ id, domain, ...(await verifySite(context, id, progress.update)) })
      progress.end()
    }
    const isWrong = results.some(({ wrong }) => wrong.length > 0)
    return {
      data: results,
      exitCode: isWrong ? 1 : 0,
      show: (terminal) =>
        [
          terminal.table(
            ['Site', 'Days', 'Not kept', 'Not folded', 'Wrong'],
            results.map(({ domain, days, notKept, unfolded, wrong }) => [
              domain,
              days.toLocaleString('en'),
              notKept === 0 ? 'none' : notKept.toLocaleString('en'),
              unfolded.map(spelled).join(', ') || 'none',
              wrong.map(({ span, day }) => (span === 'month' ? `month of ${day}` : day)).join(', ') || 'none',
            ]),
          ),
          ...(results.some(({ notKept }) => notKept > 0) ? ['', notVerified] : []),
          ...(isWrong ? ['', 'Run footfall fold rebuild to fold them again.'] : []),
        ].join('\n'),
    }
  },
}

/** What went wrong and what to do, on one line of many. */
function sentence(error: Error): string {
  const { message, hint } = explain(error)
  return `${message} ${hint}`
}

const notVerified =
  'Days that are not kept any more were not counted again: their events were dropped (RETENTION_MONTHS).'

/** No event is of the epoch's first day: from then on means all. */
const keptNote = (keptFrom: string, before: string): string =>
  keptFrom === '1970-01-01'
    ? ''
    : `${before}Events are kept from ${keptFrom} on: days before it stay as they were folded.`

const spelled = ([first, last]: DayRange): string => (first === last ? first : `${first} to ${last}`)

export const fold = { status, run, retention, rebuild, verify }
