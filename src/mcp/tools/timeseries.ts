import Type from 'typebox'
import { ApiError } from '../../errors.ts'
import type { StatsParameters } from '../../stats/report.ts'
import { describe, subject, subjectText, units } from '../answers.ts'
import { findSite, input, oneOf, query, readQuery } from '../inputs.ts'
import { firstDayOf } from '../ranges.ts'
import { tool } from '../tool.ts'

interface Day {
  date: string
  visitors: number
  pageviews: number
}

const intervals = ['day', 'week', 'month'] as const

/** Enough for 12 months by day. A hundred years by day would be 36,500 rows. */
const maxRows = 400
const fewestDays = { day: 1, week: 7, month: 28 }

export const timeseries = tool({
  name: 'timeseries',
  title: 'Visitors over time',
  description: 'Visitors and pageviews of one site by day, week or month.',
  input: input({
    ...query,
    interval: Type.Optional(oneOf(intervals, 'One row per day (the default), week (from Monday) or month.')),
  }),
  output: Type.Object({
    ...subject,
    interval: Type.String(),
    rows: Type.Array(
      Type.Object({
        date: Type.String({ description: 'First day of the row within the period.' }),
        days: Type.Integer({ description: 'Days of the row: fewer where the period begins or ends within it.' }),
        visitors: Type.Integer(),
        pageviews: Type.Integer(),
      }),
    ),
    units,
  }),
  async run({ interval = 'day', ...request }, call) {
    const site = await findSite(request.site, call)
    const parameters = readQuery(request, site, call.now)
    refuseTooMany(parameters, interval)
    const answer = await call.source.read('timeseries', site.id, parameters, call.signal)
    const rows = grouped(answer.data as Day[], interval)
    const about = describe(site, parameters, answer, call.now)
    const lines = rows.map(({ date, visitors, pageviews }) => `${date}\t${visitors}\t${pageviews}`)
    return {
      data: { ...about, interval, rows, units: { visitors: 'count', pageviews: 'count' } },
      text: `${subjectText(about)}\n${interval === 'day' ? 'day' : `${interval} from`}\tvisitors\tpageviews\n${lines.join('\n')}`,
    }
  },
})

function refuseTooMany({ range }: StatsParameters, interval: (typeof intervals)[number]): void {
  if (range.name !== 'custom') return
  const days = range.firstDay.until(range.lastDay).days + 1
  if (days / fewestDays[interval] <= maxRows) return
  throw new ApiError(
    'invalid_parameter',
    `That would be more than ${maxRows} rows. Send the interval month, or a shorter range.`,
  )
}

/** Exact: a visitor is counted once per day, so every number of a week is the sum of its days (decision D-2). */
function grouped(days: readonly Day[], interval: (typeof intervals)[number]) {
  const rows = new Map<string, Day & { days: number }>()
  for (const { date, visitors, pageviews } of days) {
    const group = firstDayOf(interval, Temporal.PlainDate.from(date)).toString()
    const row = rows.get(group) ?? { date, days: 0, visitors: 0, pageviews: 0 }
    row.days++
    row.visitors += visitors
    row.pageviews += pageviews
    rows.set(group, row)
  }
  return [...rows.values()]
}
