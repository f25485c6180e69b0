// What a statement reads and under which conditions, from its text. The shape of a text is worked out once and remembered:
// a million questions make a few hundred texts, and only their values differ.

/** One `FROM table` and what must hold for its rows: the conditions that its own WHERE joins by AND. */
export interface Source {
  table: string
  /** From its SELECT to its FROM. */
  selected: string
  conditions: readonly Condition[]
}

export interface Condition {
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
