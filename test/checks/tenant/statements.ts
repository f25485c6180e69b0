// What a statement reads and under which conditions, from its text. The shape of a text is worked out once and remembered:
// a million questions make a few hundred texts, and only their values differ.
import type { StatsQuery } from '../../../src/stats/query.ts'
import type { Statement } from '../../../src/stores/clickhouse-sql.ts'

/** One `FROM table` and what must hold for its rows: the conditions that its own WHERE joins by AND. */
interface Source {
  table: string
  conditions: readonly Condition[]
}

interface Condition {
  /** The text with every parameter written as `?`. */
  form: string
  /** The parameters' names, in order. */
  names: readonly string[]
}

interface Shape {
  sources: readonly Source[]
  /** How often site_id is written at all: each one has to be the condition of a source. */
  siteMentions: number
  hostnames: readonly string[]
  faults: readonly string[]
}

const shapes = new Map<string, Shape>()
const mostShapes = 20_000

export function shapeOf(text: string): Shape {
  const known = shapes.get(text)
  if (known) return known
  if (shapes.size >= mostShapes) shapes.clear()
  const shape = readShape(text)
  shapes.set(text, shape)
  return shape
}

function readShape(text: string): Shape {
  const flat = text.replace(/\s+/g, ' ')
  const faults: string[] = []
  const sources: Source[] = []
  for (const { 1: table, index, 0: found } of flat.matchAll(/\b(?:FROM|JOIN) (\(|[\w.]+)/gi)) {
    if (found.toUpperCase().startsWith('JOIN')) faults.push('joins')
    if (table === '(' || table === undefined) continue
    sources.push({ table, conditions: whereOf(flat.slice(index + found.length)) })
  }
  if (sources.length === 0) faults.push('reads nothing')
  return {
    sources,
    siteMentions: flat.match(/\bsite_id\b/g)?.length ?? 0,
    hostnames: [...flat.matchAll(/\bhostname = \{(p\d+):String\}/g)].map(([, name]) => name as string),
    faults,
  }
}

/** The conditions of the WHERE that follows a source in the same SELECT; none when it has no WHERE. */
function whereOf(rest: string): Condition[] {
  const own = topLevel(rest)
  const begin = own.search(/ WHERE /i)
  if (begin === -1 || own.slice(0, begin).trim() !== '') return []
  const end = own.slice(begin + 7).search(/ (GROUP BY|ORDER BY|HAVING|LIMIT|UNION|WINDOW|SETTINGS)\b/i)
  const [from, to] = [begin + 7, end === -1 ? own.length : begin + 7 + end]
  // Blanked inside parentheses, so that only the words of this level are seen; the same places in `rest` hold the text.
  const words = own.slice(from, to)
  if (/ OR /i.test(words)) return []
  const parts: Condition[] = []
  let start = 0
  const cut = (stop: number) => parts.push(conditionOf(rest.slice(from + start, from + stop)))
  for (const { index } of words.replace(/BETWEEN \S+ AND /gi, (text) => 'x'.repeat(text.length)).matchAll(/ AND /gi)) {
    cut(index)
    start = index + 5
  }
  cut(words.length)
  return parts
}

function conditionOf(text: string): Condition {
  const names: string[] = []
  const form = text.trim().replace(/\{(p\d+):(?:[^{}])+\}/g, (_, name: string) => {
    names.push(name)
    return '?'
  })
  return { form, names }
}

/** The text up to the end of this SELECT, with everything inside parentheses blanked out. */
function topLevel(text: string): string {
  let depth = 0
  let out = ''
  for (const character of text) {
    if (character === ')') depth--
    if (depth < 0) break
    out += depth > 0 ? '_' : character
    if (character === '(') depth++
  }
  const union = out.search(/ UNION /i)
  return union === -1 ? out : out.slice(0, union)
}

const looksLikeSite = /^site_[a-z2-7]{16}$/

/** Everything that is wrong with a statement that was made for this question. */
export function faultsOf({ text, parameters }: Statement, query: StatsQuery): string[] {
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

  // Folded rows of a country are either left out or read to be taken off.
  const leavesOut = (source: Source) =>
    [...valuesOf(source, 'NOT has(?, country)'), ...valuesOf(source, 'has(?, country)')].some(([value]) =>
      same(value, query.excludedCountries),
    )
  const foldedReads = sources.filter(({ table }) => table === 'folded').length
  let excludedFrom = 0
  let guarded = 0
  for (const source of sources) {
    must(source, 'site_id = ?', query.siteId)
    guarded += valuesOf(source, 'site_id = ?').length
    if (source.table === 'titles') continue // a page has one title, whatever the filters (decision D-18)
    if (source.table === 'folded') excludedFrom += leavesOut(source) ? 1 : 0
    else must(source, 'NOT has(?, country)', query.excludedCountries.length > 0 ? query.excludedCountries : undefined)
    must(source, 'country = ?', country)
    must(source, 'device = ?', device)
    must(source, 'utm_source = ?', utmSource)
    if (query.folds.length > 0) continue // which days are read from where is for the tests of the plan
    const days = valuesOf(source, 'day BETWEEN ? AND ?')[0]?.join(' ')
    if (days !== daysOf(query, 'current') && days !== daysOf(query, 'previous')) faults.push(`days are ${days}`)
  }
  if (foldedReads > 0 && excludedFrom > 0 !== query.excludedCountries.length > 0) faults.push('folded: exclusions')
  if (siteMentions !== guarded) faults.push(`site_id is written ${siteMentions} times, ${guarded} times as a condition`)
  const reads = sources.filter(({ table }) => table !== 'titles').length
  if (hostname === undefined ? hostnames.length > 0 : hostnames.length < reads) faults.push('hostname is not asked for')
  if (hostnames.some((name) => parameters[name] !== hostname)) faults.push('another hostname is asked for')
  for (const value of Object.values(parameters)) {
    // A filter may hold anything, the id of another site too; everything else may name ours alone.
    if (typeof value !== 'string' || value === query.siteId || value === hostname || value === utmSource) continue
    if (looksLikeSite.test(value)) faults.push(`names ${value}`)
  }
  return faults
}

const same = (value: unknown, expected: unknown): boolean =>
  value === expected || (Array.isArray(expected) && JSON.stringify(value) === JSON.stringify(expected))

function daysOf(query: StatsQuery, which: 'current' | 'previous'): string {
  const { firstDay, lastDay } = query[which]
  return [firstDay, lastDay].map((day) => (day.year < 1970 ? '1970-01-01' : day.toString())).join(' ')
}
