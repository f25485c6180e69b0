// The parts of a report's HTML that the letters about one site and about all sites share.
import { inFull } from '../display/formats.ts'
import { colours, font, link, part, soft, softLine, strong, title } from '../mail/layout.ts'
import { type Html, type HtmlValue, html } from '../web/html.ts'
import type { ReportOrder } from './order.ts'
import { comparison, lateness, longName, type ReportDays, rhythm } from './period.ts'
import { promise } from './sentences.ts'

export interface Change {
  percent: number | null
  isGood: boolean
}

export function changeMark({ percent, isGood }: Change): Html {
  if (percent === null) return html`–`
  if (percent === 0) return html`0%`
  return html`<span class="${isGood ? 'up' : 'dn'}" style="color:${isGood ? colours.accent : colours.worse}">${percent > 0 ? '▲' : '▼'} ${inFull(Math.abs(percent))}%</span>`
}

export const head = (name: string, days: ReportDays, order: ReportOrder, only?: string): Html => {
  const late = lateness(order)
  return part(
    20,
    html`${title(name)}${softLine(html`${longName(days)}, ${comparison(days)}`)}${only && html`<div style="padding-top:6px">${softLine(only, 13)}</div>`}${late && html`<div style="padding-top:6px">${softLine(late, 13)}</div>`}`,
  )
}

/** The number of visitors in large digits. */
export const headline = (visitors: number, change: Change, before: number, where = ''): Html =>
  part(
    18,
    html`<span class="t" style="${font(40, 44, 680)};letter-spacing:-1.2px;${strong}">${inFull(visitors)}</span> <span class="s" style="${font(14, 20)};${soft}">${visitors === 1 ? 'visitor' : 'visitors'}${where}${change.percent !== null && html`&ensp;<span style="white-space:nowrap">${changeMark(change)}&ensp;from ${inFull(before)}</span>`}</span>`,
  )

/** A table of numbers. Its cells inherit font and colour, because 35 sites have 140 of them. */
export const numberTable = (heads: readonly string[], rows: HtmlValue): Html =>
  html`<table class="t" cellpadding="0" cellspacing="0" border="0" width="100%" style="${font(14, 20)};${strong}"><tr>${heads.map(
    (name, column) =>
      html`<th class="s" align="${column === 0 ? 'left' : 'right'}" nowrap style="${font(12, 18, 400)};${soft};padding:0 0 4px${column > 0 && ' 10px'}">${name}</th>`,
  )}</tr>${rows}</table>`

export const nameCell = (content: HtmlValue): Html =>
  html`<td class="l" style="${line};padding:8px 0;word-break:break-word">${content}</td>`

export const numberCell = (content: HtmlValue): Html =>
  html`<td class="l" align="right" nowrap style="${line};padding:8px 0 8px 10px">${content}</td>`

export const softCell = (content: HtmlValue): Html =>
  html`<td class="s l" align="right" nowrap style="${line};padding:8px 0 8px 10px;${soft}">${content}</td>`

const line = `border-top:1px solid ${colours.line}`

/** Why the recipient gets this mail, and how to get no more. */
export const subscription = (order: ReportOrder): Html =>
  html`You asked for this mail ${rhythm(order)}. ${link('Change it', order.changeUrl)} or ${link('unsubscribe with one click', order.unsubscribeUrl)}. ${promise}`
