// The HTML part of a report about one site.
import { inFull } from '../display/formats.ts'
import {
  block,
  button,
  colours,
  font,
  fullWidth,
  link,
  page,
  paragraph,
  part,
  placed,
  soft,
  softLine,
  strong,
} from '../mail/layout.ts'
import { visibleLine } from '../mail/letter.ts'
import { type Html, html } from '../web/html.ts'
import { dashboardAddress, siteAddress } from './addresses.ts'
import { busiest, monthChart, weekChart } from './chart.ts'
import { changeMark, head, headline, nameCell, numberCell, numberTable, softCell, subscription } from './elements.ts'
import type { List, ListRow, SiteNumbers, SiteReport } from './numbers.ts'
import { maxDomain } from './order.ts'
import { kindOf, type ReportDays, thisPeriod } from './period.ts'
import {
  checkSnippet,
  excludedNames,
  importedDays,
  nobodyMatches,
  noTraffic,
  numberLines,
  onlyText,
  sameAsApi,
  summary,
} from './sentences.ts'

export function siteHtml(subject: string, report: SiteReport): string {
  const { order, site, filters, days, numbers } = report
  const { current, change } = numbers.overview
  const address = dashboardAddress(order, site.domain, days, filters)
  const imported = importedDays([site], days)
  return page(subject, {
    preview: summary(current.visitors, change.visitors, days),
    kind: kindOf(days),
    parts: [
      head(visibleLine(site.domain, maxDomain), days, order, onlyText(filters)),
      ...(current.visitors === 0 ? quiet(report) : traffic(report)),
      part(2, button(`Open ${thisPeriod(days)} in the dashboard`, address), 26),
    ],
    footer: html`${exclusions(report)}${imported !== undefined && html`${imported} `}Days of ${site.timeZone}. ${sameAsApi(days)}<br><br>${subscription(order)}`,
  })
}

function quiet({ order, site, filters, days, numbers }: SiteReport): Html[] {
  if (filters.length > 0) return [part(18, paragraph(nobodyMatches(days)), 8)]
  const settings = siteAddress(order, site.domain, '/settings')
  return [
    part(
      18,
      html`${paragraph(noTraffic(days, numbers.overview.previous.visitors))}${paragraph(html`${checkSnippet} ${link('settings of the site', settings)}.`)}`,
      8,
    ),
  ]
}

function traffic({ days, numbers: { overview, days: series, lists } }: SiteReport): Html[] {
  const { current, previous, change } = overview
  const [pages, sources, countries, events, goals] = lists as [List, List, List, List, List?]
  return [
    headline(current.visitors, { percent: change.visitors, isGood: (change.visitors ?? 0) > 0 }, previous.visitors),
    part(
      16,
      days.interval === 'week'
        ? html`${weekChart(series)}${caption('Right bar with its number: this week. Left bar: the same day of the week before.')}`
        : html`${monthChart(series)}${caption(`Each bar is a day. ${busiest(series)}`)}`,
    ),
    part(24, fiveNumbers(overview, days), 26),
    part(
      0,
      placed(
        fullWidth,
        html`<tr><td>${listTable(pages, 'left')}${listTable(sources, 'right')}</td></tr><tr><td>${listTable(countries, 'left')}${listTable(events, 'right')}</td></tr>${goals && html`<tr><td>${listTable(goals, 'left')}</td></tr>`}`,
      ),
    ),
  ]
}

const caption = (text: string): Html => html`<div style="padding-top:8px">${softLine(text, 12)}</div>`

const fiveNumbers = (overview: SiteNumbers['overview'], { interval }: ReportDays): Html =>
  numberTable(
    ['', `This ${interval}`, 'Before', 'Change'],
    numberLines(overview).map(
      ({ name, now, before, change }) =>
        html`<tr>${nameCell(name)}${numberCell(html`<b>${now}</b>`)}${softCell(before)}${numberCell(changeMark(change))}</tr>`,
    ),
  )

/** Two stand side by side; on a phone one below the other. */
const listTable = ({ title, unit, rows, nothing }: List, side: 'left' | 'right'): Html =>
  html`<table class="half" align="${side}" width="282" cellpadding="0" cellspacing="0" border="0" style="width:282px;margin:0 0 24px"><tr><td class="t" style="${font(14, 20, 600)};${strong};padding-bottom:6px">${title}</td><td class="s" align="right" colspan="2" style="${font(12, 18)};${soft};padding-bottom:6px">${unit}</td></tr>${
    rows.length === 0
      ? html`<tr><td class="s" colspan="3" style="${font(13.5, 19)};${soft};padding:4px 0">${nothing}</td></tr>`
      : rows.map((row) => listRow(row, Math.max(...rows.map(({ count }) => count))))
  }</table>
`

const listRow = ({ name, count, beside }: ListRow, most: number): Html =>
  html`<tr><td class="t" style="${font(13.5, 19)};${strong};padding:4px 0 2px;word-break:break-word">${name}</td><td class="t" align="right" width="44" style="${font(14, 19)};${strong};padding:4px 0 2px 6px">${inFull(count)}</td><td class="s" align="right" width="42" style="${font(12, 19)};${soft};padding:4px 0 2px 4px">${beside}</td></tr><tr><td colspan="3" style="padding:0 0 3px">${bar(Math.max(1, Math.round((100 * count) / Math.max(1, most))))}</td></tr>`

const bar = (percent: number): Html =>
  placed(
    fullWidth,
    html`<tr>${block('is', colours.accent, 'height:3px', html` width="${percent}%" height="3"`)}${percent < 100 && block('rest', colours.line, 'height:3px', html` height="3"`)}</tr>`,
  )

const exclusions = ({ order, site }: SiteReport): Html | false =>
  site.excludedCountries.length > 0 &&
  html`Without ${excludedNames(site)}, as set in ${link('excluded countries', siteAddress(order, site.domain, '/settings/exclusions'))}. `
