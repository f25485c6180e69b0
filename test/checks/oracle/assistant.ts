// The same queries once more through /mcp: an assistant must get the numbers, days and rows of the model.
import { isDeepStrictEqual } from 'node:util'
import type { ToolResult } from '../../support/mcp-message.ts'
import type { Report } from './model.ts'
import type { Params } from './params.ts'
import type { AskedQuestion } from './question-requests.ts'

export interface ToolCall {
  tool: string
  input: Record<string, unknown>
}

interface Expected {
  body: string
  period: string
}

const taken = ['range', 'start', 'end', 'limit', 'country', 'device', 'hostname', 'utm_source']
const filters = ['country', 'device', 'hostname', 'utm_source']

/** The call that asks the same as a request that is answered; undefined if an assistant cannot ask it. */
export function callOf(report: Report, params: Params): ToolCall | undefined {
  const given = Object.fromEntries(params) as Record<string, string>
  if (report !== 'overview' && report !== 'timeseries') return undefined
  if (params.some(([name]) => !taken.includes(name)) || !canAsk(given)) return undefined
  const input = {
    ...datesOf(given),
    filters: params.flatMap(([dimension, value]) =>
      filters.includes(dimension) ? [{ dimension, operator: 'is', values: [value] }] : [],
    ),
  }
  return report === 'timeseries' && isLong(given) ? undefined : { tool: report, input }
}

/** The call that asks the same as a question. Of comparisons, an assistant knows that of an overview. */
export function callOfQuestion({ question, params }: AskedQuestion): ToolCall | undefined {
  const { kind, metrics, goal, order, by, interval, compare, matchWeekday } = question
  const given = Object.fromEntries(params) as Record<string, string>
  const isOverview = kind === 'totals' && compare === 'previous' && !matchWeekday
  if (!canAsk(given) || (compare !== undefined && !isOverview)) return undefined
  const input = {
    ...datesOf(given),
    ...{ metrics, filters: question.filters },
    ...(goal !== undefined && { goal }),
  }
  if (kind === 'totals') return isOverview ? { tool: 'overview', input } : undefined
  if (kind === 'timeseries')
    return isLong(given) || interval === 'hour' ? undefined : { tool: 'timeseries', input: { ...input, interval } }
  const sorted = order && { order: `${order.metric}${order.ascending ? ':asc' : ''}` }
  return { tool: 'breakdown', input: { ...input, by, ...sorted, limit: maxRows } }
}

const maxRows = 100

/** Tools refuse what would have no effect, and dates with a time. Their rows are few enough for an assistant. */
function canAsk({ range, start, end }: Record<string, string>): boolean {
  if ((start !== undefined || end !== undefined) && range !== 'custom') return false
  return [start, end].every((date) => date === undefined || date.length <= 10)
}

const datesOf = (given: Record<string, string>) =>
  Object.fromEntries(Object.entries(given).filter(([name]) => ['range', 'start', 'end'].includes(name)))

function isLong({ start, end }: Record<string, string>): boolean {
  if (start === undefined || end === undefined) return false
  return Temporal.PlainDate.from(start).until(Temporal.PlainDate.from(end)).days >= 400
}

/** What is different, or undefined. */
export function differenceOf({ tool }: ToolCall, expected: Expected, result: ToolResult): string | undefined {
  const answer = result.structuredContent
  if (result.isError || !answer) return JSON.stringify(result)
  const { data } = JSON.parse(expected.body) as { data: unknown }
  const { rows, current, previous, change } = answer
  const numbers = tool === 'overview' ? { current, previous, change } : (rows as object[]).map(numbersOf)
  const wanted = Array.isArray(data) ? data.map(numbersOf) : data
  return differing([numbers, (answer.period as { exact: string }).exact], [wanted, expected.period])
}

/** `expected` is the data of the model, with all rows of a list. */
export function differenceOfQuestion({ tool }: ToolCall, expected: unknown, result: ToolResult): string | undefined {
  const answer = result.structuredContent
  if (result.isError || !answer) return JSON.stringify(result)
  if (tool === 'overview') {
    const { current, previous, change } = answer as { current: object; previous: unknown; change: unknown }
    return differing({ ...current, previous, change }, expected)
  }
  const all = expected as object[]
  if (tool === 'timeseries') return differing((answer.rows as object[]).map(numbersOf), all.map(numbersOf))
  const numbers = [(answer.rows as object[]).map(numbersOf), answer.total_rows]
  return differing(numbers, [all.slice(0, maxRows).map(numbersOf), all.length])
}

const differing = (one: unknown, other: unknown): string | undefined =>
  isDeepStrictEqual(one, other) ? undefined : `${JSON.stringify(one)} instead of ${JSON.stringify(other)}`

/** Without texts, which are shortened for assistants, and without the number of days in a row. */
const numbersOf = (row: object): Record<string, number> =>
  Object.fromEntries(Object.entries(row).filter(([name, value]) => typeof value === 'number' && name !== 'days'))
