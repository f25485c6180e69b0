// The five numbers, with their change if the previous period is shown.
import { inFull } from '../../display/formats.ts'
import { metrics } from '../../display/metrics.ts'
import type { Metrics, Overview } from '../../stats/reports/overview.ts'
import { pad, padStart, shownWidth, type Terminal } from '../terminal.ts'
import { metricNames } from './tables.ts'

const widestColumn = 20
const minColumn = 14

/** Next to each other, or below each other in a narrow terminal. */
export function numbers({ current, previous, change }: Overview, compares: boolean, terminal: Terminal): string[] {
  const columns = metricNames.map((name) => ({
    name: terminal.dim(metrics[name].name),
    value: terminal.bold(numberText(name, current[name])),
    change: compares ? changeText(name, change[name], terminal) : '',
    before: compares ? terminal.dim(`from ${numberText(name, previous[name])}`) : '',
  }))
  const width = Math.min(widestColumn, Math.floor(terminal.width / columns.length))
  const parts = ['name', 'value', ...(compares ? (['change', 'before'] as const) : [])] as const
  const fits = columns.every((column) => parts.every((part) => shownWidth(column[part]) < width))
  if (fits && width >= minColumn)
    return parts.map((part) =>
      columns
        .map((column) => pad(column[part], width))
        .join('')
        .trimEnd(),
    )
  const widest = (part: keyof (typeof columns)[number]) =>
    Math.max(...columns.map((column) => shownWidth(column[part])))
  const [names, values, changes] = [widest('name'), widest('value'), widest('change')]
  const hasRoom = names + values + changes + widest('before') + 6 <= terminal.width
  return columns.map(({ name, value, change, before }) =>
    [pad(name, names), padStart(value, values), pad(change, changes), ...(hasRoom ? [before] : [])]
      .join('  ')
      .trimEnd(),
  )
}

/** All digits, as in the API. */
export const numberText = (name: keyof Metrics, value: number): string =>
  name === 'bounce_rate' || name === 'avg_duration' ? metrics[name].text(value) : inFull(value)

export function changeText(name: keyof Metrics, change: number | null, terminal: Terminal): string {
  if (change === null) return terminal.dim('–')
  if (change === 0) return terminal.dim('0%')
  const text = `${change > 0 ? '▲' : '▼'} ${inFull(Math.abs(change))}%`
  const isGood = change > 0 !== (metrics[name].lessIsBetter === true)
  return isGood ? terminal.good(text) : terminal.bad(text)
}
