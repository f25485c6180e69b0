// Conditions of every read of rollups: its site, a version and the days readable under it, each filter, the exclusions
// (decisions D-72 and D-73). Keys are parsed here from their text, without src/rollups/keys.ts.
import type { DayRange } from '../../src/calendar/days.ts'
import type { RollupVersion } from '../../src/rollups/coverage.ts'
import type { PlannedQuery } from './planned-query.ts'
import type { Condition, Source } from './statement-shape.ts'

interface Key {
  span: string
  version: number
  dimension: string
  groupingSet: number
  hostname: string
}

function readKey(text: string): Key | undefined {
  const found = /^(day|month|part) (\d+) ([a-z]+) (\d+) (.*)$/s.exec(text)
  if (!found) return undefined
  const [, span, version, dimension, groupingSet, hostname] = found as unknown as [string, ...string[]]
  return {
    span: span as string,
    version: Number(version),
    dimension: dimension as string,
    groupingSet: Number(groupingSet),
    hostname: hostname as string,
  }
}

type Parameters = Readonly<Record<string, unknown>>

interface Read {
  segments: { keys: Key[]; days: [string, string][] }[]
  /** Conditions on other columns. */
  further: { column: string; isLeftOut: boolean; values: unknown[] }[]
  isTakenOff: boolean
}

/** All faults in a statement's reads of rollups. */
export function rollupFaults(sources: readonly Source[], parameters: Parameters, query: PlannedQuery): string[] {
  const faults: string[] = []
  let whole: Read | undefined
  for (const source of sources) {
    if (!isRollups(source.table)) continue
    const sites = source.conditions.filter(({ form }) => form === 'site_id = ?').map(({ names }) => names[0] ?? '')
    if (sites.length !== 1 || parameters[sites[0] as string] !== query.siteId) faults.push('lacks site')
    const read = readOf(source, parameters)
    if (typeof read === 'string') return [`rollups: ${read}`]
    faults.push(...coverageFaults(read, readableIn(source.table, query)), ...filterFaults(read, query))
    if (query.excludedCountries.length === 0) {
      if (read.isTakenOff) faults.push('taken off')
    } else if (read.isTakenOff) {
      if (!whole || extentOf(whole) !== extentOf(read)) faults.push('taken off from something else')
      whole = undefined
    } else if (!read.further.some(({ isLeftOut }) => isLeftOut)) {
      if (whole) faults.push('exclusions')
      whole = read
    }
  }
  if (whole) faults.push('exclusions')
  return faults.map((fault) => `rollups: ${fault}`)
}

/** Only days and versions: a list may be subtracted from the column of the total that shows it. */
const extentOf = ({ segments }: Read): string =>
  JSON.stringify(segments.map(({ keys, days }) => [keys[0]?.span, keys[0]?.version, days]))

/** Today has a table of its own with one version. */
export const isRollups = (table: string): boolean => table.endsWith('_rollups')

const readableIn = (table: string, { versions, today, previous }: PlannedQuery): readonly Readable[] => {
  if (table !== 'today_rollups') return versions
  if (!today) return []
  // A part must belong to the current rollup of its day and end at the same instant as the query.
  const parts = today.parts.filter(
    ({ day, until, version }) =>
      until === previous.end.epochMilliseconds &&
      versions.some(
        (known) => known.version === version && known.days.some(([first, last]) => first <= day && day <= last),
      ),
  )
  return [
    { version: today.version, layout: 1, days: [today.days], months: [], parts: parts.map(({ day }) => [day, day]) },
  ]
}

type Readable = RollupVersion & { parts?: readonly DayRange[] }

function coverageFaults({ segments }: Read, versions: readonly Readable[]): string[] {
  return segments.flatMap(({ keys, days }) =>
    keys.flatMap(({ span, version }) => {
      const readable = versions
        .filter((one) => one.version === version)
        .flatMap((one) => one[`${span as 'day' | 'month' | 'part'}s`] ?? [])
      const isReadable = days.every(
        ([first, last]) => first <= last && readable.some(([from, until]) => from <= first && last <= until),
      )
      return isReadable ? [] : [`version ${version} of ${span}s ${days.join()}`]
    }),
  )
}

const bits = { country: 1, device: 2, hostname: 4, utmSource: 8 } as const
const columnNames = { country: 'country', device: 'device', utmSource: 'utm_source' } as const

