// Shared parts of the tools' answers. Each answer names its site, dates, zone and units, so that nobody has to guess them.
import Type from 'typebox'
import { dimensionOf } from '../stats/questions/dimensions.ts'
import { metricOf } from '../stats/questions/metrics.ts'
import type { QuestionAnswer, SourceFilter, SourceSite } from '../stats/source.ts'
import { dayIn } from './inputs.ts'
import { visitorText } from './visitor-text.ts'

/** Numbers by the names of their metrics. */
export type Numbers<Value = number> = Readonly<Record<string, Value>>

/** `count`, `percent`, `seconds`, or minor units of a currency. */
export function unitOf(name: string): string {
  const { unit = '', currency } = metricOf(name) ?? {}
  if (currency) return `minor units of ${currency}`
  return unit === 'percent' || unit === 'seconds' ? unit : 'count'
}

export const unitsOf = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, unitOf(name)]))

/** The name of a column of numbers, for the text: `bounce_rate (percent)`. */
export const headingOf = (name: string): string => (unitOf(name) === 'count' ? name : `${name} (${unitOf(name)})`)

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
  filters: Type.Array(
    Type.Object({ dimension: Type.String(), operator: Type.String(), values: Type.Array(Type.String()) }),
  ),
  warnings: Type.Array(Type.String()),
}

export const previousPeriod = period

export const metrics = Type.Record(Type.String(), Type.Number())
export const changes = Type.Record(Type.String(), Type.Union([Type.Number(), Type.Null()]))

export function describe(site: SourceSite, answer: QuestionAnswer, now: number) {
  const isEmpty = new Set(answer.period.split('/')).size === 1
  return {
    site: { site_id: site.id, domain: site.domain },
    period: namePeriod(answer.period, site.timeZone, now),
    filters: answer.filters.map(safe),
    warnings: [...answer.warnings, ...(isEmpty ? ['this range has not begun yet, so it has no numbers'] : [])],
  }
}

const safe = ({ dimension, operator, values }: SourceFilter): SourceFilter => ({
  dimension,
  operator,
  values: dimensionOf(dimension)?.isOurs ? values : values.map(visitorText),
})

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

/** `example.com, 2026-11-09 to 2026-11-15 (Europe/Berlin), country is "DE"` */
export function subjectText({ site, period, filters, warnings }: Subject): string {
  const words = filters.map(
    ({ dimension, operator, values }) =>
      `, ${dimension} ${operator} ${values.map((one) => JSON.stringify(one)).join(' or ')}`,
  )
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

/** What numbers are compared with: `before` or `baseline`. */
interface Other {
  numbers: Numbers
  change: Changes
  called: string
}

/** One line per metric, with its number in the other period and the change. */
export const metricLines = (current: Numbers, other: Other | null): string =>
  Object.entries(current)
    .map(([name, value]) => `${name}: ${withUnit(name, value)}${other ? comparedText(name, other) : ''}`)
    .join('\n')

function comparedText(name: string, { numbers, change, called }: Other): string {
  const percent = change[name] ?? null
  const changed = percent === null ? '' : `, ${percent > 0 ? '+' : ''}${percent} %`
  return ` (${called} ${withUnit(name, numbers[name] ?? 0)}${changed})`
}

export type Changes = Numbers<number | null>

const grouped = new Intl.NumberFormat('en')

const signs: Readonly<Record<string, string>> = { count: '', percent: ' %', seconds: ' s' }

function withUnit(name: string, value: number): string {
  const unit = unitOf(name)
  return `${grouped.format(value)}${signs[unit] ?? ` ${unit}`}`
}
