// Parses which tables a statement reads under which conditions. The result for each text is cached: a million queries have a few
// hundred texts, and only their values differ.

/** One `FROM table` and the conditions on its rows: those that its own WHERE joins with AND. */
export interface Source {
  table: string
  /** The text from its SELECT to its FROM. */
  selected: string
  conditions: readonly Condition[]
}

export interface Condition {
  /** The text with `?` for every parameter. */
  form: string
  /** The names of the parameters, in order. */
  names: readonly string[]
}

interface Shape {
  sources: readonly Source[]
  /** How often site_id occurs: each occurrence has to be the condition of a source. */
  siteMentions: number
  hostnames: readonly string[]
  faults: readonly string[]
}

const shapes = new Map<string, Shape>()
const maxShapes = 20_000

export function shapeOf(text: string): Shape {
  const known = shapes.get(text)
  if (known) return known
  if (shapes.size >= maxShapes) shapes.clear()
  const shape = readShape(text)
  shapes.set(text, shape)
  return shape
}

function readShape(text: string): Shape {
  const flat = text.replace(/\s+/g, ' ')
  const faults: string[] = []
  const sources: Source[] = []
  for (const { 1: table, index, 0: found } of flat.matchAll(/\b(?:FROM|(?<!ARRAY )JOIN) (\(|[\w.]+)/gi)) {
    if (found.toUpperCase().startsWith('JOIN')) faults.push('joins')
    if (table === '(' || table === undefined) continue
    const selected = flat.slice(flat.lastIndexOf('SELECT ', index), index)
    sources.push({ table, selected, conditions: whereOf(flat.slice(index + found.length)) })
  }
  if (sources.length === 0) faults.push('reads nothing')
  return {
    sources,
    siteMentions: flat.match(/\bsite_id\b/g)?.length ?? 0,
    hostnames: [...flat.matchAll(/\bhostname = \{(p\d+):String\}/g)].map(([, name]) => name as string),
    faults,
  }
}

/** The conditions of the WHERE that follows a source in the same SELECT; empty without a WHERE. */
function whereOf(rest: string): Condition[] {
  const own = topLevel(rest)
  const begin = own.search(/ WHERE /i)
  if (begin === -1 || own.slice(0, begin).trim() !== '') return []
  const end = own.slice(begin + 7).search(/ (GROUP BY|ORDER BY|HAVING|LIMIT|UNION|WINDOW|SETTINGS)\b/i)
  const [from, to] = [begin + 7, end === -1 ? own.length : begin + 7 + end]
  // Text inside parentheses is blanked out, so that only words of this level match; `rest` has the text at the same offsets.
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
