// The lists of the dashboard: short ones in panels, and one alone with its first hundred rows.

import { countText, inFull, pathText, shareText } from '../../display/formats.ts'
import type { Metrics } from '../../stats/reports/overview.ts'
import { countryNames } from '../../traffic/country.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import type { Answer, Row } from './answers.ts'
import { limitOf } from './answers.ts'
import { curlOf, rowEnd } from './curl.ts'
import { codeOfCountry, type ListKind, lists } from './lists.ts'
import { addressOf, csvAddressOf, type DashboardState, type ListReport, longLimit, sourceReports } from './state.ts'
import { worldMap } from './world-map.ts'

export interface PanelOptions {
  state: DashboardState
  /** Undefined if they could not be read: then there are no percentages. */
  totals: Metrics | undefined
  publicUrl: string
}

export function panel(report: ListReport, answer: Answer<Row[]>, options: PanelOptions): Html {
  const { state } = options
  const isMap = report === 'geo' && state.countries === 'map'
  const body =
    'fault' in answer
      ? failed(answer.fault)
      : isMap
        ? worldMap(answer.value, state)
        : rows(report, answer.value, options)
  return html`
<section class="card panel panel-${report}" id="${idOf(report)}" aria-labelledby="${idOf(report)}-title">
<div class="panel-head">${heading(report, state)}<span class="unit">${lists[report].unit}${age(answer)}</span></div>
${body}
${foot(report, options)}
</section>`
}

/** While ClickHouse is down, each panel repeats its last numbers and says how old they are. */
const age = (answer: Answer<Row[]>): HtmlValue =>
  'result' in answer &&
  answer.result?.staleMs !== undefined &&
  ` · ${Math.round(answer.result.staleMs / 1000)} seconds old`

const isSource = (report: ListReport): boolean => (sourceReports as readonly string[]).includes(report)

const idOf = (report: ListReport): string => (isSource(report) ? 'sources' : report)

function heading(report: ListReport, state: DashboardState): Html {
  if (isSource(report)) {
    const tabs = sourceReports.map((one) =>
      tab(one === 'utm' ? 'UTM' : lists[one].title, addressOf(state, { sources: one }), one === report),
    )
    return html`<h2 class="unseen" id="sources-title">Sources</h2><nav class="choices" aria-label="Sources">${tabs}</nav>`
  }
  const title = html`<h2 id="${report}-title">${lists[report].title}</h2>`
  if (report !== 'geo') return title
  const views = (['list', 'map'] as const).map((one) =>
    tab(one === 'list' ? 'List' : 'Map', addressOf(state, { countries: one }), one === state.countries),
  )
  return html`${title}<nav class="choices" aria-label="View of countries">${views}</nav>`
}

const tab = (name: string, href: string, isCurrent: boolean): Html =>
  html`<a href="${href}" data-stay${isCurrent && html` aria-current="true"`}>${name}</a>`

const failed = (fault: string): Html => html`<p class="fault panel-fault" role="alert">${fault}</p>`

const nothing: Readonly<Record<ListReport, string>> = {
  pages: 'No page was viewed.',
  referrers: 'No other site sent visitors.',
  channels: 'No visitors.',
  utm: 'No link with a UTM source brought visitors.',
  geo: 'No visitors.',
  devices: 'No visitors.',
  events: 'No custom event was sent.',
}

function rows(report: ListReport, all: readonly Row[], { state, totals }: PanelOptions): Html {
  const kind = lists[report]
  if (all.length === 0) return html`<p class="nothing">${nothing[report]}</p>`
  const largest = Math.max(...all.map((row) => Number(row[kind.number])))
  return html`<ol class="rows">${all.map((row) => {
    const link = kind.link?.(row, state)
    const content = html`${bar(Number(row[kind.number]), largest)}<span class="label">${label(report, row)}</span> <span class="value" title="${kind.words(row)}">${countText(Number(row[kind.number]))}</span> <span class="part">${share(kind, row, totals)}</span>`
    return html`<li>${link ? html`<a class="line" href="${link.href}"${link.isOutside ? outside : html` data-stay`}>${content}</a>` : html`<div class="line">${content}</div>`}</li>`
  })}</ol>`
}

