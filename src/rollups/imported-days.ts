// Imported days: daily sums of another product, in lists that do not combine (decision D-244). Decides which of them answer a query, and which are
// left out because they cannot; whoever leaves days out says so. Without imported days nothing here adds anything to a statement.
import { type DayRange, dayAfter, dayBefore, intersect, later, subtract } from '../calendar/days.ts'
import { type Period, partialEnd, partialStart, storedDay } from '../calendar/periods.ts'
import { join, type Sql, sql, text, texts } from '../stores/clickhouse-sql.ts'
import { onDays } from '../traffic/conditions.ts'
import type { Coverage, ImportedDays } from './coverage.ts'

/** What a query needs of imported days. It may read several lists; then a day must have all of them. */
export interface ImportedNeeds {
  lists: readonly { list: string; metrics: readonly string[] }[]
  isFiltered: boolean
  byHour: boolean
  excludedCountries: readonly string[]
}

export interface ImportedPlan {
  rows: readonly Pick<ImportedDays, 'list' | 'version' | 'days'>[]
  /** The days of these rows. */
  read: readonly DayRange[]
  leftOut: readonly LeftOutDays[]
}

export interface LeftOutDays {
  days: readonly DayRange[]
  /** Continues the sentence “… are left out, because”. */
  why: string
}

/** Undefined if no day of the period is imported. */
export function importedPlanOf(
  { imported }: Pick<Coverage, 'imported'>,
  period: Period,
  needs: ImportedNeeds,
): ImportedPlan | undefined {
  if (imported.length === 0) return undefined
  const all: DayRange = [storedDay(period.firstDay), storedDay(period.lastDay)]
  const touched = unionOf(imported.flatMap(({ days }) => intersect([all], days)))
  if (touched.length === 0) return undefined
  const nothing = (why: string): ImportedPlan => ({ rows: [], read: [], leftOut: [{ days: touched, why }] })
  if (needs.byHour) return nothing('sums of another product have no hours')
  if (needs.isFiltered) return nothing('sums of another product cannot be filtered')
  // Only the list of countries says which numbers are those of a country.
  if (needs.excludedCountries.length > 0 && needs.lists.some(({ list }) => list !== 'country'))
    return nothing('their sums by another product do not say which are of excluded countries')
  const whole = wholeDaysOf(period, all)
  const parts = needs.lists.map(({ list, metrics }) =>
    imported.filter((one) => one.list === list && metrics.every((metric) => one.metrics.includes(metric))),
  )
  const read = parts.reduce<readonly DayRange[]>(
    (days, some) =>
      intersect(
        days,
        some.flatMap((one) => one.days),
      ),
    whole,
  )
  const cut = subtract(touched, whole)
  const missing = subtract(subtract(touched, read), cut)
  return {
    rows: parts.flat().flatMap(({ list, version, days }) => {
      const readable = intersect(days, read)
      return readable.length > 0 ? [{ list, version, days: readable }] : []
    }),
    read: unionOf(read),
    leftOut: [
      ...(missing.length > 0 ? [{ days: missing, why: `the import has no such list: ${namesOf(needs)}` }] : []),
      ...(cut.length > 0
        ? [{ days: cut, why: 'the period covers only a part of the day, and a daily sum cannot be divided' }]
        : []),
    ],
  }
}

/** The days that the period covers from their first instant to their last. */
const wholeDaysOf = (period: Period, [first, last]: DayRange): DayRange[] =>
  intersect(
    [[first, last]],
    [[partialStart(period) === null ? first : dayAfter(first), partialEnd(period) === null ? last : dayBefore(last)]],
  )

const namesOf = ({ lists }: ImportedNeeds): string =>
  lists.map(({ list, metrics }) => `${list} with ${metrics.join(', ')}`).join(' and ')

/** Sorted, with neighbours joined. */
export function unionOf(ranges: readonly DayRange[]): DayRange[] {
  const joined: DayRange[] = []
  for (const [first, last] of ranges.toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const before = joined.at(-1)
    if (before && first <= dayAfter(before[1])) joined[joined.length - 1] = [before[0], later(last, before[1])]
    else joined.push([first, last])
  }
  return joined
}

/** A condition on `imported_sums`: these rows of the site, without those of excluded countries. */
export function importedScope(siteId: string, rows: ImportedPlan['rows'], excludedCountries: readonly string[]): Sql {
  const readable = rows.map(
    ({ list, version, days }) =>
      sql`(list = ${text(list)} AND version = toUInt64(${text(version)}) AND ${onDays(days)})`,
  )
  const excluded =
    excludedCountries.length > 0 ? sql` AND (list != 'country' OR value NOT IN ${texts(excludedCountries)})` : sql``
  return sql`site_id = ${text(siteId)} AND (${join(readable, sql` OR `)})${excluded}`
}

/** Remarks for the reader of an answer. Days that several periods leave out for the same reason are named once. */
export function importedRemarks(plans: readonly (ImportedPlan | undefined)[]): string[] {
  const known = plans.filter((plan) => plan !== undefined)
  const read = unionOf(known.flatMap((plan) => plan.read))
  const reasons = Map.groupBy(
    known.flatMap(({ leftOut }) => leftOut),
    ({ why }) => why,
  )
  return [
    ...(read.length > 0
      ? [`${nameDays(read)} imported as daily sums of another product, which counts in its own way`]
      : []),
    ...Array.from(
      reasons,
      ([why, some]) => `${nameDays(unionOf(some.flatMap(({ days }) => days)))} left out, because ${why}`,
    ),
  ]
}

/** A header has room for a few; most sites have one. */
const maxNamed = 5

/** `2025-01-01 to 2025-03-31, 2025-05-01` */
export function textOfDays(ranges: readonly DayRange[]): string {
  const named = ranges.slice(0, maxNamed).map(([first, last]) => (first === last ? first : `${first} to ${last}`))
  const more = ranges.length - named.length
  return `${named.join(', ')}${more > 0 ? ` and ${more} more ranges of days` : ''}`
}

function nameDays(ranges: readonly DayRange[]): string {
  const isOne = ranges.length === 1 && ranges[0]?.[0] === ranges[0]?.[1]
  return `${textOfDays(ranges)} ${isOne ? 'is' : 'are'}`
}

/** The imported days that every list but that of countries leaves out while a country is excluded. */
export const hiddenByExclusions = ({ imported }: Pick<Coverage, 'imported'>): DayRange[] =>
  unionOf(imported.filter(({ list }) => list !== 'country').flatMap(({ days }) => days))
