import { writeFileSync } from 'node:fs'
import type { Site } from '../accounts/sites.ts'
import { composeReport } from '../email-reports/compose.ts'
import { dueAt, type Interval, lastDayOf, lastWholePeriod, periodOf } from '../email-reports/due.ts'
import { refuseOlder } from '../rollups/ledger.ts'
import { createStatsService } from '../stats/service.ts'
import { deadlineFactor } from '../stores/deadline.ts'
import { CommandError, type Context, type Input, type Output, positionals, text } from './command.ts'
import { siteOf } from './site-reference.ts'

/** Longer than the maximum time of all queries plus the wait for their turns. */
const timeoutMs = 30_000 * deadlineFactor
/** Of the mail that is previewed. */
const hour = 8

export async function previewReport(input: Input, { config, postgres, cluster }: Context): Promise<Output> {
  const [reference] = positionals(input, ['site']) as [string]
  const file = text(input, 'to')
  if (!file) throw new CommandError('Which file?', 'Add for example: --to report.html')
  const site = await siteOf(postgres, reference)
  const interval = input.options.month === true ? 'month' : 'week'
  const firstDay = periodOfInput(text(input, 'period'), interval, site)
  const publicUrl = config.PUBLIC_URL ?? `http://localhost:${config.PORT}`
  const schedule = { interval, hour, zone: site.timeZone } as const
  const due = dueAt(firstDay, { ...schedule, siteZones: [site.timeZone] })
  await refuseOlder({ postgres, cluster })
  const { subject, ...parts } = await composeReport(
    createStatsService({ cluster, now: Date.now, cacheBytes: 0 }),
    {
      ...schedule,
      firstDay,
      about: { site },
      publicUrl,
      // There is no subscription to change.
      changeUrl: publicUrl,
      unsubscribeUrl: publicUrl,
      // As if it were sent on time.
      dueAt: due,
      now: due,
    },
    AbortSignal.timeout(timeoutMs),
  )
  writeFileSync(file, file.endsWith('.txt') ? parts.text : parts.html)
  const lastDay = lastDayOf(interval, firstDay)
  return {
    data: { site: site.id, interval, firstDay, lastDay, subject, file },
    show: (terminal) =>
      terminal.facts([
        ['Subject', subject],
        ['Days', `${firstDay} to ${lastDay} (${site.timeZone})`],
        ['Written to', file],
      ]),
  }
}

function periodOfInput(day: string | undefined, interval: Interval, { timeZone }: Site): string {
  const last = lastWholePeriod(interval, timeZone, Date.now())
  if (day === undefined) return last
  if (!isFirstDay(day, interval))
    throw new CommandError(
      `${day} is not the first day of a ${interval}.`,
      interval === 'week' ? 'Name a Monday, such as 2026-11-09.' : 'Name the first of a month, such as 2026-11-01.',
    )
  if (day > last) throw new CommandError(`The ${interval} from ${day} is not over yet.`, `The last one is ${last}.`)
  return day
}

function isFirstDay(day: string, interval: Interval): boolean {
  try {
    return /^\d{4}-\d\d-\d\d$/.test(day) && periodOf(interval, Temporal.PlainDate.from(day).toString()) === day
  } catch {
    return false
  }
}
