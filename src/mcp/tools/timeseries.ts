import Type from 'typebox'
import { ApiError } from '../../errors.ts'
import { type Interval, intervals } from '../../stats/questions/question.ts'
import type { Fields } from '../../stats/source.ts'
import { describe, headingOf, subject, subjectText, units, unitsOf } from '../answers.ts'
import { counted, fieldsOf, findSite, input, oneOf, query } from '../inputs.ts'
import { tool } from '../tool.ts'

type Row = Readonly<Record<string, string | number>>

/** Enough for 12 months by day. A hundred years by day would be 36,500 rows. */
const maxRows = 400
const fewestDays: Readonly<Record<Interval, number>> = { hour: 1 / 24, day: 1, week: 7, month: 28 }
const daysOfRanges: Readonly<Record<string, number>> = { '24h': 1, '7d': 7, '30d': 30, '90d': 90, '12m': 366 }

export const timeseries = tool({
  name: 'timeseries',
  title: 'Numbers over time',
  description: 'Visitors and pageviews of one site, or any other metrics, by hour, day, week or month.',
  input: input({
    ...query,
    ...counted,
    interval: Type.Optional(oneOf(intervals, 'One row per hour, day (the default), week (from Monday) or month.')),
  }),
  output: Type.Object({
    ...subject,
    interval: Type.String(),
    rows: Type.Array(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])), {
      description:
        'date is the first day of the row within the period, and days its number of days: fewer where the period begins or ends within it. Hours have time instead. Then the metrics.',
    }),
    units,
  }),
  async run({ interval = 'day', ...request }, call) {
    const site = await findSite(request.site, call)
    const fields = [...fieldsOf(request, site, call.now), ['interval', interval] as const]
    refuseTooMany(fields, interval)
    const answer = await call.source.ask('timeseries', site.id, fields, call.signal)
    const about = describe(site, answer, call.now)
    const points = answer.data as Row[]
    const label = interval === 'hour' ? 'time' : 'date'
    const rows = interval === 'hour' ? points : withDays(points, about.period.end)
    const columns = Object.keys(points[0] ?? {}).filter((name) => name !== label)
    const lines = points.map((point) => [label, ...columns].map((name) => point[name]).join('\t'))
    const heading = [
      interval === 'day' || interval === 'hour' ? interval : `${interval} from`,
      ...columns.map(headingOf),
    ].join('\t')
    return {
      data: { ...about, interval, rows, units: unitsOf(columns) },
      text: `${subjectText(about)}\n${heading}\n${lines.join('\n')}`,
    }
  },
})

function refuseTooMany(fields: Fields, interval: Interval): void {
  const { range = '', start, end } = Object.fromEntries(fields) as Record<string, string | undefined>
  const days = range === 'custom' ? daysBetween(start, end) : (daysOfRanges[range] ?? 0)
  if (days / fewestDays[interval] <= maxRows) return
  throw new ApiError(
    'invalid_parameter',
    `That would be more than ${maxRows} rows. Send ${interval === 'month' ? '' : `the interval ${interval === 'hour' ? 'day' : 'month'}, or `}a shorter range.`,
  )
}

/** 0 for what is no range of days: the API refuses it with its own words. */
function daysBetween(start: string | undefined, end: string | undefined): number {
  try {
    return Temporal.PlainDate.from(start ?? '').until(Temporal.PlainDate.from(end ?? '')).days + 1
  } catch {
    return 0
  }
}

/** Weeks and months that the period cuts have fewer days. */
const withDays = (points: readonly Row[], lastDay: string): Row[] =>
  points.map(({ date, ...numbers }, index) => {
    const next = points[index + 1]?.date
    const end =
      next === undefined ? Temporal.PlainDate.from(lastDay).add({ days: 1 }) : Temporal.PlainDate.from(String(next))
    return { date: String(date), days: Temporal.PlainDate.from(String(date)).until(end).days, ...numbers }
  })
