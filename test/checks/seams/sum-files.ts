// Files of daily sums that a walk imports, and what they say.

import { zipOf } from '../../importing/zip.ts'
import type { ImportedRow } from '../oracle/imported.ts'

const metrics = ['visitors', 'pageviews', 'sessions', 'bounces', 'duration']

/** The same in each file. */
export const sumLists: ReadonlyMap<string, readonly string[]> = new Map(
  ['total', 'page', 'country'].map((list) => [list, metrics]),
)

/** Long before the days of the files with events (steps.ts), whose import refuses imported days. */
const first = Date.UTC(2024, 0, 1)
const daysPerFile = 40

/** Days and rows of one of some files. */
export function sumsOfFile(number: number): { days: string[]; rows: ImportedRow[] } {
  const days = Array.from({ length: daysPerFile }, (_, nth) =>
    new Date(first + (number * (daysPerFile + 3) + nth) * 86_400_000).toISOString().slice(0, 10),
  )
  const sums = (nth: number, factor: number) => ({
    visitors: factor * (1 + (nth % 5)),
    pageviews: factor * (3 + (nth % 7)),
    sessions: factor * (2 + (nth % 5)),
    bounces: factor * (nth % 3),
    duration: factor * nth,
    events: 0,
  })
  const rows = days.flatMap((day, nth): ImportedRow[] => [
    { list: 'total', day, value: '', sums: sums(nth, 2) },
    { list: 'page', day, value: `/imported-${number}`, sums: sums(nth, 1) },
    { list: 'page', day, value: '/', sums: sums(nth + 1, 1) },
    { list: 'country', day, value: 'DE', sums: sums(nth, 1) },
    { list: 'country', day, value: 'JP', sums: sums(nth + 2, 1) },
  ])
  return { days, rows }
}

/** In the shape of Plausible's export. */
export function archiveOf(number: number): Buffer {
  const { rows } = sumsOfFile(number)
  const lines = (list: string, header: string, cells: (value: string) => readonly string[]) =>
    [
      `date,${header}visitors,pageviews,visits,bounces,visit_duration`,
      ...rows
        .filter((row) => row.list === list)
        .map(({ day, value, sums: { visitors, pageviews, sessions, bounces, duration } }) =>
          [day, ...cells(value), visitors, pageviews, sessions, bounces, duration].join(','),
        ),
      '',
    ].join('\n')
  return zipOf({
    'imported_visitors.csv': lines('total', '', () => []),
    'imported_pages.csv': lines('page', 'page,', (value) => [value]),
    'imported_locations.csv': lines('country', 'country,region,city,', (value) => [value, '', '0']),
  })
}
