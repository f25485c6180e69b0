// Answers of /api/v2, computed in the slow and obvious way from docs/questions.md: arrays of hits, one pass per number. It shares no code with
// src/stats, so only an error made twice goes unnoticed.
import { pageview, type TrafficEvent } from '../../../src/traffic/event.ts'
import { type ImportedPart, type ImportedRow, importedIn, remarksOf } from './imported.ts'
import { byCodePoint, changeOf } from './model.ts'
import {
  type AskedSite,
  type Kept,
  keptIn,
  type Numbers,
  numbersOf,
  type Part,
  propertyOf,
  type Question,
  quotient,
  reaches,
  valueOfSession,
} from './question-hits.ts'
import { currentWindow, previousWindow, shiftedWindow, startOfDay, type Window } from './windows.ts'

/** The data of the answer, or the code of its refusal. Rows of a breakdown are all there. */
export function answerQuestion(site: AskedSite, question: Question, now: number): unknown {
  const current = currentWindow(question.dates.range, question.dates, site.zone, now)
  if (current === 'invalid_date') return current
  if (question.interval === 'hour' && question.dates.range !== '24h' && current.dates.length > 31)
    return 'invalid_parameter'
  const compared = comparedWindow(question, current)
  switch (question.kind) {
    case 'totals':
      return record(question, totals(site, question, current), compared && totals(site, question, compared))
    case 'timeseries': {
      const points = series(site, question, current)
      const before = compared && series(site, question, compared)
      return points.map(({ label, numbers }, index) => ({
        ...label,
        ...record(question, numbers, before && (before[index]?.numbers ?? null)),
      }))
    }
    case 'breakdown': {
      const rows = breakdown(site, question, current)
      const before = compared && breakdown(site, question, compared)
      const none = numbersOf(site, question, current, [])
      return rows.map(({ value, numbers }) => ({
        [question.by ?? '']: value === '' ? null : value,
        ...record(question, numbers, before && (before.find((row) => row.value === value)?.numbers ?? none)),
      }))
    }
  }
}

function comparedWindow({ compare, matchWeekday, dates }: Question, current: Window): Window | undefined {
  if (!compare) return undefined
  if (compare === 'year') return shiftedWindow(dates.range, current, matchWeekday ? { days: 364 } : { months: 12 })
  if (!matchWeekday) return previousWindow(dates.range, current)
  const days = dates.range === '24h' ? 7 : 7 * Math.ceil(current.dates.length / 7)
  return shiftedWindow(dates.range, current, { days })
}

function record({ metrics }: Question, numbers: Numbers, before: Numbers | null | undefined): object {
  const pick = (all: Numbers) => Object.fromEntries(metrics.map((name) => [name, all[name]]))
  if (before === undefined) return pick(numbers)
  if (before === null) return { ...pick(numbers), previous: null, change: null }
  const scale = (name: string) => (name === 'views_per_session' ? 100 : name === 'conversion_rate' ? 10 : 1)
  const whole = (all: Numbers, name: string) => Math.round((all[name] ?? 0) * scale(name))
  const change = Object.fromEntries(metrics.map((name) => [name, changeOf(whole(numbers, name), whole(before, name))]))
  return { ...pick(numbers), previous: pick(before), change }
}

const columnsOf: Record<string, readonly string[]> = {
  bounce_rate: ['bounces', 'sessions'],
  avg_duration: ['duration', 'sessions'],
  views_per_session: ['pageviews', 'sessions'],
}

/** The imported days that a question reads. */
const importedBy = (site: AskedSite, question: Question, window: Window): ImportedPart =>
  importedIn(site.imported, window, {
    lists: [{ list: question.by ?? 'total', metrics: question.metrics.flatMap((name) => columnsOf[name] ?? [name]) }],
    isFiltered: question.filters.length > 0,
    byHour: question.interval === 'hour',
    excludedCountries: site.excludedCountries,
  })

/** How the remarks on imported days begin, of both windows. */
export function remarksOnQuestion(site: AskedSite, question: Question, now: number): string[] {
  const current = currentWindow(question.dates.range, question.dates, site.zone, now)
  if (current === 'invalid_date') return []
  const compared = comparedWindow(question, current)
  return remarksOf([current, ...(compared ? [compared] : [])].map((window) => importedBy(site, question, window)))
}

const whole = (kept: Kept): Part => ({
  kept,
  part: kept.hits,
  members: kept.hits,
  hasSession: true,
  paid: kept.inWindow,
})

const totals = (site: AskedSite, question: Question, window: Window): Numbers =>
  numbersOf(site, question, window, keptIn(site, question, window).map(whole), importedBy(site, question, window).rows)

interface Point {
  label: { date: string } | { time: string }
  numbers: Numbers
}

function series(site: AskedSite, question: Question, window: Window): Point[] {
  const kept = keptIn(site, question, window)
  if (question.interval === 'hour') return hours(site, question, window, kept)
  const bucketOf = (date: string) => {
    if (question.interval === 'month') return date.slice(0, 7)
    if (question.interval !== 'week') return date
    const day = Temporal.PlainDate.from(date)
    return day.subtract({ days: day.dayOfWeek - 1 }).toString()
  }
  const imported = importedBy(site, question, window).rows
  return [...Map.groupBy(window.dates, bucketOf)].map(([bucket, dates]) => {
    const some = kept.filter(({ session }) => bucketOf(session.first.day) === bucket)
    const sums = imported.filter(({ day }) => bucketOf(day) === bucket)
    return { label: { date: dates[0]! }, numbers: numbersOf(site, question, window, some.map(whole), sums) }
  })
}

