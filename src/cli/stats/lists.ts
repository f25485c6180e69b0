// The top lists: each row with its numbers and a bar, in as many columns as the terminal has room for.
import { inFull } from '../../display/formats.ts'
import { printable } from '../printable.ts'
import { pad, padStart, shorten, type Terminal } from '../terminal.ts'
import { type ListName, listNames, type SiteAnswers } from './answers.ts'
import { fields } from './tables.ts'

const titles: Readonly<Record<ListName, string>> = {
  pages: 'Pages',
  referrers: 'Referrers',
  geo: 'Countries',
  devices: 'Devices',
  events: 'Custom events',
}

const gap = 4
/** The minimum width of a list when two or three are next to each other. */
const minWidth = 36
const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

export const listColumns = (width: number): number =>
  Math.max(1, Math.min(3, Math.floor((width + gap) / (minWidth + gap))))

/** `maxRows` limits each list on a low terminal. */
export function lists(answers: SiteAnswers['lists'], terminal: Terminal, maxRows: number): string[] {
  const columns = listColumns(terminal.width)
  const width = Math.floor((terminal.width - gap * (columns - 1)) / columns)
  const panels = listNames.map((name) => panel(name, answers[name], width, maxRows, terminal))
  const lines: string[] = []
  for (let first = 0; first < panels.length; first += columns) {
    const side = panels.slice(first, first + columns)
    const height = Math.max(...side.map((panel) => panel.length))
    for (let line = 0; line < height; line++)
      lines.push(
        side
          .map((panel) => pad(panel[line] ?? '', width))
          .join(' '.repeat(gap))
          .trimEnd(),
      )
    lines.push('')
  }
  return lines.slice(0, -1)
}

function panel(
  name: ListName,
  { rows, totalRows }: SiteAnswers['lists'][ListName],
  width: number,
  maxRows: number,
  terminal: Terminal,
): string[] {
  const { label, numbers } = fields[name]
  const visibleRows = rows.slice(0, maxRows)
  const all = totalRows ?? rows.length
  const title =
    terminal.bold(titles[name]) +
    terminal.dim(all > visibleRows.length ? ` ${visibleRows.length} of ${inFull(all)}` : '')
  if (visibleRows.length === 0) return [title, terminal.dim('None in this period.')]
  const widths = numbers.map((number) =>
    Math.max(number.length, ...visibleRows.map((row) => inFull(Number(row[number])).length)),
  )
  const right = (cells: readonly string[]) =>
    cells.map((cell, index) => `  ${padStart(cell, widths[index] as number)}`).join('')
  const room = width - right(numbers).length
  const barWidth = Math.max(4, Math.floor(room / 5))
  const labelWidth = room - barWidth - 1
  const max = Math.max(...visibleRows.map((row) => Number(row[numbers[0] as string])))
  return [
    pad(title, room) + terminal.dim(right(numbers)),
    ...visibleRows.map((row) => {
      const share = Number(row[numbers[0] as string]) / max
      const text = pad(shorten(printable(String(row[label])), labelWidth), labelWidth)
      const bar = pad(terminal.accent(barText(share, barWidth)), barWidth)
      return `${text} ${bar}${right(numbers.map((number) => inFull(Number(row[number]))))}`
    }),
  ]
}

/** A bar as long as its share of the width, in eighths of a column, and at least one eighth. */
export function barText(share: number, width: number): string {
  const length = Math.max(1, Math.round(share * width * 8))
  return '█'.repeat(Math.floor(length / 8)) + eighths[length % 8]
}