function filterFaults({ segments, further, isTakenOff }: Read, { filters, excludedCountries }: PlannedQuery): string[] {
  const faults: string[] = []
  const [first] = segments.flatMap(({ keys }) => keys)
  const asked = segments.map(({ keys }) => keys.map(({ dimension }) => dimension).join())
  if (new Set(asked).size !== 1) faults.push('several dimensions')
  if (segments.some(({ keys }) => new Set(keys.map(({ dimension }) => dimension)).size !== keys.length))
    faults.push('a rollup key twice')
  if (!first) return [...faults, 'reads nothing']
  const { groupingSet, dimension } = first
  const keys = segments.flatMap((segment) => segment.keys)
  if (keys.some((key) => key.groupingSet !== groupingSet)) faults.push('several grouping sets')
  const hosts = new Set(keys.map(({ hostname }) => hostname))
  if (hosts.size !== 1 || !hosts.has(filters.hostname ?? '')) faults.push(`hostname is ${[...hosts]}`)
  if (groupingSet & bits.hostname ? filters.hostname === undefined : filters.hostname !== undefined)
    faults.push('the grouping set is of another host')

  const known = new Set<unknown>()
  const furtherOn = (column: string, isLeftOut: boolean) => {
    const found = further.filter((one) => one.column === column && one.isLeftOut === isLeftOut)
    for (const one of found) known.add(one)
    return found.map(({ values }) => values)
  }
  for (const name of ['country', 'device', 'utmSource'] as const) {
    const filter = filters[name]
    const wanted = filter !== undefined ? [filter] : name === 'country' && isTakenOff ? excludedCountries : undefined
    const values = furtherOn(columnNames[name], false)
    if (!same(values, wanted ? [wanted] : [])) faults.push(`${name} is ${JSON.stringify(values)}`)
    if (wanted && !(groupingSet & bits[name])) faults.push(`lacks ${name}`)
  }
  // Visitors of several sources must not be added up: sources are listed, from the total.
  if (groupingSet & bits.utmSource && filters.utmSource === undefined && dimension !== 'total')
    faults.push('adds up sources')
  const listsCountries = dimension === 'country' && !(groupingSet & bits.country)
  const leftOut = furtherOn(listsCountries ? 'value' : 'country', true)
  if (leftOut.length > 0 && !same(leftOut, [excludedCountries])) faults.push(`leaves out ${leftOut}`)
  if (leftOut.length > 0 && !listsCountries && !(groupingSet & bits.country)) faults.push('leaves out no country')
  if (known.size !== further.length) faults.push('an unexpected condition')
  return faults
}

const dayForm = String.raw`day BETWEEN \? AND \?`
const segmentForm = new RegExp(
  String.raw`^(rollup_key = \?|rollup_key IN \?) AND (${dayForm}|\(${dayForm}(?: OR ${dayForm})+\))$`,
)
const count = (form: string): number => form.split('?').length - 1

/** What a source reads, or why it cannot be parsed. */
function readOf({ conditions, selected }: Source, parameters: Parameters): Read | string {
  const keyConditions: Condition[] = []
  const others: Condition[] = []
  for (const one of conditions) {
    if (/^\(*(rollup_key|day) ?/.test(one.form)) keyConditions.push(one)
    else if (one.form !== 'site_id = ?') others.push(one)
  }
  const values = keyConditions.flatMap(({ names }) => names.map((name) => parameters[name]))
  const form = keyConditions.map((one) => one.form).join(' AND ')
  const segments: Read['segments'] = []
  for (const part of form.startsWith('((') && form.endsWith('))') ? form.slice(2, -2).split(') OR (') : [form]) {
    const [, found, days] = segmentForm.exec(part) ?? []
    if (found === undefined || days === undefined) return `not understood: ${part}`
    const keys = values
      .splice(0, count(found))
      .flat()
      .map((text) => readKey(String(text)))
    if (keys.length === 0 || keys.includes(undefined)) return 'not a rollup key'
    const ends = values.splice(0, count(days)) as string[]
    const ranges = Array.from({ length: ends.length / 2 }, (_, index) => ends.slice(2 * index, 2 * index + 2))
    segments.push({ keys: keys as Key[], days: ranges as [string, string][] })
  }
  const further: Read['further'] = []
  for (const { form, names } of others) {
    const [, column, not, is] = /^(country|device|utm_source|value) (NOT )?(IN|=) \?$/.exec(form) ?? []
    if (column === undefined) return `not understood: ${form}`
    const given = parameters[names[0] ?? '']
    further.push({ column, isLeftOut: not !== undefined, values: is === 'IN' ? (given as unknown[]) : [given] })
  }
  const signs = new Set(
    [...selected.matchAll(/(-?)\b(views|visitors|sessions|bounces|duration) AS \2\b/g)].map(([, sign]) => sign),
  )
  if (signs.size !== 1) return 'counts that are added up and counts that are taken off'
  return { segments, further, isTakenOff: signs.has('-') }
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