const share = (kind: ListKind, row: Row, totals: Metrics | undefined): HtmlValue =>
  totals && shareText(kind.share(row, totals), Number(row[kind.number]))

const outside = html` rel="noopener noreferrer" target="_blank"`

function bar(value: number, largest: number): Html {
  const share = largest === 0 ? 0 : Math.max(1.5, (100 * value) / largest)
  return html`<svg class="share" aria-hidden="true"><rect width="${share.toFixed(1)}%" height="100%" rx="5"/></svg>`
}

function label(report: ListReport, row: Row): HtmlValue {
  const name = row[lists[report].label] as string
  if (report === 'geo')
    return html`<span class="code" aria-hidden="true">${name === countryNames.ZZ ? '–' : codeOfCountry(name)}</span>${name}`
  // A name of blanks would be invisible.
  const shown =
    name.trim() === '' ? html`<code>${JSON.stringify(name)}</code>` : report === 'pages' ? pathText(name) : name
  return html`${shown}${report === 'pages' && row.title ? html` <small>${row.title}</small>` : ''}`
}

function foot(report: ListReport, { state, publicUrl }: PanelOptions): Html {
  const { title } = lists[report]
  return html`<div class="foot">
<a href="${addressOf(state, { more: report })}" aria-label="More: ${title}">More</a>
<span class="spring"></span>
<a href="${csvAddressOf(state, report)}" aria-label="CSV of ${title}" download>CSV</a>
${curlOf({ state, report, limit: limitOf(state, report), title, publicUrl })}
${rowEnd}</div>`
}

/** One list alone, with all its numbers. */
export function longList(report: ListReport, answer: Answer<Row[]>, options: PanelOptions): Html {
  const { state, publicUrl } = options
  const kind = lists[report]
  return html`
<p class="back"><a href="${addressOf(state, { more: undefined })}">← All numbers</a></p>
<h1>${kind.title}</h1>
<section class="card long">${'fault' in answer ? failed(answer.fault) : longTable(report, answer.value, kind, options)}
<div class="foot"><span>${'result' in answer && extent(answer.value.length, answer.result?.totalRows)}</span><span class="spring"></span><a href="${csvAddressOf(state, report)}" download>CSV</a>${curlOf({ state, report, limit: longLimit, title: kind.title, publicUrl })}${rowEnd}</div>
</section>`
}

const extent = (shown: number, total: number | undefined): string =>
  total === undefined
    ? `${inFull(shown)} ${shown === 1 ? 'row' : 'rows'}`
    : `The first ${inFull(shown)} of ${inFull(total)} rows`

const numberNames: Readonly<Record<string, string>> = { views: 'Views', visitors: 'Visitors', count: 'Times' }

function longTable(report: ListReport, all: readonly Row[], kind: ListKind, { state, totals }: PanelOptions): Html {
  if (all.length === 0) return html`<p class="nothing">${nothing[report]}</p>`
  const numbers = Object.keys(numberNames)
    .filter((name) => name in (all[0] as Row))
    .toSorted((one) => (one === kind.number ? -1 : 1))
  const cells = (row: Row) => numbers.map((name) => html`<td class="right">${inFull(Number(row[name]))}</td>`)
  return html`<table>
<thead><tr><th scope="col">${kind.labelName}</th>${numbers.map((name) => html`<th scope="col" class="right">${numberNames[name]}</th>`)}<th scope="col" class="right">Share</th></tr></thead>
<tbody>${all.map((row) => {
    const link = kind.link?.(row, state)
    const name = label(report, row)
    return html`<tr><th scope="row">${link ? html`<a href="${link.href}"${link.isOutside && outside}>${name}</a>` : name}</th>${cells(row)}<td class="right">${share(kind, row, totals)}</td></tr>`
  })}</tbody>
</table>`
}
