// What every read of tallies must hold: its site, the version and days of a fold, each filter, the exclusions (decisions D-72 and D-73).
// Places are read back here from their texts, without src/stats/places.ts.
import type { StatsQuery } from '../../src/stats/query.ts'
import { devices } from '../../src/traffic/device.ts'
import type { DayRange, Fold } from '../../src/traffic/folds.ts'
import type { Condition, Source } from './statement-shape.ts'

const columns = [
  { name: 'hostname', bit: 4, tellsLength: true },
  { name: 'utmSource', bit: 8, tellsLength: true },
  { name: 'country', bit: 1, tellsLength: false },
  { name: 'device', bit: 2, tellsLength: false },
] as const
type Column = (typeof columns)[number]['name']

interface Place {
  span: string
  version: number
  dimension: string
  cell: number
  /** What it says of its columns; of those that are missing, a beginning leaves open what they are. */
  says: Partial<Record<Column, string>>
}

/** A whole place, or a beginning that ends with a column; nothing when it is neither. */
function readPlace(text: string, isBeginning: boolean): Place | undefined {
  const head = /^(day|month|part) (\d+) ([a-z]+) (\d+)/.exec(text)
  if (!head) return undefined
  const [found, span, version, dimension, cell] = head as unknown as [string, string, string, string, string]
  const place: Place = { span, version: Number(version), dimension, cell: Number(cell), says: {} }
  let rest = Buffer.from(text.slice(found.length))
  for (const { name, bit, tellsLength } of columns) {
    if (!(place.cell & bit)) continue
    const left = rest.toString()
    if (isBeginning && left === ' ') return place
    const begun = (tellsLength ? /^ (\d+):/ : /^ (?=([^ ]+))/).exec(left)
    if (!begun) return undefined
    const from = begun[0].length
    const length = tellsLength ? Number(begun[1]) : (begun[1] as string).length
    place.says[name] = rest.subarray(from, from + length).toString()
    rest = rest.subarray(from + length)
  }
  return !isBeginning && rest.length === 0 ? place : undefined
}

type Parameters = Readonly<Record<string, unknown>>

interface Read {
  segments: { places: Place[]; days: [string, string][] }[]
  /** Conditions on what a place leaves open, or on the value. */
  further: { about: string; isLeftOut: boolean; values: string[] }[]
  isTakenOff: boolean
}

