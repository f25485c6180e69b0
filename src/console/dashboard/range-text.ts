import type { Period, Range } from '../../calendar/periods.ts'
import { shortDay } from '../../display/formats.ts'
import { rangeTexts } from '../../display/ranges.ts'

/** `Last 30 days`, or the days of a custom range: `3 Nov – 15 Nov` */
export function rangeText(range: Range, { firstDay, lastDay }: Period, now: Temporal.ZonedDateTime): string {
  if (range.name !== 'custom') return rangeTexts[range.name]
  const [first, last] = [shortDay(firstDay, now.year), shortDay(lastDay, now.year)]
  return first === last ? first : `${first} – ${last}`
}
