// Checks that a statement reads what was requested and nothing else.

import type { Statement } from '../../../src/stores/clickhouse-sql.ts'
import type { PlannedQuery } from '../../support/planned-query.ts'
import { isRollups, rollupFaults } from '../../support/rollup-rules.ts'
import { type Source, shapeOf } from '../../support/statement-shape.ts'

const looksLikeSite = /^site_[a-z2-7]{16}$/

/** Every fault of a statement for this query. */
export function faultsOf({ text, parameters }: Statement, query: PlannedQuery): string[] {
  const { sources, siteMentions, hostnames, faults: shapeFaults } = shapeOf(text)
  const faults = [...shapeFaults]
  const { country, device, utmSource, hostname } = query.filters
  const valuesOf = (source: Source, form: string) =>
    source.conditions.filter((one) => one.form === form).map(({ names }) => names.map((name) => parameters[name]))
  const must = (source: Source, form: string, expected: unknown) => {
    const found = valuesOf(source, form)
    const right = expected === undefined ? found.length === 0 : found.length === 1 && same(found[0]?.[0], expected)
    if (!right) faults.push(`${source.table}: ${form} is ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`)
  }

  let guarded = 0
  for (const source of sources) {
    must(source, 'site_id = ?', query.siteId)
    guarded += valuesOf(source, 'site_id = ?').length
    if (isRollups(source.table)) continue
    must(source, 'NOT has(?, country)', query.excludedCountries.length > 0 ? query.excludedCountries : undefined)
    if (source.table === 'titles') continue // a page has one title regardless of filters (decision D-18)
    must(source, 'country = ?', country)
    must(source, 'device = ?', device)
    must(source, 'utm_source = ?', utmSource)
    if (query.versions.length > 0) continue // the tests of the plan check which days are read from where
    const days = valuesOf(source, 'day BETWEEN ? AND ?')[0]?.join(' ')
    if (days !== daysOf(query, 'current') && days !== daysOf(query, 'previous')) faults.push(`days are ${days}`)
  }
  faults.push(...rollupFaults(sources, parameters, query))
  if (siteMentions !== guarded) faults.push(`site_id occurs ${siteMentions} times, ${guarded} times as a condition`)
  const reads = sources.filter(({ table }) => table === 'events').length
  if (hostname === undefined ? hostnames.length > 0 : hostnames.length < reads)
    faults.push('the hostname condition is wrong or missing')
  if (hostnames.some((name) => parameters[name] !== hostname)) faults.push('another hostname is requested')
  for (const value of Object.values(parameters)) {
    // A filter may have any value, even the id of another site; all other values may only name ours.
    if (typeof value !== 'string' || value === query.siteId || value === hostname || value === utmSource) continue
    if (looksLikeSite.test(value)) faults.push(`names ${value}`)
  }
  return faults
}

const same = (value: unknown, expected: unknown): boolean =>
  value === expected || (Array.isArray(expected) && JSON.stringify(value) === JSON.stringify(expected))

function daysOf(query: PlannedQuery, which: 'current' | 'previous'): string {
  const { firstDay, lastDay } = query[which]
  return [firstDay, lastDay].map((day) => (day.year < 1970 ? '1970-01-01' : day.toString())).join(' ')
}
