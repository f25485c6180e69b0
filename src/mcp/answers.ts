// Shared parts of the tools' answers. Each answer names its site, dates, zone and units, so that nobody has to guess them.
import Type from 'typebox'
import { meanings } from '../stats/meanings.ts'
import type { StatsParameters } from '../stats/report.ts'
import type { Metrics } from '../stats/reports/overview.ts'
import type { SourceAnswer, SourceSite } from '../stats/source.ts'
import { dayIn } from './inputs.ts'
import { visitorText } from './visitor-text.ts'

const metricNames = Object.keys(meanings) as (keyof Metrics)[]

export const metricUnits = {
  visitors: 'count',
  pageviews: 'count',
  sessions: 'count',
  bounce_rate: 'percent',
  avg_duration: 'seconds',
} as const satisfies Record<keyof Metrics, string>

export const units = Type.Record(Type.String(), Type.String(), { description: 'The unit of each number.' })

const period = Type.Object({
  start: Type.String({ description: 'First day.' }),
  end: Type.String({ description: 'Last day, inclusive.' }),
  until: Type.Union([Type.String(), Type.Null()], {
    description: 'The time of day until which the last day counts; null if the whole day does.',
  }),
  time_zone: Type.String(),
  includes_today: Type.Boolean({ description: 'Whether the last day is today, whose numbers still grow.' }),
  exact: Type.String({ description: 'ISO 8601 interval.' }),
})

/** Which traffic an answer is about. */
export const subject = {
  site: Type.Object({ site_id: Type.String(), domain: Type.String() }),
  period,
  filters: Type.Record(Type.String(), Type.String()),
  warnings: Type.Array(Type.String()),
}

export const previousPeriod = period

const eachMetric = <Schema extends Type.TSchema>(schema: Schema) =>
  Type.Object(Object.fromEntries(metricNames.map((name) => [name, schema])))

export const metrics = eachMetric(Type.Integer())
export const changes = eachMetric(Type.Union([Type.Number(), Type.Null()]))

export function describe(site: SourceSite, parameters: StatsParameters, answer: SourceAnswer, now: number) {
  const named = namePeriod(answer.period, site.timeZone, now)
  const { country, device, hostname, utmSource } = parameters.filters
  const filters = { country, device, hostname, utm_source: utmSource && visitorText(utmSource) }
  const isEmpty = new Set(answer.period.split('/')).size === 1
  return {
    site: { site_id: site.id, domain: site.domain },
    period: named,
    filters: Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)),
    warnings: [...answer.warnings, ...(isEmpty ? ['this range has not begun yet, so it has no numbers'] : [])],
  }
}

type Subject = ReturnType<typeof describe>
type NamedPeriod = ReturnType<typeof namePeriod>

/** The first and last day of an ISO 8601 interval, both inclusive. */
export function namePeriod(exact: string, timeZone: string, now: number) {
  const [start, end] = exact.split('/').map((text) => Temporal.Instant.from(text).toZonedDateTimeISO(timeZone)) as [
    Temporal.ZonedDateTime,
    Temporal.ZonedDateTime,
  ]
  const isEmpty = start.epochNanoseconds === end.epochNanoseconds
  const lastDay = (isEmpty ? end : end.subtract({ nanoseconds: 1 })).toPlainDate()
  return {
    start: start.toPlainDate().toString(),
    end: lastDay.toString(),
    until: timeOf(end),
    time_zone: timeZone,
    includes_today: lastDay.equals(dayIn(timeZone, now)),
    exact,
  }
}

/** `12:00`; null at the first instant of a day. */
const timeOf = (instant: Temporal.ZonedDateTime): string | null =>
  instant.equals(instant.startOfDay()) ? null : instant.toPlainTime().toString().slice(0, 5)

/** `example.com, 2026-11-09 to 2026-11-15 (Europe/Berlin), country DE` */
export function subjectText({ site, period, filters, warnings }: Subject): string {
  const words = Object.entries(filters).map(([name, value]) => `, ${name} ${JSON.stringify(value)}`)
  const notes = warnings.map((warning) => `\nNote: ${warning}.`)
  return `${site.domain}, ${periodText(period)}${words.join('')}${notes.join('')}`
}

/** `2026-11-05 to 2026-11-11 until 12:00 (Europe/Berlin)` */
export function periodText({ start, end, until, time_zone, includes_today, exact }: NamedPeriod): string {
  const from = timeOf(Temporal.Instant.from(exact.split('/')[0] as string).toZonedDateTimeISO(time_zone))
  const days = `${start}${from === null ? '' : ` from ${from}`}${start === end ? '' : ` to ${end}`}`
  if (includes_today) return `${days} (${time_zone}, today so far)`
  return `${days}${until === null ? '' : ` until ${until}`} (${time_zone})`
}

/** One line per metric, with its number in the other period and the change. */
export const metricLines = (current: Metrics, other: Metrics, change: Changes, than: string): string =>
  metricNames
    .map((name) => {
      const percent = change[name]
      const compared = percent === null ? '' : `, ${percent > 0 ? '+' : ''}${percent} %`
      return `${name}: ${withUnit(name, current[name])} (${than} ${withUnit(name, other[name])}${compared})`
    })
    .join('\n')

export type Changes = Readonly<Record<keyof Metrics, number | null>>

const grouped = new Intl.NumberFormat('en')
const suffixes = { count: '', percent: ' %', seconds: ' s' }

const withUnit = (name: keyof Metrics, value: number): string =>
  `${grouped.format(value)}${suffixes[metricUnits[name]]}`
