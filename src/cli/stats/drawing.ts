// Output for people, as wide as the terminal: one site with its numbers, chart and lists, or all sites with a line for each.
import { displayOf } from '../../display/metrics.ts'
import { rangeTexts } from '../../display/ranges.ts'
import { queryFields } from '../../stats/query-string.ts'
import type { Overview } from '../../stats/reports/overview.ts'
import { printable } from '../printable.ts'
import type { SitesAnswer, SitesParameters } from '../sites-source.ts'
import { pad, type Terminal } from '../terminal.ts'
import { listNames, type SiteAnswers } from './answers.ts'
import { chart } from './chart.ts'
import { type Column, columnsOf } from './columns.ts'
import { fitted, heading, notes, sides } from './frame.ts'
import { barText, listColumns, lists } from './lists.ts'
import { type Compared, changeText, numbers } from './numbers.ts'
import { metricNames } from './tables.ts'

/** A terminal with fewer lines than this gets a lower chart. */
const roomy = 36

const numbersOf = ({ current, ...before }: Overview, compares: boolean): Compared => ({
  current: { ...current },
  ...(compares && { previous: { ...before.previous }, change: { ...before.change } }),
})

/** With a height, lists are cut so that the whole drawing fits on the screen. */
export function drawSite(answers: SiteAnswers, terminal: Terminal, height = Number.POSITIVE_INFINITY): string {
  const { site, parameters, overview, compares, period, previousPeriod, days, warnings } = answers
  const above = [
    ...heading({ site, range: parameters.range.name, period, ...(compares && { previousPeriod }) }, terminal),
    ...filterLines(parameters, terminal),
    '',
    ...numbers(numbersOf(overview, compares), terminal),
    '',
    ...chart(days, terminal, height < roomy ? 4 : 8),
    '',
  ]
  const below = notes(warnings, terminal)
  const tall = Math.ceil(listNames.length / listColumns(terminal.width))
  const maxRows = Math.max(1, Math.floor((height - above.length - below.length - 2 * tall + 1) / tall))
  return fitted([...above, ...lists(answers.lists, terminal, maxRows), ...below], terminal)
}

function filterLines({ range, filters }: SitesParameters, terminal: Terminal): string[] {
  const set = queryFields({ range, filters }).filter(([name]) => !['range', 'start', 'end'].includes(name))
  const words = set.map(([name, value]) => `${name} ${printable(value)}`)
  return words.length > 0 ? [terminal.warn(`Only ${words.join(', ')}`)] : []
}

const barWidth = 12

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
    heading: period === 'current' ? displayOf(name).name : 'Before',
    cells: sites.map((site) => displayOf(name).text(site[period][name])),
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
  const domains = { heading: 'Site', cells: sites.map(({ domain }) => printable(domain)) }
  const { heading: names, rows } = columnsOf(domains, columns, terminal)
  const above = [
    ...sides(terminal.bold('All sites'), rangeTexts[parameters.range.name], terminal),
    ...filterLines(parameters, terminal),
    '',
    names,
  ]
  const below = notes(warnings, terminal)
  const room = Math.max(1, height - above.length - below.length)
  const left = rows.length > room ? [terminal.dim(`and ${rows.length - room + 1} more`)] : []
  return fitted([...above, ...rows.slice(0, room - left.length), ...left, ...below], terminal)
}
