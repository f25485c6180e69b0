// The same queries once more through /mcp: an assistant must get the numbers, days and rows of the model.
import { isDeepStrictEqual } from 'node:util'
import type { ToolResult } from '../../support/mcp-message.ts'
import type { Report } from './model.ts'
import type { Params } from './params.ts'

export interface ToolCall {
  tool: string
  input: Record<string, unknown>
}

interface Expected {
  body: string
  period: string
  totalRows?: string
}

const lists: Partial<Record<Report, string>> = {
  pages: 'pages',
  referrers: 'referrers',
  channels: 'channels',
  devices: 'devices',
  geo: 'countries',
  events: 'events',
  utm: 'utm',
}
const taken = ['range', 'start', 'end', 'limit', 'country', 'device', 'hostname', 'utm_source']

/** The call that asks the same as a request that is answered; undefined if an assistant cannot ask it. */
export function callOf(report: Report, params: Params): ToolCall | undefined {
  const given = Object.fromEntries(params) as Record<string, string>
  const hasDates = given.start !== undefined || given.end !== undefined
  if (params.some(([name]) => !taken.includes(name))) return undefined
  // Tools refuse what would have no effect, and dates with a time. Their rows are few enough for an assistant.
  if (hasDates && given.range !== 'custom') return undefined
  if ([given.start, given.end].some((date) => date !== undefined && date.length > 10)) return undefined
  const { limit, device, ...rest } = given
  const input = { ...rest, ...(device && { device: device.toLowerCase() }) }
  if (report === 'overview') return { tool: 'overview', input }
  if (report === 'timeseries') return isLong(given) ? undefined : { tool: 'timeseries', input }
  return { tool: 'breakdown', input: { ...input, by: lists[report], ...(limit && { limit: Number(limit) }) } }
}

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
  const period = (answer.period as { exact: string }).exact
  const total = tool === 'breakdown' ? answer.total_rows : undefined
  const wantedTotal = tool === 'breakdown' ? Number(expected.totalRows ?? (data as unknown[]).length) : undefined
  const same = isDeepStrictEqual([numbers, period, total], [wanted, expected.period, wantedTotal])
  return same
    ? undefined
    : `${JSON.stringify([numbers, period, total])} instead of ${JSON.stringify([wanted, expected.period, wantedTotal])}`
}

/** Without texts, which are shortened for assistants, and without the number of days in a row. */
const numbersOf = (row: object): Record<string, number> =>
  Object.fromEntries(Object.entries(row).filter(([name, value]) => typeof value === 'number' && name !== 'days'))
