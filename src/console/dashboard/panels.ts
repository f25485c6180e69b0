// The panels of the dashboard: tabs, the first rows of a list, and a menu for the rest of it.

import { inFull } from '../../display/formats.ts'
import { limits } from '../../stats/questions/parameters.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { type Answer, fieldsOfPanel, type Moment, type Row, type Totals } from './answers.ts'
import { curlOf } from './curl.ts'
import { campaignLists, type ListName, lists, type PanelName, panels, titleOfList } from './lists.ts'
import { moreMenu } from './more-menu.ts'
import { emptyGoalAddress } from './new-goals.ts'
import { failed } from './refusals.ts'
import { rows } from './rows.ts'
import { addressOf, type DashboardState, fieldsOf, isMap, listsOf, queryOf } from './state.ts'
import { worldMap } from './world-map.ts'

export interface PanelOptions {
  state: DashboardState
  totals: Totals | undefined
  moment: Moment
  publicUrl: string
}

/** A list with its answer, as a panel shows it. */
export interface Found {
  name: ListName
  answer: Answer<Row[]>
  titles: ReadonlyMap<string, string>
}

/** After a list with at most this many rows comes the beginning of another one. */
const fewRows = 4
const rowsBelow = 5
/** The rows of both lists, and the heads of the second one, have the height of ten rows. */
const rowsOfBoth = fewRows + rowsBelow

/** What is below a short list. */
export function listBelow(name: ListName, { site }: DashboardState): ListName | undefined {
  if (name === 'device') return 'browser'
  return name === 'goal' && site.goals.length <= fewRows ? 'event' : undefined
}

export function panel(name: PanelName, found: Found, below: Found | undefined, options: PanelOptions): Html {
  const { state } = options
  return html`
<section class="card panel panel-${name}" id="${name}" aria-labelledby="${name}-title">
<div class="panel-head"><h2 class="unseen" id="${name}-title">${panels[name].title}</h2>${tabs(name, found.name, state)}${menu(name, found, options)}</div>
${content(found, options)}
${below && hasRoom(found) && countOf(below.answer) !== 0 && content(below, options, rowsOfBoth - rowCount(found))}
${foot(name, found, state)}
</section>`
}

const rowCount = ({ answer }: Found): number => ('value' in answer ? answer.value.length : Infinity)

const hasRoom = (found: Found): boolean => rowCount(found) <= fewRows

function tabs(panelName: PanelName, chosen: ListName, state: DashboardState): Html {
  const isCampaign = (name: ListName) => (campaignLists as readonly ListName[]).includes(name)
  const tab = (text: string, href: string, isCurrent: boolean) =>
    html`<a href="${href}" data-stay${isCurrent && html` aria-current="true"`}>${text}</a>`
  const to = (name: ListName) => addressOf(state, { tabs: { ...state.tabs, [panelName]: name } })
  const all: HtmlValue[] = listsOf(state, panelName)
    .filter((name) => !isCampaign(name) || name === 'utm_campaign')
    .map((name) =>
      name === 'utm_campaign'
        ? tab('Campaigns', to(name), isCampaign(chosen))
        : name === 'country'
          ? [
              tab(lists[name].tab, addressOf(state, { countries: 'list' }), !isMap(name, state)),
              tab('Map', addressOf(state, { countries: 'map' }), isMap(name, state)),
            ]
          : tab(lists[name].tab, to(name), name === chosen),
    )
  return html`<nav class="choices" aria-label="${panels[panelName].title}">${all}</nav>`
}

function menu(name: PanelName, { name: list, answer }: Found, { state, publicUrl }: PanelOptions): Html {
  const { title } = panels[name]
  const count = countOf(answer)
  const isCut = count !== undefined && count > limits.csv
  const saved =
    count !== undefined && html` <small>${isCut && 'first '}${inFull(Math.min(count, limits.csv))} rows</small>`
  const asked = { kind: 'breakdown', fields: [['by', list], ...fieldsOfPanel(list, state)] } as const
  return moreMenu(
    title,
    html`<a class="item" href="${addressOf(state, { more: list })}">${allOf(list, count)}</a>
<a class="item" href="${csvAddressOf(state, list)}" aria-label="CSV of ${lists[list].tab}" download>Download CSV${saved}</a>
${curlOf(state, publicUrl, asked, { id: name, label: title })}`,
  )
}

export const csvAddressOf = (state: DashboardState, list: ListName): string =>
  `${state.path}/csv/${list}?${queryOf(fieldsOf(state, { more: list }))}`

/** How many rows there are, not only how many are shown. */
export const countOf = (answer: Answer<Row[]>): number | undefined =>
  'value' in answer ? (answer.result?.totalRows ?? answer.value.length) : undefined

/** `All 41 entry pages` */
function allOf(list: ListName, count: number | undefined): string {
  const [one, many] = lists[list].plural
  if (count === undefined) return `All ${many}`
  return count === 1 ? `1 ${one}` : `All ${inFull(count)} ${many}`
}

function content(found: Found, options: PanelOptions, limit = Infinity): Html {
  const { name, answer, titles } = found
  const { state, totals, moment } = options
  if ('fault' in answer) return failed(answer, state, moment)
  if (answer.value.length === 0) return html`<p class="nothing">${lists[name].nothing}</p>${remark(found)}`
  const map = isMap(name, state) && worldMap(answer.value, state)
  const shown = answer.value.slice(0, map ? rowsBelow : limit)
  return html`${map}${rows(name, shown, { state, totals, titles })}${remark(found)}`
}

/** While ClickHouse is down, each panel repeats its last numbers and says how old they are; and a dimension may be younger than the range. */
function remark({ name, answer }: Found): HtmlValue {
  if (!('result' in answer) || !answer.result) return false
  const { staleMs, warnings, leftOut } = answer.result
  const recorded = warnings.find((text) => text.startsWith(`${name} is recorded since`))
  return [
    staleMs !== undefined && html`<p class="remark">${Math.round(staleMs / 1000)} seconds old</p>`,
    recorded && html`<p class="remark">${titleOfList(name)} are ${recorded.slice(`${name} is `.length)}.</p>`,
    leftOut.length > 0 && html`<p class="remark">Without some imported days, because ${leftOut[0]?.why}.</p>`,
  ]
}

function foot(panelName: PanelName, { name, answer }: Found, state: DashboardState): Html {
  const isCampaign = campaignLists.some((one) => one === name)
  const count = countOf(answer)
  return html`<div class="foot">
${count !== undefined && count > 0 && html`<a href="${addressOf(state, { more: name })}">${allOf(name, count)}</a>`}${panelName === 'actions' && state.isOwner && html`<a href="${emptyGoalAddress(state)}">New goal</a>`}${
  isCampaign &&
  html`<span class="spring"></span><nav class="by" aria-label="Campaigns by">by ${campaignLists.map(
    (one) =>
      html`<a href="${addressOf(state, { tabs: { ...state.tabs, sources: one } })}" data-stay${one === name && html` aria-current="true"`}>${lists[one].tab}</a>`,
  )}</nav>`
}</div>`
}
