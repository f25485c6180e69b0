// What every drawing begins and ends with.
import type { RangeName } from '../../calendar/periods.ts'
import { shortDay } from '../../display/formats.ts'
import { rangeTexts } from '../../display/ranges.ts'
import type { SourceSite } from '../../stats/source.ts'
import { printable } from '../printable.ts'
import { padStart, shorten, shownWidth, type Terminal } from '../terminal.ts'
import { dateOf, type Interval, lastDateOf } from './answers.ts'

interface Subject {
  site: SourceSite
  range: RangeName
  period: Interval
  previousPeriod?: Interval | undefined
}

export const heading = ({ site, range, period, previousPeriod }: Subject, terminal: Terminal): string[] => [
  ...sides(terminal.bold(printable(site.domain)), rangeTexts[range], terminal),
  ...sides(terminal.dim(periodText(period)), terminal.dim(printable(site.timeZone)), terminal),
  ...(previousPeriod ? [terminal.dim(`Compared with ${periodText(previousPeriod)}`)] : []),
]

export const notes = (warnings: readonly string[], terminal: Terminal): string[] =>
  warnings.flatMap((warning) => ['', terminal.warn(`Note: ${printable(warning)}.`)])

export const fitted = (lines: readonly string[], terminal: Terminal): string =>
  lines.map((line) => shorten(line, terminal.width)).join('\n')

/** One text at the left and one at the right; one below the other if they do not fit. */
export function sides(left: string, right: string, terminal: Terminal): string[] {
  const room = terminal.width - shownWidth(left)
  return room >= shownWidth(right) + 2 ? [left + padStart(right, room)] : [left, right]
}

/** `18 Oct to 16 Nov, 09:36`. A period does not include its end, so a period that ends at midnight ends with the day before. */
function periodText({ start, end }: Interval): string {
  const { year } = Temporal.Now.plainDateISO()
  const clock = (instant: string) => (isMidnight(instant) ? '' : `, ${instant.slice(11, 16)}`)
  const last = isMidnight(end) ? lastDateOf(end) : dateOf(end)
  return `${shortDay(dateOf(start), year)}${clock(start)} to ${shortDay(last, year)}${clock(end)}`
}

const isMidnight = (instant: string): boolean => instant.slice(11, 19) === '00:00:00'