/** Every fault of a statement's reads of tallies. */
export function talliesFaults(sources: readonly Source[], parameters: Parameters, query: StatsQuery): string[] {
  const faults: string[] = []
  let whole: Read | undefined
  for (const source of sources) {
    if (!isTallies(source.table)) continue
    const sites = source.conditions.filter(({ form }) => form === 'site_id = ?').map(({ names }) => names[0] ?? '')
    if (sites.length !== 1 || parameters[sites[0] as string] !== query.siteId) faults.push('lacks site')
    const read = readOf(source, parameters)
    if (typeof read === 'string') return [`tallies: ${read}`]
    faults.push(...foldFaults(read, readableIn(source.table, query)), ...columnFaults(read, query))
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
  return faults.map((fault) => `tallies: ${fault}`)
}

/** Days and versions alone: a list may be taken off by the column of the total that shows it. */
const extentOf = ({ segments }: Read): string =>
  JSON.stringify(segments.map(({ places, days }) => [places[0]?.span, places[0]?.version, days]))

/** Open days are in a table of their own, under one version. */
export const isTallies = (table: string): boolean => table.endsWith('_tallies')

const readableIn = (table: string, { folds, open, previous }: StatsQuery): readonly Readable[] => {
  if (table !== 'open_tallies') return folds
  if (!open) return []
  // A part is that of the day as it is folded now, until the instant that the question ends at.
  const parts = open.parts.filter(
    ({ day, until, version }) =>
      until === previous.end.epochMilliseconds &&
      folds.some((fold) => fold.version === version && fold.days.some(([first, last]) => first <= day && day <= last)),
  )
  return [{ version: open.version, days: [open.days], months: [], parts: parts.map(({ day }) => [day, day]) }]
}

type Readable = Fold & { parts?: readonly DayRange[] }

function foldFaults({ segments }: Read, folds: readonly Readable[]): string[] {
  return segments.flatMap(({ places, days }) =>
    places.flatMap(({ span, version }) => {
      const readable = folds
        .filter((one) => one.version === version)
        .flatMap((one) => one[`${span as 'day' | 'part'}s`] ?? [])
      const isReadable = days.every(
        ([first, last]) => first <= last && readable.some(([from, until]) => from <= first && last <= until),
      )
      return isReadable ? [] : [`version ${version} of ${span}s ${days.join()}`]
    }),
  )
}

function columnFaults({ segments, further, isTakenOff }: Read, { filters, excludedCountries }: StatsQuery): string[] {
  const faults: string[] = []
  const asked = segments.map(({ places }) => [...new Set(places.map(({ dimension }) => dimension))].join())
  if (new Set(asked).size !== 1) faults.push('several dimensions')
  const known = new Set<unknown>()
  const furtherAbout = (about: string, isLeftOut: boolean) => {
    const found = further.filter((one) => one.about === about && one.isLeftOut === isLeftOut)
    for (const one of found) known.add(one)
    return found.map(({ values }) => values)
  }
  for (const { places } of segments) {
    const cells = new Set(places.map(({ cell, says }) => `${cell} ${Object.keys(says)}`))
    const [{ cell, says, dimension }] = places as [Place]
    if (cells.size !== 1) faults.push('several cells')
    let combinations = new Set(places.map((place) => place.dimension)).size
    for (const { name, bit } of columns) {
      const filter = filters[name]
      const wanted = filter !== undefined ? [filter] : name === 'country' && isTakenOff ? excludedCountries : undefined
      const named = [...new Set(places.map((place) => place.says[name]))]
      combinations *= named.length
      if (!(cell & bit)) {
        if (wanted) faults.push(`lacks ${name}`)
      } else if (says[name] === undefined) {
        const values = furtherAbout(name, false)
        if (!same(values, wanted ? [wanted] : [])) faults.push(`${name} is ${JSON.stringify(values)}`)
        // Visitors of several hosts or sources must not be added up: sources are listed, from the total.
        if (name === 'hostname' || (name === 'utmSource' && dimension !== 'total')) faults.push(`adds up ${name}`)
      } else {
        const all = wanted ?? (name === 'device' ? devices : [])
        if (!same(named.sort(), [...all].sort())) faults.push(`${name} is ${named}`)
      }
    }
    if (new Set(places.map((place) => JSON.stringify(place))).size !== places.length) faults.push('a place twice')
    if (combinations !== places.length) faults.push('some combinations are missing')
    const listsCountries = dimension === 'country' && !(cell & 1)
    const leftOut = furtherAbout(listsCountries ? 'value' : 'country', true)
    if (leftOut.length > 0 && !same(leftOut, [excludedCountries])) faults.push(`leaves out ${leftOut}`)
  }
  if (known.size !== further.length) faults.push('a condition that nobody asked for')
  return faults
}

const dayForm = String.raw`day BETWEEN \? AND \?`
const segmentForm = new RegExp(
  String.raw`^(place = \?|place IN \?|startsWith\(place, \?\)|\(startsWith\(place, \?\)(?: OR startsWith\(place, \?\))+\))` +
    String.raw` AND (${dayForm}|\(${dayForm}(?: OR ${dayForm})+\))$`,
)
const count = (form: string): number => form.split('?').length - 1

/** What a source reads, or what is not understood about it. */
function readOf({ conditions, selected }: Source, parameters: Parameters): Read | string {
  const placed: Condition[] = []
  const others: Condition[] = []
  for (const one of conditions) {
    if (/^\(*(place|startsWith|day) ?/.test(one.form)) placed.push(one)
    else if (one.form !== 'site_id = ?') others.push(one)
  }
  const values = placed.flatMap(({ names }) => names.map((name) => parameters[name]))
  const form = placed.map((one) => one.form).join(' AND ')
  const segments: Read['segments'] = []
  for (const part of form.startsWith('((') && form.endsWith('))') ? form.slice(2, -2).split(') OR (') : [form]) {
    const [, found, days] = segmentForm.exec(part) ?? []
    if (found === undefined || days === undefined) return `not understood: ${part}`
    const places = values
      .splice(0, count(found))
      .flat()
      .map((text) => readPlace(String(text), found.includes('startsWith')))
    if (places.length === 0 || places.includes(undefined)) return 'not a place'
    const ends = values.splice(0, count(days)) as string[]
    const ranges = Array.from({ length: ends.length / 2 }, (_, index) => ends.slice(2 * index, 2 * index + 2))
    segments.push({ places: places as Place[], days: ranges as [string, string][] })
  }
  const cell = segments[0]?.places[0]?.cell ?? 0
  const further = others.map(({ form, names }) => {
    const [, from, not] = /^(.+?) (NOT )?IN \?$/.exec(form) ?? []
    const about = from === 'value' ? 'value' : columnAt(from ?? form, cell)
    return { about, isLeftOut: not !== undefined, values: parameters[names[0] ?? ''] as string[] }
  })
  const signs = new Set(
    [...selected.matchAll(/(-?)\b(views|visitors|sessions|bounces|duration) AS \2\b/g)].map(([, sign]) => sign),
  )
  if (signs.size !== 1) return 'counts that are added up and counts that are taken off'
  return { segments, further, isTakenOff: signs.has('-') }
}

/** Country and device are the last words of a place. */
function columnAt(form: string, cell: number): string {
  const words = [...(cell & 1 ? ['country'] : []), ...(cell & 2 ? ['device'] : [])]
  const [, last] = /^splitByChar\(' ', place\)\[-([12])\]$/.exec(form) ?? []
  return words[words.length - Number(last)] ?? form
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
