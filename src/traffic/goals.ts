/** A named condition of a site, such as "Signup" or a path below /blog. Changing it changes history too: it is a question, not a recording. */
export interface Goal {
  name: string
  condition: GoalCondition
}

/** Paths match pageviews only. In a pattern `*` stands for anything within a segment and `**` for anything; `/blog/**` also matches `/blog` and `/blog/`. */
export type GoalCondition =
  | { kind: 'event'; event: string; property?: { key: string; value: string } }
  | { kind: 'path'; pattern: string }

/** `Signup: event Signup with plan = pro`, or `Blog: pages /blog/**`. */
export const goalText = ({ name, condition }: Goal): string => `${name}: ${conditionText(condition)}`

export function conditionText(condition: GoalCondition): string {
  if (condition.kind === 'path') return `pages ${condition.pattern}`
  const { event, property } = condition
  return property ? `event ${event} with ${property.key} = ${property.value}` : `event ${event}`
}

/**
 * Whether a path matches. It looks at each character of the path once per wildcard at most: JavaScript's regular expressions take
 * exponential time for some patterns, and owners write the patterns.
 */
export function matchesPattern(pattern: string, path: string): boolean {
  let places = new Set([0])
  for (const piece of piecesOf(pattern)) {
    const next = new Set<number>()
    for (const place of places) addEnds(piece, path, place, next)
    places = next
  }
  return places.has(path.length)
}

/** The same as the text of a regular expression for `match()` of ClickHouse (RE2), where `.` also matches the end of a line. */
export const patternExpression = (pattern: string): string => `^${piecesOf(pattern).map(expressionOf).join('')}$`

/** `/**` at the end stands for everything below the path before it, and for that path itself. */
type Piece = '*' | '**' | 'below' | { text: string }

function piecesOf(pattern: string): Piece[] {
  const isBelow = pattern.endsWith('/**')
  const pieces = (isBelow ? pattern.slice(0, -'/**'.length) : pattern).match(/\*{2,}|\*|[^*]+/g) ?? []
  return [
    ...pieces.map((piece): Piece => (piece === '*' ? '*' : piece.startsWith('*') ? '**' : { text: piece })),
    ...(isBelow ? ['below' as const] : []),
  ]
}

/** The places of the path where a piece that begins at `place` can end. */
function addEnds(piece: Piece, path: string, place: number, ends: Set<number>): void {
  if (typeof piece === 'object') {
    if (path.startsWith(piece.text, place)) ends.add(place + piece.text.length)
    return
  }
  if (piece === 'below') {
    if (place === path.length || path[place] === '/') ends.add(path.length)
    return
  }
  // An earlier place has added everything from here on.
  for (let end = place; end <= path.length && !ends.has(end); end++) {
    ends.add(end)
    if (piece === '*' && path[end] === '/') return
  }
}

function expressionOf(piece: Piece): string {
  if (piece === '*') return '[^/]*'
  if (piece === '**') return '.*'
  if (piece === 'below') return '(?:/.*)?'
  return piece.text.replace(/[\\^$.+?()[\]{}|]/g, '\\$&')
}