/** The hour of a hit is the last one that begins no later; a hit outside its day counts in the nearest hour of the day. */
function hours(site: AskedSite, question: Question, window: Window, kept: readonly Kept[]): Point[] {
  const begins = beginsOfHours(question, window)
  const starts = begins.map((begin) => begin.epochMilliseconds)
  const startOf = (day: Temporal.PlainDate) => startOfDay(day, window.start.timeZoneId).epochMilliseconds
  const days = new Map(
    window.dates.map((date) => {
      const day = Temporal.PlainDate.from(date)
      return [date, [startOf(day), startOf(day.add({ days: 1 }))] as const]
    }),
  )
  const hourOf = ({ time, day }: TrafficEvent): number => {
    const [from, to] = (question.dates.range !== '24h' && days.get(day)) || [time, time + 1]
    const within = Math.min(Math.max(time, from), to - 1)
    return Math.max(
      0,
      starts.findLastIndex((start) => start <= within),
    )
  }
  return begins.map((begin, index) => {
    const parts = kept.map((one): Part => {
      const part = one.hits.filter((hit) => hourOf(hit) === index)
      const paid = one.inWindow.filter((hit) => hourOf(hit) === index)
      return { kept: one, part, members: part, hasSession: hourOf(one.session.first) === index, paid }
    })
    const time = begin.toString({
      timeZoneName: 'never',
      smallestUnit: begin.millisecond === 0 ? 'second' : 'millisecond',
    })
    return { label: { time }, numbers: numbersOf(site, question, window, parts) }
  })
}

/** Every instant at which a clock on the wall shows a full hour or is changed, by trying each minute. A day that the zone skips has none. */
function beginsOfHours({ dates: { range } }: Question, { start, end, dates }: Window): Temporal.ZonedDateTime[] {
  if (range === '24h') return Array.from({ length: 24 }, (_, index) => end.subtract({ hours: 24 - index }))
  if (dates.length === 0 || Temporal.ZonedDateTime.compare(start, end) >= 0) return []
  const begins: Temporal.ZonedDateTime[] = [start]
  for (let at = start.add({ minutes: 1 }); Temporal.ZonedDateTime.compare(at, end) < 0; at = at.add({ minutes: 1 })) {
    const isChanged = at.offsetNanoseconds !== at.subtract({ minutes: 1 }).offsetNanoseconds
    if (at.minute === 0 || isChanged) begins.push(at)
  }
  return begins
}

interface Row {
  value: string
  numbers: Numbers
}

function breakdown(site: AskedSite, question: Question, window: Window): Row[] {
  const kept = keptIn(site, question, window)
  const imported = importedBy(site, question, window).rows
  const valueIn = ({ value }: ImportedRow) => (question.by === 'device' ? value.toLowerCase() : value)
  const values = new Set([
    ...kept.flatMap((one) => one.hits.flatMap((hit) => valuesOf(site, question, one, hit))),
    ...imported.map(valueIn),
  ])
  return [...values]
    .map((value): Row => {
      const parts = kept.flatMap((one): Part[] => {
        const part = one.hits.filter((hit) => valuesOf(site, question, one, hit).includes(value))
        // A page has the visitors of its pageviews.
        const members = question.by === 'page' ? part.filter(({ name }) => name === pageview) : part
        const paid = members.length > 0 ? one.inWindow : []
        return part.length > 0 ? [{ kept: one, part, members, hasSession: members.length > 0, paid }] : []
      })
      const sums = imported.filter((row) => valueIn(row) === value)
      return { value, numbers: rowNumbers(site, question, window, { parts, kept, sums }) }
    })
    .toSorted((a, b) => byOrder(question, a, b))
}

function rowNumbers(
  site: AskedSite,
  question: Question,
  window: Window,
  { parts, kept, sums }: { parts: readonly Part[]; kept: readonly Kept[]; sums: readonly ImportedRow[] },
): Numbers {
  const numbers = numbersOf(site, question, window, parts, sums)
  if (question.by !== 'goal') return numbers
  // The rate of a goal divides by everybody.
  const all = new Set(kept.map(({ session: { first } }) => `${first.day} ${first.visitorId}`)).size
  return { ...numbers, conversion_rate: quotient(1000 * (numbers.conversions ?? 0), all) / 10 }
}

function valuesOf(site: AskedSite, question: Question, { session }: Kept, hit: TrafficEvent): string[] {
  const { by = '', metrics } = question
  if (by.startsWith('prop:')) return [propertyOf(hit, by)].filter((value) => value !== undefined)
  switch (by) {
    case 'page':
      return hit.name === pageview || metrics.includes('events') ? [hit.pathname] : []
    case 'hostname':
      return [hit.hostname]
    case 'event':
      return hit.name === pageview ? [] : [hit.name]
    case 'goal':
      return site.goals.filter((goal) => reaches(goal, hit)).map(({ name }) => name)
    default:
      return [valueOfSession(session, by)]
  }
}

function byOrder({ metrics, order }: Question, a: Row, b: Row): number {
  const first = order?.metric ?? metrics[0]!
  for (const name of [first, ...metrics.filter((one) => one !== first)]) {
    const difference = (a.numbers[name] ?? 0) - (b.numbers[name] ?? 0)
    if (difference !== 0) return name === first && order?.ascending ? difference : -difference
  }
  if ((a.value === '') !== (b.value === '')) return a.value === '' ? 1 : -1
  return byCodePoint(a.value, b.value)
}
