// What the live page shows of a reading: who is there now, the pageviews of each minute, the last hits, and lists. The same markup is in the
// page and in every message of its stream.
import { clockTime, countText, inFull, shareText } from '../../display/formats.ts'
import { valueText } from '../../display/labels.ts'
import { minutesOfNow } from '../../stats/current-visitors.ts'
import { type LiveReading, type LiveState, minutesShown } from '../../stats/live.ts'
import { type Dimension, dimensionOf } from '../../stats/questions/dimensions.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { bar } from './rows.ts'
import { addressOf, type DashboardState, filtersWith } from './state.ts'

type LocalTime = (iso: string) => Temporal.ZonedDateTime

/** `state`: of the dashboard to which the rows lead. */
export function liveParts({ state: live, site }: LiveReading, state: DashboardState): Html {
  const localTime: LocalTime = (iso) => Temporal.Instant.from(iso).toZonedDateTimeISO(site.timeZone)
  const { visitors, pages, countries, sources, events } = live
  return html`<section class="card live-now" aria-label="Now">
<p class="live-who"><b>${countText(visitors)}</b> <span>${visitors === 1 ? 'visitor' : 'visitors'} now, seen in the last ${minutesOfNow} minutes</span></p>
${minutes(live, localTime)}</section>
<section class="card live-hits" aria-labelledby="hits-title"><div class="panel-head"><h2 id="hits-title">As it happens</h2><button class="button small scripted" type="button" data-pause>Pause</button></div>
${hits(live, localTime)}<p class="live-note">Visits of excluded countries are not shown. Nothing here tells who somebody is.</p></section>
<div class="live-lists">${[
    list('Pages', 'Page', 'Now', pages.map(lineOf('page', 'page', state)), visitors),
    list('Countries', 'Country', 'Now', countries.map(lineOf('country', 'country', state)), visitors),
    list('Sources', 'Source', 'Now', sources.map(lineOf('source', undefined, state)), visitors),
    list(`Events, ${minutesShown} minutes`, 'Event', 'Times', events.map(lineOf('event', 'event', state))),
  ]}</div>`
}

interface Line {
  text: string
  isMissing: boolean
  number: number
  href: string | undefined
}

/** `filter`: the dimension that a click filters by. A source may be one of two. */
const lineOf =
  (name: string, filter: string | undefined, state: DashboardState) =>
  (row: Readonly<Record<string, string | number | null>>): Line => {
    const value = String(row[name] ?? '')
    const filters = filter && value !== '' && filtersWith(state, filter, value)
    return {
      text: textOf(name, value),
      isMissing: value === '',
      number: Number(row.visitors ?? row.times),
      href: filters ? addressOf(state, { range: { name: '24h' }, filters }) : undefined,
    }
  }

function textOf(name: string, value: string): string {
  if (name !== 'source') return valueText(dimensionOf(name) as Dimension, value)
  return value === '' ? 'Direct' : value
}

function list(title: string, heading: string, column: string, lines: readonly Line[], whole?: number): Html {
  const largest = Math.max(0, ...lines.map(({ number }) => number))
  const line = ({ text, isMissing, number, href }: Line) => {
    const label = isMissing ? html`<i class="path">${text}</i>` : html`<span class="path">${text}</span>`
    const content = html`${bar(number, largest)}<span class="label" title="${text}">${label}</span> <span class="value">${countText(number)}</span> <span class="part">${whole !== undefined && shareText(number, whole)}</span>`
    return html`<li>${href ? html`<a class="line" href="${href}">${content}</a>` : html`<div class="line">${content}</div>`}</li>`
  }
  return html`<section class="card panel"><div class="panel-head"><h2>${title}</h2></div>
<p class="heads"><span>${heading}</span><span>${column}</span><span>${whole !== undefined && 'Share'}</span></p>
<ol class="rows">${lines.map(line)}</ol>${lines.length === 0 && html`<p class="nothing">None at the moment.</p>`}</section>`
}

const chartHeight = 76

/** The bright bars are the minutes that count as now. */
function minutes({ minutes }: LiveState, localTime: LocalTime): Html {
  const total = minutes.reduce((sum, { pageviews }) => sum + pageviews, 0)
  const largest = Math.max(1, ...minutes.map(({ pageviews }) => pageviews))
  const step = 100 / minutes.length
  const names = minutes.map(({ time }) => clockTime(localTime(time)))
  const bars = minutes.map(({ pageviews }, index): HtmlValue => {
    const height = Math.round((chartHeight * pageviews) / largest)
    const isNow = index >= minutes.length - minutesOfNow
    return html`<rect${isNow && html` class="is-now"`} x="${(index * step + step * 0.1).toFixed(2)}%" width="${(step * 0.8).toFixed(2)}%" y="${chartHeight - height}" height="${height}" rx="2"><title>${names[index]}: ${inFull(pageviews)}</title></rect>`
  })
  return html`<div class="live-minutes"><p><span>Pageviews by minute</span><span>${inFull(total)} in ${minutesShown} minutes</span></p>
<svg width="100%" height="${chartHeight + 20}" role="img" aria-label="Pageviews of each of the last ${minutesShown} minutes, ${inFull(total)} in all"><line x1="0" x2="100%" y1="${chartHeight}" y2="${chartHeight}"/>${bars}<text x="0" y="${chartHeight + 16}">${names[0]}</text><text class="at-end" x="100%" y="${chartHeight + 16}">now</text></svg></div>
`
}

function hits({ hits }: LiveState, localTime: LocalTime): Html {
  const line = ({ id, time, event, page, country, source }: LiveState['hits'][number]) => {
    const at = localTime(time)
    const [path, from] = [textOf('page', page), textOf('source', source ?? '')]
    const isView = event === 'pageview'
    return html`<li data-key="${id}"><time datetime="${time}">${at.toPlainTime().toString({ smallestUnit: 'second' })}</time> <span class="what" title="${isView ? path : `${event} on ${path}`}">${!isView && html`<b>${event}</b> `}<span>${path}</span></span> <span class="where" title="${textOf('country', country)}">${textOf('country', country)}</span> <span class="where from" title="${from}">${from}</span></li>`
  }
  return html`<ol class="hits">${hits.map(line)}</ol>${hits.length === 0 && html`<p class="nothing">Nothing in the last ${minutesShown} minutes.</p>`}
`
}
