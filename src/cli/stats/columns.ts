// A table with numbers: a label at the left, the most important columns next to it.
import { pad, padStart, shorten, shownWidth, type Terminal } from '../terminal.ts'

export interface Column {
  heading: string
  cells: readonly string[]
  isNumber: boolean
}

const minLabelWidth = 16

/** The heading and the rows. A narrow terminal shows only the first columns. */
export function columnsOf(
  { heading, cells: labels }: Omit<Column, 'isNumber'>,
  wanted: readonly Column[],
  terminal: Terminal,
): { heading: string; rows: string[] } {
  const columns = [...wanted]
  const columnWidth = ({ heading, cells }: Column) => Math.max(...[heading, ...cells].map(shownWidth))
  const columnsWidth = () => columns.reduce((sum, column) => sum + columnWidth(column) + 2, 0)
  while (columns.length > 1 && columnsWidth() + minLabelWidth > terminal.width) columns.pop()
  const labelWidth = Math.min(terminal.width - columnsWidth(), Math.max(4, ...[heading, ...labels].map(shownWidth)))
  const line = (label: string, cellOf: (column: Column) => string) =>
    pad(shorten(label, labelWidth), labelWidth) +
    columns.map((column) => `  ${(column.isNumber ? padStart : pad)(cellOf(column), columnWidth(column))}`).join('')
  return {
    heading: terminal.dim(line(heading, ({ heading }) => heading)),
    rows: labels.map((label, index) => line(label, ({ cells }) => cells[index] as string).trimEnd()),
  }
}
