// Numbers of a period, with their change if another period is shown.
import { inFull } from '../../display/formats.ts'
import { displayOf } from '../../display/metrics.ts'
import { printable } from '../printable.ts'
import { pad, padStart, shownWidth, type Terminal } from '../terminal.ts'

type Numbers<Value> = Readonly<Record<string, Value>>

/** The numbers of a period by metric, and of the one that it is compared with. */
export interface Compared {
  current: Numbers<number>
  previous?: Numbers<number> | undefined
  change?: Numbers<number | null> | undefined
}

const widestColumn = 20
const minColumn = 14

/** Next to each other, or below each other in a narrow terminal. */
export function numbers({ current, previous, change }: Compared, terminal: Terminal): string[] {
  const compares = previous !== undefined
  const columns = Object.entries(current).map(([name, value]) => ({
    name: terminal.dim(printable(displayOf(name).name)),
    value: terminal.bold(displayOf(name).text(value)),
    change: compares ? changeText(name, change?.[name], terminal) : '',
    before: compares ? terminal.dim(`from ${displayOf(name).text(previous[name] ?? 0)}`) : '',
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

export function changeText(name: string, change: number | null | undefined, terminal: Terminal): string {
  if (change === null || change === undefined) return terminal.dim('–')
  if (change === 0) return terminal.dim('0%')
  const text = `${change > 0 ? '▲' : '▼'} ${inFull(Math.abs(change))}%`
  const isGood = change > 0 !== (displayOf(name).lessIsBetter === true)
  return isGood ? terminal.good(text) : terminal.bad(text)
}
