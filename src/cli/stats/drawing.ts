// Output for people, as wide as the terminal: one site with its numbers, chart and lists, or all sites with a line for each.
import { shortDay } from '../../display/formats.ts'
import { metrics } from '../../display/metrics.ts'
import { rangeTexts } from '../../display/ranges.ts'
import { queryFields } from '../../stats/query-string.ts'
import { printable } from '../printable.ts'
import type { SitesAnswer, SitesParameters } from '../sites-source.ts'
import { pad, padStart, shorten, shownWidth, type Terminal } from '../terminal.ts'
import { dateOf, type Interval, lastDateOf, listNames, type SiteAnswers } from './answers.ts'
import { chart } from './chart.ts'
import { barText, listColumns, lists } from './lists.ts'
import { changeText, numbers, numberText } from './numbers.ts'
import { metricNames } from './tables.ts'

/** A terminal with fewer lines than this gets a lower chart. */
const roomy = 36

/** With a height, lists are cut so that the whole drawing fits on the screen. */
export function drawSite(answers: SiteAnswers, terminal: Terminal, height = Number.POSITIVE_INFINITY): string {
  const { site, parameters, overview, compares, period, previousPeriod, days, warnings } = answers
  const above = [
    ...sides(terminal.bold(printable(site.domain)), rangeTexts[parameters.range.name], terminal),
    ...sides(terminal.dim(periodText(period)), terminal.dim(site.timeZone), terminal),
    ...(compares ? [terminal.dim(`Compared with ${periodText(previousPeriod)}`)] : []),
    ...filterLines(parameters, terminal),
    '',
    ...numbers(overview, compares, terminal),
    '',
    ...chart(days, terminal, height < roomy ? 4 : 8),
    '',
  ]
  const below = notes(warnings, terminal)
  const tall = Math.ceil(listNames.length / listColumns(terminal.width))
  const maxRows = Math.max(1, Math.floor((height - above.length - below.length - 2 * tall + 1) / tall))
  return fitted([...above, ...lists(answers.lists, terminal, maxRows), ...below], terminal)
}

const notes = (warnings: readonly string[], terminal: Terminal): string[] =>
  warnings.flatMap((warning) => ['', terminal.warn(`Note: ${printable(warning)}.`)])

const fitted = (lines: readonly string[], terminal: Terminal): string =>
  lines.map((line) => shorten(line, terminal.width)).join('\n')

/** One text at the left and one at the right; one below the other if they do not fit. */
function sides(left: string, right: string, terminal: Terminal): string[] {
  const room = terminal.width - shownWidth(left)
  return room >= shownWidth(right) + 2 ? [left + padStart(right, room)] : [left, right]
}

/** `18 Oct to 16 Nov, 09:36`. A period does not include its end, so a period that ends at midnight ends with the day before. */
function periodText({ start, end }: Interval): string {
  const { year } = Temporal.Now.plainDateISO()
  const clock = (instant: string) => (isMidnight(instant) ? '' : `, ${instant.slice(11, 16)}`)
  const last = isMidnight(end) ? lastDateOf(end) : dateOf(end)
  return `${shortDay(dateOf(start), year)}${clock(start)} to ${shortDay(last, year)}${clock(end)}`
}

const isMidnight = (instant: string): boolean => instant.slice(11, 19) === '00:00:00'

function filterLines({ range, filters }: SitesParameters, terminal: Terminal): string[] {
  const set = queryFields({ range, filters }).filter(([name]) => !['range', 'start', 'end'].includes(name))
  const words = set.map(([name, value]) => `${name} ${printable(value)}`)
  return words.length > 0 ? [terminal.warn(`Only ${words.join(', ')}`)] : []
}

interface Column {
  heading: string
  cells: readonly string[]
  isNumber: boolean
}

const barWidth = 12
const minSiteWidth = 16

/** A narrow terminal shows only the most important columns. */
export function drawSites(
  { sites, warnings }: SitesAnswer,
  parameters: SitesParameters,
  compares: boolean,
  terminal: Terminal,
  height = Number.POSITIVE_INFINITY,
): string {
  if (sites.length === 0) return 'There are no sites yet. Next: footfall site create <domain>'
  const max = Math.max(1, ...sites.map(({ current }) => current.visitors))
  const number = (name: (typeof metricNames)[number], period: 'current' | 'previous' = 'current'): Column => ({
    heading: period === 'current' ? metrics[name].name : 'Before',
    cells: sites.map((site) => numberText(name, site[period][name])),
    isNumber: true,
  })
  const bars = sites.map(({ current: { visitors } }) => (visitors > 0 ? barText(visitors / max, barWidth) : ''))
  const columns: Column[] = [
    number('visitors'),
    {
      heading: 'Change',
      cells: sites.map(({ change }) => changeText('visitors', change.visitors, terminal)),
      isNumber: true,
    },
    ...(compares ? [number('visitors', 'previous')] : []),
    { heading: '', cells: bars.map((bar) => pad(terminal.accent(bar), barWidth)), isNumber: false },
    ...metricNames.slice(1).map((name) => number(name)),
  ]
  const columnWidth = ({ heading, cells }: Column) => Math.max(...[heading, ...cells].map(shownWidth))
  const columnsWidth = () => columns.reduce((sum, column) => sum + columnWidth(column) + 2, 0)
  while (columns.length > 1 && columnsWidth() + minSiteWidth > terminal.width) columns.pop()
  const domains = sites.map(({ domain }) => printable(domain))
  const siteWidth = Math.min(terminal.width - columnsWidth(), Math.max(4, ...domains.map(shownWidth)))
  const line = (site: string, cellOf: (column: Column) => string) =>
    pad(shorten(site, siteWidth), siteWidth) +
    columns.map((column) => `  ${(column.isNumber ? padStart : pad)(cellOf(column), columnWidth(column))}`).join('')
  const above = [
    ...sides(terminal.bold('All sites'), rangeTexts[parameters.range.name], terminal),
    ...filterLines(parameters, terminal),
    '',
    terminal.dim(line('Site', ({ heading }) => heading)),
  ]
  const rows = domains.map((domain, index) => line(domain, ({ cells }) => cells[index] as string).trimEnd())
  const below = notes(warnings, terminal)
  const room = Math.max(1, height - above.length - below.length)
  const left = rows.length > room ? [terminal.dim(`and ${rows.length - room + 1} more`)] : []
  return fitted([...above, ...rows.slice(0, room - left.length), ...left, ...below], terminal)
}
