// The conditions that every statement of a report must have, parsed from its rendered text and parameters.

import { type Period, partialEnd, partialStart } from '../../src/calendar/periods.ts'
import type { ClickHouseReader } from '../../src/stores/clickhouse.ts'
import { render, type Sql, type Statement } from '../../src/stores/clickhouse-sql.ts'
import type { PlannedQuery } from '../support/planned-query.ts'
import { isRollups, rollupFaults } from '../support/rollup-rules.ts'
import { shapeOf } from '../support/statement-shape.ts'

/** A store that records its statements and returns the same rows for each. */
export function recordingStore(rows: readonly object[]): ClickHouseReader & { statements: Statement[] } {
  const statements: Statement[] = []
  return {
    statements,
    async rows<Row>(statement: Sql) {
      statements.push(render(statement))
      return rows as Row[]
    },
  }
}

/** One condition of the scope: its expected text with the rendered values. */
interface Condition {
  name: string
  text: string
  /** May be outside WHERE: whole sessions are judged, and only the counted hits are cut to the window. */
  cutsHits?: boolean
}

/** All faults of one statement: a source other than events, rollups and titles, or a source without a required condition. */
export function statementFaults(statement: Statement, query: PlannedQuery): string[] {
  const sources = [...statement.text.matchAll(/\b(?:FROM|JOIN)\s+([a-z_]+)/gi)]
  if (sources.length === 0) return ['reads nothing']
  const faults = sources.flatMap(({ 1: source, index }) => {
    const part = enclosing(statement.text, index)
    if (source === 'events') return eventsFaults(part, statement, query)
    if (source === 'titles') return missing(part, titleConditions(statement, query))
    if (isRollups(source ?? '')) return [] // checked below
    return [`reads ${source}`]
  })
  return [...faults, ...rollupFaults(shapeOf(statement.text).sources, statement.parameters, query)]
}

/** The periods of the query whose events the statement reads. */
export function periodsRead(statement: Statement, query: PlannedQuery): string[] {
  return [...statement.text.matchAll(/\bFROM\s+events\b/gi)].map(({ index }) => {
    const part = enclosing(statement.text, index)
    return holds(part, dayCondition(statement, query.current)) ? 'current' : 'previous'
  })
}

function eventsFaults(part: string, statement: Statement, query: PlannedQuery): string[] {
  if (query.versions.length > 0) {
    // Only the days without rollups are read from the events. The tests of the plan check which days those are.
    const days = missing(part, [{ name: 'days', text: 'day BETWEEN' }])
    const scope = conditionsOf(statement, query, query.current).filter(({ name }) => !/days|instant/.test(name))
    return [...days, ...missing(part, scope)]
  }
  const isCurrent = holds(part, dayCondition(statement, query.current))
  return missing(part, conditionsOf(statement, query, isCurrent ? query.current : query.previous))
}

/** Every condition that a subquery over events must have for one period. */
export function conditionsOf(statement: Statement, query: PlannedQuery, period: Period): Condition[] {
  const place = placeIn(statement)
  const { country, device, hostname, utmSource } = query.filters
  return [
    siteCondition(statement, query),
    dayCondition(statement, period),
    exclusionCondition(statement, query),
    { name: 'country', text: `country = ${place(country)}` },
    { name: 'device', text: `device = ${place(device)}` },
    { name: 'hostname', text: `hostname = ${place(hostname)}`, cutsHits: true },
    { name: 'utm_source', text: `utm_source = ${place(utmSource)}` },
    {
      name: 'first instant',
      text: `(day > ${place(String(period.firstDay))} OR time >= ${place(seconds(partialStart(period)))})`,
      cutsHits: true,
    },
    {
      name: 'last instant',
      text: `(day < ${place(String(period.lastDay))} OR time < ${place(seconds(partialEnd(period)))})`,
      cutsHits: true,
    },
  ]
}

const siteCondition = (statement: Statement, { siteId }: PlannedQuery): Condition => ({
  name: 'site',
  text: `site_id = ${placeIn(statement)(siteId)}`,
})

const exclusionCondition = (statement: Statement, { excludedCountries }: PlannedQuery): Condition => ({
  name: 'exclusions',
  text: `NOT has(${placeIn(statement)(excludedCountries)}, country)`,
})

/** A page has one title regardless of filters; excluded countries do not set it (decision D-18). */
export const titleConditions = (statement: Statement, query: PlannedQuery): Condition[] => [
  siteCondition(statement, query),
  exclusionCondition(statement, query),
]

const dayCondition = (statement: Statement, { firstDay, lastDay }: Period): Condition => {
  const place = placeIn(statement)
  return { name: 'days', text: `day BETWEEN ${place(String(firstDay))} AND ${place(String(lastDay))}` }
}

const seconds = (milliseconds: number | null) => ((milliseconds ?? Number.NaN) / 1000).toFixed(3)

/** The text of a value in the statement: `{p3:String}`, or text that never occurs if the statement has no such parameter. */
const placeIn =
  ({ text, parameters }: Statement) =>
  (value: unknown): string => {
    const name = Object.keys(parameters).find((key) => JSON.stringify(parameters[key]) === JSON.stringify(value))
    return (name && text.match(new RegExp(`\\{${name}:[^}]+\\}`))?.[0]) ?? '{no such parameter}'
  }

const holds = (part: string, { text, cutsHits = false }: Condition): boolean =>
  (cutsHits ? part : part.slice(part.search(/\bWHERE\b|$/))).includes(text)

const missing = (part: string, conditions: readonly Condition[]): string[] =>
  conditions.filter((condition) => !holds(part, condition)).map(({ name }) => `lacks ${name}`)

/** The innermost parentheses around a position, or the whole text. */
function enclosing(text: string, position: number): string {
  let depth = 0
  let begin = position
  while (begin > 0 && depth <= 0) depth += text[--begin] === '(' ? 1 : text[begin] === ')' ? -1 : 0
  let end = position
  for (depth = 0; end < text.length && depth >= 0; end++) depth += text[end] === '(' ? 1 : text[end] === ')' ? -1 : 0
  return text.slice(begin, end)
}
