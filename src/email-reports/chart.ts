// Visitors by day as a chart made of cells.
import { counted, countText, dayAndMonth, inFull, longDay, weekdayOf } from '../display/formats.ts'
import { block, colours, font, fullWidth, placed, soft, strong } from '../mail/layout.ts'
import { type Html, html } from '../web/html.ts'
import type { Day } from './numbers.ts'

const maxHeightPx = 96
const centred = html` align="center"`

const heightPx = (visitors: number, most: number): number =>
  visitors === 0 ? 0 : Math.max(1, Math.round((maxHeightPx * visitors) / most))

/** Two bars for each day: the week before at the left, this one at the right. */
export function weekChart(days: readonly Day[]): Html {
  const most = Math.max(1, ...days.flatMap(({ visitors, before = 0 }) => [visitors, before]))
  return chart(
    days,
    html`<tr>${days.map(
      ({ visitors }) =>
        html`<td class="t" align="center" style="${font(11, 16)};${strong};padding-bottom:4px">${countText(visitors)}</td>`,
    )}</tr><tr>${days.map(({ visitors, before = 0 }) =>
      column(
        placed(
          centred,
          html`<tr>${weekBar('was', colours.before, heightPx(before, most))}${weekBar('is', colours.accent, heightPx(visitors, most))}</tr>`,
        ),
      ),
    )}</tr><tr>${days.map(
      ({ date }) =>
        html`<td class="s" align="center" style="${font(11.5, 16)};${soft};padding-top:5px">${weekdayOf(date)}<br>${date.day}</td>`,
    )}</tr>`,
  )
}

/** Screen readers say its numbers instead of its cells. */
const chart = (days: readonly Day[], rows: Html): Html =>
  html`<table role="img" aria-label="Visitors by day. ${days.map(said).join(', ')}" cellpadding="0" cellspacing="0" border="0" width="100%" style="table-layout:fixed">${rows}</table>`

/** `Mon 9 November: 1,117 (before: 1,071)` */
const said = ({ date, visitors, before }: Day): string =>
  `${longDay(date, date.year)}: ${inFull(visitors)}${before === undefined ? '' : ` (before: ${inFull(before)})`}`

/** All days stand on one axis. */
const column = (bars: Html, attributes = html``, style = ''): Html =>
  html`<td class="axis" align="center" valign="bottom" height="100"${attributes} style="${style}height:100px;border-bottom:1px solid ${colours.axis}">${bars}</td>`

const weekBar = (name: string, colour: string, height: number): Html =>
  html`<td valign="bottom" style="padding:0 1px">${
    height === 0
      ? html`<div style="width:15px"></div>`
      : placed(
          html` width="15"`,
          html`<tr>${block(name, colour, `height:${height}px;width:15px;border-radius:3px 3px 0 0`, html` height="${height}"`)}</tr>`,
        )
  }</td>`

/** One bar for each day, as wide as there is room: 8 px on a phone. */
export function monthChart(days: readonly Day[]): Html {
  const most = Math.max(1, ...days.map(({ visitors }) => visitors))
  return chart(
    days,
    html`<tr>${days.map(({ date, visitors }) => {
      const height = heightPx(visitors, most)
      return column(
        html`${
          height > 0 &&
          placed(
            fullWidth,
            html`<tr>${block('is', colours.accent, `height:${height}px;border-radius:2px 2px 0 0`, html` height="${height}"`)}</tr>`,
          )
        }`,
        html` title="${dayAndMonth(date)}: ${counted(visitors, 'visitor')}"`,
        'padding:0 1px;',
      )
    })}</tr><tr>${weeksOf(days).map(
      ({ from, length }) =>
        html`<td class="s" align="left" colspan="${length}" style="${font(11.5, 16)};${soft};padding:5px 0 0 1px">${from.day === 1 ? dayAndMonth(from) : from.day}</td>`,
    )}</tr>`,
  )
}

/** Every seventh day has its date below it. */
const weeksOf = (days: readonly Day[]) =>
  days
    .filter((_, index) => index % 7 === 0)
    .map(({ date }, week) => ({ from: date, length: Math.min(7, days.length - week * 7) }))

/** `The most on a day: 1,188 visitors, Wed 11 November.` */
export function busiest(days: readonly Day[]): string {
  const [best] = days.toSorted((one, other) => other.visitors - one.visitors)
  return best ? `The most on a day: ${inFull(best.visitors)}, ${longDay(best.date, best.date.year)}.` : ''
}
