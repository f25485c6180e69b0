// One list alone, with all its rows and numbers: searched, sorted, and page by page.

import { inFull } from '../../display/formats.ts'
import { valueText } from '../../display/labels.ts'
import { displayOf } from '../../display/metrics.ts'
import { type Dimension, dimensionOf } from '../../stats/questions/dimensions.ts'
import { filterText } from '../../stats/questions/filters.ts'
import { limits } from '../../stats/questions/parameters.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import type { Answer, Ask, Row } from './answers.ts'
import { curlOf, rowEnd } from './curl.ts'
import { hiddenFields } from './filters.ts'
import { columnName, columnsOf, hasVisits, type ListName, lists, titleOfList } from './lists.ts'
import { moreMenu } from './more-menu.ts'
import { countOf, csvAddressOf, type Found, type PanelOptions } from './panels.ts'
import { failed } from './refusals.ts'
import { bar, labelled, rowLinks, shareName, shareOf } from './rows.ts'
import { addressOf, type DashboardState, listsOf, panelOf } from './state.ts'

export interface LongList extends Found {
  /** With the columns that could be read. */
  state: DashboardState
}

/** Lists of words of ours have few rows: they are searched here, by what the page shows. */
const isSearchedHere = (name: ListName): boolean => dimensionOf(name)?.isOurs === true || name === 'event'

const rowsOfPage = 100

/** The question of the list. A file has all rows. */
export function fieldsOfLongList(state: DashboardState, name: ListName, isFile = false): [string, string][] {
  const { search, order, cursor } = state
  const columns = columnsOf(name, !state.isShort)
  const isHere = search !== undefined && isSearchedHere(name)
  const fields: [string, string][] = [
    ['metrics', columns.join(',')],
    ['limit', String(isFile ? limits.csv : isHere ? limits.json : rowsOfPage)],
  ]
  if (order && columns.includes(order.replace(/:asc$/, ''))) fields.push(['order', order])
  if (search && !isHere) fields.push(['filter', filterText(name, 'contains', [search])])
  if (cursor && !isFile && !isHere) fields.push(['cursor', cursor])
  return fields
}

/** With the numbers of visits if they can be read for this range, otherwise without them. */
export async function readLongList(ask: Ask, state: DashboardState, name: ListName, isFile = false): Promise<LongList> {
  const answer = await ask.list(name, fieldsOfLongList(state, name, isFile))
  if ('fault' in answer && answer.refusal && !state.isShort && hasVisits(name))
    return readLongList(ask, { ...state, isShort: true, cursor: undefined }, name, isFile)
  const found = search(state, name, answer)
  return { state, name, answer: found, titles: isFile ? new Map() : await ask.titles(name, found) }
}

function search({ search }: DashboardState, name: ListName, answer: Answer<Row[]>): Answer<Row[]> {
  if (search === undefined || !isSearchedHere(name) || 'fault' in answer) return answer
  const plain = (text: string) => text.toLocaleLowerCase('en')
  const label = (row: Row) => valueText(dimensionOf(name) as Dimension, String(row[name] ?? ''))
  return { value: answer.value.filter((row) => plain(label(row)).includes(plain(search))) }
}

export function longList({ state, ...found }: LongList, options: Omit<PanelOptions, 'state'>): Html {
  const { name, answer } = found
  const { publicUrl, moment } = options
  const panel = panelOf(name)
  const asked = { kind: 'breakdown', fields: [['by', name], ...fieldsOfLongList(state, name)] } as const
  return html`
<div class="title"><a class="back" href="${addressOf(state, { more: undefined })}"><span aria-hidden="true">← </span>Dashboard</a>
<h1>${titleOfList(name)}</h1>
<nav class="choices" aria-label="Lists">${listsOf(state, panel)
    .filter(() => listsOf(state, panel).length > 1)
    .map((one) => {
      const href = addressOf(state, { more: one, order: undefined, search: undefined })
      return html`<a href="${href}"${one === name && html` aria-current="true"`}>${lists[one].tab}</a>`
    })}</nav>
<span class="spring"></span>
<form class="find" method="get" action="${state.path}" role="search">${hiddenFields(state, ['search'])}<input type="search" name="search" value="${state.search}" aria-label="Search ${lists[name].plural[1]}" placeholder="Search" maxlength="500" autocomplete="off" data-key="s"><button class="button">Search</button></form>
<a class="button" href="${csvAddressOf(state, name)}" download>Download CSV</a>
${!state.isShared && moreMenu(lists[name].tab, curlOf(state, publicUrl, asked, { id: 'list', label: lists[name].tab }))}</div>
<section class="card long">${'fault' in answer ? failed(answer, state, moment) : table(state, name, answer.value, { ...options, ...found })}
${state.isShort && html`<p class="remark">Sessions, bounce rate and duration cannot be counted for this range.</p>`}
<div class="foot paging"><span>${extent(state, answer)}</span><span class="spring"></span>${paging(state, answer)}${rowEnd}</div>
</section>`
}

