// The parts of a report's text that the letters about one site and about all sites share. Columns are aligned for a fixed-width font, and
// numbers come first, so that long names do not move them.
import { inFull } from '../display/formats.ts'
import type { ReportOrder } from './order.ts'
import { comparison, kindOf, lateness, longName, type ReportDays, rhythm } from './period.ts'
import { promise } from './sentences.ts'

export const percentText = (percent: number | null): string =>
  percent === null ? '–' : `${percent > 0 ? '+' : percent < 0 ? '-' : ''}${inFull(Math.abs(percent))}%`

export const headText = (name: string, days: ReportDays, order: ReportOrder, only?: string): string =>
  [name, kindOf(days), `${longName(days)}, ${comparison(days)}`, only, lateness(order)].filter(Boolean).join('\n')

/** `7,041 visitors (+5.2% from 6,695)` */
export const headlineText = (visitors: number, percent: number | null, before: number, where = ''): string =>
  `${inFull(visitors)} ${visitors === 1 ? 'visitor' : 'visitors'}${where}${percent === null ? '' : ` (${percentText(percent)} from ${inFull(before)})`}`

/** All columns are as wide as their widest cell; the last one is not padded. */
export function table(rows: readonly (readonly string[])[], isLeft: (column: number) => boolean): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((text, column) => (isLeft(column) ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export const subscriptionText = (order: ReportOrder): string =>
  [
    `You asked for this mail ${rhythm(order)}.`,
    `Change it: ${order.changeUrl}`,
    `Unsubscribe with one click: ${order.unsubscribeUrl}`,
    promise,
  ].join('\n')

export const letterText = (parts: readonly string[], footer: string): string =>
  `${[...parts, `-- \n${footer}`].join('\n\n')}\n`
