// The bar above the numbers: filters, comparison and range. Everything is a link or a form that asks for another address.
import type { Filters } from '../../traffic/conditions.ts'
import { type CountryCode, countryNames } from '../../traffic/country.ts'
import { devices } from '../../traffic/device.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { fault } from '../layout/layout.ts'
import type { Moment } from './answers.ts'
import type { DateMistake } from './date-mistakes.ts'
import { rangeKeys } from './shortcuts.ts'
import { addressOf, type DashboardState, fieldsOf, rollingRanges } from './state.ts'

export function filterBar(state: DashboardState, moment: Moment, mistake?: DateMistake): Html {
  return html`<div class="bar" id="bar">
<div class="chips">${chips(state)}${addFilter(state)}${comparison(state)}</div>
${ranges(state, moment, mistake)}
</div>`
}

function chips(state: DashboardState): HtmlValue {
  const remove = (name: keyof Filters, text: string): Html =>
    html` <a class="remove" href="${addressOf(state, { filters: { [name]: undefined } })}" aria-label="Remove the filter ${text}" data-stay>${cross}</a>`
  return filterTexts(state.parameters.filters).map(
    ([name, title, value]) =>
      html`<span class="chip">${title} <b>${value}</b>${!(name in state.locked) && remove(name, `${title} ${value}`)}</span>`,
  )
}

/** Each filter in words: its name, its title, its value. */
export function filterTexts(filters: Filters): [name: keyof Filters, title: string, value: string][] {
  const { hostname, country, device, utmSource } = filters
  const all: [keyof Filters, string, string | undefined][] = [
    ['hostname', 'Hostname', hostname],
    ['country', 'Country', country && countryNames[country]],
    ['device', 'Device', device],
    ['utmSource', 'UTM source', utmSource],
  ]
  return all.flatMap(([name, title, value]) => (value === undefined ? [] : [[name, title, value]]))
}

/** Drawn, because the character may come from another font, which arrives late. */
const cross = html`<svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true"><path d="M1 1l8 8M9 1l-8 8"/></svg>`

const countries = (Object.entries(countryNames) as [CountryCode, string][]).toSorted(([, one], [, other]) =>
  one.localeCompare(other, 'en'),
)

function addFilter(state: DashboardState): HtmlValue {
  const { site, locked, path } = state
  const { filters } = state.parameters
  const isFree = (name: keyof Filters) => !(name in locked)
  const asksHost = site.allowSubdomains && isFree('hostname')
  if (Object.keys(locked).length === 4) return false
  return html`<details class="menu filters"><summary class="chip" data-key="/">+ Filter</summary>
<div class="menu-body">
${isFree('hostname') && hostnames(state)}
<form method="get" action="${path}">
${hiddenFields(state, ['country', 'device', 'utm_source', ...(asksHost ? ['hostname'] : [])])}
${asksHost && hostnameField(filters.hostname)}${isFree('country') && countryField(filters.country)}${isFree('device') && deviceField(filters.device)}${isFree('utmSource') && utmSourceField(filters.utmSource)}
<button class="button first">Show</button>
</form></div></details>`
}

const option = (value: string, text: string, current: string | undefined): Html =>
  html`<option value="${value}"${value === current && html` selected`}>${text}</option>`

/** The names of the fields are those of the API. */
export const hostnameField = (hostname: string | undefined): Html =>
  html`<label>Hostname <input name="hostname" value="${hostname}" autocomplete="off"></label>`

export const countryField = (country: string | undefined): Html =>
  html`<label>Country <select name="country">${option('', 'All', country ?? '')}${countries.map(([code, name]) => option(code, name, country))}</select></label>`

export const deviceField = (device: string | undefined): Html =>
  html`<label>Device <select name="device">${option('', 'All', device ?? '')}${devices.filter((one) => one !== 'Unknown').map((one) => option(one.toLowerCase(), one, device?.toLowerCase()))}</select></label>`

export const utmSourceField = (utmSource: string | undefined): Html =>
  html`<label>UTM source <input name="utm_source" value="${utmSource}" maxlength="255" autocomplete="off"></label>`

/** Each host of the site also answers under `www.` */
function hostnames(state: DashboardState): Html {
  const hosts = state.site.hostnames.flatMap((host) => (host.startsWith('www.') ? [host] : [host, `www.${host}`]))
  return html`<div class="hosts"><span id="hosts-label">Hostname</span><ul aria-labelledby="hosts-label">${hosts.map(
    (hostname) =>
      html`<li><a href="${addressOf(state, { filters: { hostname } })}"${hostname === state.parameters.filters.hostname && html` aria-current="true"`} data-stay>${hostname}</a></li>`,
  )}</ul></div>`
}

const hiddenFields = (state: DashboardState, except: readonly string[]): Html[] =>
  fieldsOf(state)
    .filter(([name]) => !except.includes(name))
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)

const comparison = (state: DashboardState): Html =>
  html`<a class="chip compare" href="${addressOf(state, { compares: !state.compares })}" data-key="x" data-stay${state.compares && html` aria-current="true"`}>vs previous<span class="unseen">${state.compares ? ' period is shown. Hide it' : ' period is hidden. Show it'}</span></a>`

function ranges(state: DashboardState, { local }: Moment, mistake: DateMistake | undefined): Html {
  const { range } = state.parameters
  const today = local.toPlainDate()
  const [first, last] =
    range.name === 'custom' ? [range.firstDay, range.lastDay] : [today.subtract({ days: 29 }), today]
  const isCustom = range.name === 'custom' || mistake !== undefined
  return html`<div class="segments" role="group" aria-label="Range">
${rollingRanges.map((name) => html`<a href="${addressOf(state, { range: { name } })}"${rangeKeys.get(name) && html` data-key="${rangeKeys.get(name)}"`}${name === range.name && !mistake && html` aria-current="true"`} data-stay>${name}</a>`)}
<details class="menu right-menu"${mistake && html` open`}><summary${isCustom && html` aria-current="true"`} data-key="c">Custom</summary>
<form class="menu-body" method="get" action="${state.path}">
${hiddenFields(state, ['range', 'start', 'end'])}
<input type="hidden" name="range" value="custom">
${mistake && dateMistake(state, mistake)}
<label>First day <input type="date" name="start" value="${mistake?.start ?? String(first)}" max="${String(today)}" required></label>
<label>Last day <input type="date" name="end" value="${mistake?.end ?? String(last)}" required></label>
<button class="button first">Show</button>
</form></details></div>`
}

const dateMistake = (state: DashboardState, { sentence, swapped }: DateMistake): Html =>
  fault(
    html`${sentence}${swapped && html` <a href="${addressOf(state, { range: { name: 'custom', ...swapped } })}">Swap them</a>`}`,
  )