function extent({ search, cursor }: DashboardState, answer: Answer<Row[]>): string {
  const count = countOf(answer)
  if (count === undefined || !('value' in answer)) return ''
  const rows = `${inFull(count)} ${count === 1 ? 'row' : 'rows'}`
  const found = search === undefined ? '' : ` with “${search}”`
  if (cursor !== undefined) return `Further rows${found}`
  return count > answer.value.length ? `1 – ${inFull(answer.value.length)} of ${rows}${found}` : `${rows}${found}`
}

function paging(state: DashboardState, answer: Answer<Row[]>): HtmlValue {
  const next = 'result' in answer && answer.result && nextCursor(answer.result.json)
  return [
    state.cursor && html`<a class="button" href="${addressOf(state)}">First rows</a>`,
    next && html`<a class="button" rel="next" href="${addressOf(state, { cursor: next })}">Next</a>`,
  ]
}

const nextCursor = (json: string): string | undefined =>
  (JSON.parse(json) as { meta: { next_cursor?: string | null } }).meta.next_cursor ?? undefined

function table(
  state: DashboardState,
  name: ListName,
  all: readonly Row[],
  { totals, titles }: Pick<PanelOptions, 'totals'> & Pick<Found, 'titles'>,
): Html {
  if (all.length === 0)
    return html`<p class="nothing">${state.search === undefined ? lists[name].nothing : 'Nothing is called so.'}</p>`
  const columns = columnsOf(name, !state.isShort)
  const [sorted, isAscending] = sortOf(state, columns)
  const largest = Math.max(0, ...all.map((row) => Number(row[sorted])))
  const hasShare = name !== 'goal'
  const sort = (column: string) => {
    const order = column === sorted && !isAscending ? `${column}:asc` : column
    const direction = isAscending ? 'ascending' : 'descending'
    return html`<th scope="col" class="right${column === sorted && ' sorted'}"${column === sorted && html` aria-sort="${direction}"`}><a href="${addressOf(state, { order })}" data-stay>${columnName(column)}<span aria-hidden="true">${column === sorted ? (isAscending ? ' ↑' : ' ↓') : ''}</span></a></th>`
  }
  return html`${columns.length > 1 && sortMenu(state, columns, sorted)}<table>
<thead><tr><th scope="col">${lists[name].heading}</th>${columns.map(sort)}${hasShare && html`<th scope="col" class="right share-of">${shareName(name)}</th>`}</tr></thead>
<tbody>${all.map((row) => {
    const labels = labelled(name, row, { state, totals, titles })
    return html`<tr><th scope="row">${bar(Number(row[sorted]), largest)}${labels.href ? html`<a class="label" href="${labels.href}" title="${labels.text}">${labels.label}</a>` : html`<span class="label" title="${labels.text}">${labels.label}</span>`}${rowLinks(labels)}</th>${columns.map(
      (column) =>
        html`<td class="right${column === sorted && ' sorted'}">${displayOf(column).text(Number(row[column]))}</td>`,
    )}${hasShare && html`<td class="right share-of">${shareOf(name, row, totals)}</td>`}</tr>`
  })}</tbody>
</table>`
}

/** Where there is room for one column only. */
const sortMenu = (state: DashboardState, columns: readonly string[], sorted: string): Html =>
  html`<details class="menu sort"><summary>Sort <b>${columnName(sorted)}</b></summary><div class="menu-body links">${columns.map(
    (column) =>
      html`<a class="item" href="${addressOf(state, { order: column })}"${column === sorted && html` aria-current="true"`}>${columnName(column)}</a>`,
  )}</div></details>`

function sortOf({ order }: DashboardState, columns: readonly string[]): [column: string, isAscending: boolean] {
  const column = order?.replace(/:asc$/, '')
  return column && columns.includes(column) ? [column, order !== column] : [columns[0] as string, false]
}
