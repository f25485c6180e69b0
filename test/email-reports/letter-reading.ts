// Reads the numbers of a report out of its letter, as a person would: from what the HTML part shows, and from the lines of the text part.

/** `[name, this period, before, change]`, or for sites `[domain, visitors, pageviews, change]`. */
type Line = readonly string[]

export interface ReadSite {
  /** `7,041 visitors +5.2% from 6,695` */
  headline: string
  numbers: readonly Line[]
  /** `[day, visitors]`, and in a week the visitors of the week before. */
  days: readonly Line[]
  /** By title: `[name, number, share or second number]`, or one sentence. */
  lists: Readonly<Record<string, readonly Line[] | string>>
}

export interface ReadAccount {
  headline: string
  sites: readonly Line[]
}

const everyTitle = ['Pages', 'Sources', 'Countries', 'Custom events', 'Goals']
const ofFive = ['Visitors', 'Pageviews', 'Sessions', 'Bounce rate', 'Visit duration']

function unescaped(text: string): string {
  return text
    .replace(/&nbsp;|&ensp;/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/\s+/g, ' ')
    .trim()
}

/** The texts of all cells and lines that are shown, in order. */
export function shownCells(html: string): string[] {
  const body = html.slice(html.indexOf('</div>', html.indexOf('display:none')) + 6)
  return body
    .split(/<\/(?:td|th|h1|div|p)>/)
    .map((part) => unescaped(part.replace(/<[^>]*>/g, ' ')))
    .filter(Boolean)
}

const signed = (change: string): string => change.replace('▲ ', '+').replace('▼ ', '-')

export function readSiteHtml(html: string): ReadSite | string {
  const cells = shownCells(html)
  const quiet = cells.find((cell) => cell.startsWith('Nobody visited'))
  if (quiet) return quiet
  const from = cells.indexOf('Change') + 1
  const numbers = Array.from({ length: 5 }, (_, row) => cells.slice(from + 4 * row, from + 4 * row + 4))
  const listTitles = everyTitle.filter((title) => title !== 'Goals' || cells.includes(title))
  const lists = listTitles.map((title, nth) => {
    const begins = cells.indexOf(title, from) + 2
    const next = listTitles[nth + 1]
    const ends = next ? cells.indexOf(next, begins) : cells.findIndex((cell) => /^Open this (week|month)/.test(cell))
    return [title, rowsOf(cells.slice(begins, ends))] as const
  })
  return {
    headline: signed(cells.find((cell) => /^[\d,]+ visitors?\b/.test(cell)) ?? ''),
    numbers: numbers.map((line) => line.map(signed)),
    days: daysOf(html, cells),
    lists: Object.fromEntries(lists),
  }
}

function rowsOf(cells: readonly string[]): readonly Line[] | string {
  if (cells.length === 1) return cells[0] as string
  return Array.from({ length: cells.length / 3 }, (_, row) => cells.slice(3 * row, 3 * row + 3))
}

/** The chart is announced as a sentence, and also shows its numbers: above the bars of a week, and on hover in a month. */
function daysOf(html: string, cells: readonly string[]): Line[] {
  const [, label = ''] = /aria-label="Visitors by day\. ([^"]*)"/.exec(html) ?? []
  const days = unescaped(label)
    .split(/(?<=[)\d]), (?=\D)/)
    .map((day) => day.split(/: | \(before: |\)/).filter(Boolean))
  const headline = cells.findIndex((cell) => /^[\d,]+ visitors?\b/.test(cell))
  const shown = days[0]?.[2]
    ? cells.slice(headline + 1, headline + 8)
    : [...html.matchAll(/title="\d+ \w+: ([\d,]+) visitors?"/g)].map(([, count]) => count)
  if (String(shown) !== String(days.map(([, visitors]) => visitors)))
    throw new Error(`The chart shows ${shown.join(' ')}, and says ${label}`)
  return days
}

export function readAccountHtml(html: string): ReadAccount {
  const cells = shownCells(html)
  const from = cells.indexOf('Change') + 1
  const end = cells.findIndex((cell) => cell === 'Open all sites' || cell.startsWith('And '))
  return {
    headline: signed(cells.find((cell) => /^[\d,]+ visitors?\b/.test(cell)) ?? ''),
    sites: Array.from({ length: (end - from) / 4 }, (_, row) =>
      cells.slice(from + 4 * row, from + 4 * row + 4).map(signed),
    ),
  }
}

const columns = (line: string): string[] => line.trim().split(/ {2,}/)

export function readSiteText(text: string): ReadSite | string {
  const parts = text.split('\n\n')
  const quiet = parts.find((part) => part.startsWith('Nobody visited'))
  if (quiet) return quiet
  const linesOf = (title: string) => {
    const [first = '', ...lines] = (parts.find((part) => part.startsWith(title)) ?? '').split('\n')
    return first.startsWith(title) ? lines : []
  }
  const numbers = parts.find((part) => part.includes('Bounce rate'))?.split('\n') ?? []
  const days = linesOf('Visitors by day').filter((line) => !line.includes('This week'))
  const listTitles = everyTitle.filter((title) => title !== 'Goals' || parts.some((part) => part.startsWith('Goals (')))
  const lists = listTitles.map((title) => {
    const lines = linesOf(`${title} (`)
    if (lines.length === 1 && !/^\d/.test(lines[0] as string)) return [title, lines[0] as string] as const
    const rows = lines.map((line) => /^ *(\S+) +(\S+) {2}(.*)$/.exec(line)?.slice(1) as [string, string, string])
    return [title, rows.map(([count, beside, name]) => [name, count, beside])] as const
  })
  return {
    headline: headlineOf(parts),
    numbers: numbers
      .slice(1)
      .map(columns)
      .filter(([name]) => ofFive.includes(name as string)),
    days: days.map(columns),
    lists: Object.fromEntries(lists),
  }
}

export function readAccountText(text: string): ReadAccount {
  const parts = text.split('\n\n')
  const lines =
    parts
      .find((part) => part.startsWith('Visitors  Pageviews'))
      ?.split('\n')
      .slice(1) ?? []
  return {
    headline: headlineOf(parts),
    sites: lines
      .filter((line) => !/^ {2}http|^And /.test(line))
      .map(columns)
      .map(([visitors, pageviews, change, domain]) => [domain, visitors, pageviews, change] as Line),
  }
}

/** `7,041 visitors (+5.2% from 6,695)` without its parentheses, as the HTML part has it. */
const headlineOf = (parts: readonly string[]): string =>
  (parts.find((part) => /^[\d,]+ visitors?\b/.test(part)) ?? '').replace(/[()]/g, '')
