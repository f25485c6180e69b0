// The dashboard of a site, in the console and behind a shared link. The head is sent at once, then the numbers, then each panel in the same
// response as soon as it is ready.

import { counted } from '../../display/formats.ts'
import { ApiError } from '../../errors.ts'
import { csvOf, csvType, type ListRow } from '../../stats/csv.ts'
import { compareDays, type Day } from '../../stats/previous-days.ts'
import type { Overview } from '../../stats/reports/overview.ts'
import { countryNames } from '../../traffic/country.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { chartScript, dashboardScript, dashboardStyles } from '../layout/assets.ts'
import { fault, layout, layoutEnd, layoutHead, layoutTop } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { type ConsoleServices, type Reply, show, showPieces, type Visit } from '../route.ts'
import {
  type Answer,
  type Ask,
  askAll,
  asking,
  type DashboardAnswers,
  type Moment,
  momentOf,
  shownLists,
} from './answers.ts'
import { chart } from './chart.ts'
import { rowEnd } from './curl.ts'
import { mistakeInDates } from './date-mistakes.ts'
import { filterBar } from './filters.ts'
import { lists } from './lists.ts'
import { glossary, numbers } from './numbers.ts'
import { longList, panel } from './panels.ts'
import { rangeText } from './range-text.ts'
import { type Series, seriesOfDays, seriesOfHours } from './series.ts'
import { shortcutHelp } from './shortcuts.ts'
import {
  addressOf,
  type DashboardContext,
  type DashboardState,
  defaultState,
  isListReport,
  type ListReport,
  longLimit,
  readState,
} from './state.ts'

/** A request for a dashboard. */
export interface Viewing {
  services: ConsoleServices
  context: DashboardContext
  /** Path and query as they were sent. */
  url: string
  /** Its queries take turns in the fair queue under this key. */
  queueKey: string
  /** Who is signed in. Undefined behind a shared link. */
  visit?: Visit
  /** At the right of the header. */
  links?: HtmlValue
  /** What to do while the site has no events. Undefined behind a shared link. */
  firstSteps?(): Promise<Html>
  /** Next to the names of the excluded countries. */
  changeExclusions?: HtmlValue
}

export const showDashboard = (viewing: Viewing): Reply =>
  withState(viewing, (state, moment) =>
    showPieces((signal) => pieces(viewing, state, moment, askingOf(viewing, state, moment, signal))),
  )

const askingOf = ({ services, queueKey }: Viewing, state: DashboardState, moment: Moment, signal: AbortSignal): Ask =>
  asking(services, queueKey, state, moment, signal)

/** A wrong address still shows the page, with what is wrong and how to go on. */
function withState<Answered>(
  viewing: Viewing,
  work: (state: DashboardState, moment: Moment) => Answered,
): Answered | Reply {
  try {
    const state = readState(viewing.context, viewing.url)
    return work(state, momentOf(state, viewing.services.now()))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return show(wrongAddress(viewing, error), error.status)
  }
}

function wrongAddress(viewing: Viewing, error: ApiError): Html {
  const { context, services, url } = viewing
  const dates = error.code === 'invalid_date' ? mistakeInDates(context, url) : undefined
  const state = dates?.state ?? defaultState(context)
  const body = html`<h1 class="unseen">${context.site.domain}</h1>
${filterBar(state, momentOf(state, services.now()), dates?.mistake)}
${!dates && fault(error.message)}
<a class="button" href="${addressOf(state)}">Show the last 30 days</a>`
  return layout({ ...frameOf(viewing), title: context.site.domain, body })
}

const frameOf = ({ context: { site, isShared, theme }, visit }: Viewing) => ({
  visit,
  ...(isShared && { theme }),
  site,
  isShared,
  // Otherwise a browser may show half of the bar, and move it when the rest arrives.
  head: html`<link rel="expect" href="#bar" blocking="render">
<link rel="stylesheet" href="${dashboardStyles.path}">
<script type="module" src="${dashboardScript.path}"></script>
<script type="module" src="${chartScript.path}"></script>
`,
})

async function* pieces(viewing: Viewing, state: DashboardState, moment: Moment, ask: Ask): AsyncGenerator<Html> {
  const frame = {
    ...frameOf(viewing),
    title: titleOf(state, moment),
    beside: html`<i class="now-room"></i>${viewing.links}`,
  }
  const { publicUrl } = viewing.services
  // No query is waited for before this is sent.
  const top = html`${layoutHead(frame)}${layoutTop(frame)}${!state.more && html`<h1 class="unseen">${state.site.domain}</h1>\n`}${filterBar(state, moment)}`
  if (state.more) {
    const [overview, list] = [
      ask.read<Overview>('overview', state.parameters),
      ask.read<ListRow[]>(state.more, { ...state.parameters, limit: longLimit }),
    ]
    yield top
    yield longList(state.more, await list, { state, totals: totalsOf(await overview), publicUrl })
    yield html`${note(viewing, moment)}${shortcutHelp}${layoutEnd}`
    return
  }
  const answers = askAll(state, ask, moment)
  yield top
  const overview = await answers.overview
  if ('fault' in overview && overview.isDown) {
    yield html`${fault('The statistics cannot be read at the moment. Nothing is lost: visitors are still counted. Reload the page in a few seconds.')}${shortcutHelp}${layoutEnd}`
    return
  }
  if (await isWaiting(viewing, overview, ask)) {
    yield html`${await viewing.firstSteps?.()}${layoutEnd}`
    return
  }
  yield html`${noVisitors(state, overview)}
${remarks(overview)}
<section class="card" aria-label="Numbers and chart">${numbers(state, overview)}`
  yield html`${chart(state, await series(state, answers, moment), moment, publicUrl)}</section>
<div class="panels">`
  for (const report of shownLists(state)) {
    const answer = (await answers.lists.get(report)) as Answer<ListRow[]>
    yield panel(report, answer, { state, totals: totalsOf(overview), publicUrl })
  }
  yield html`${rowEnd}</div>${nowText(await answers.currentVisitors)}${note(viewing, moment)}${glossary}${shortcutHelp}${layoutEnd}`
}

/** `Pages · Last 30 days · example.com` */
const titleOf = (state: DashboardState, { local, periods }: Moment): string =>
  [state.more && lists[state.more].title, rangeText(state.parameters.range, periods.current, local), state.site.domain]
    .filter(Boolean)
    .join(' · ')

const totalsOf = (overview: Answer<Overview>) => ('value' in overview ? overview.value.current : undefined)

async function series(state: DashboardState, answers: DashboardAnswers, moment: Moment): Promise<Answer<Series>> {
  const [days, hours] = [await answers.days, await answers.hours]
  const [previousDays, previousHours] = [await answers.previousDays, await answers.previousHours]
  const valueIn = <Value>(answer: Answer<Value> | undefined) => (answer && 'value' in answer ? answer.value : undefined)
  if (hours)
    return 'fault' in hours
      ? hours
      : { value: seriesOfHours(state.metric, hours.value, valueIn(previousHours), moment) }
  const all = days as Answer<Day[]>
  if ('fault' in all) return all
  const overview = await answers.overview
  const compared =
    'value' in overview
      ? compareDays(
          all.value,
          valueIn(previousDays) ?? [],
          { numbers: overview.value.previous, period: overview.result?.previousPeriod ?? '' },
          state.parameters.range.name,
        )
      : all.value.map((day) => ({ ...day, previous: [] }))
  return { value: seriesOfDays(state.metric, compared, moment) }
}

const nowText = (visitors: Answer<number>): Html | false =>
  'value' in visitors &&
  html`<span class="now" title="${counted(visitors.value, 'visitor')} in the last five minutes"><i></i>${visitors.value} <span class="hide">now</span></span>`

/** Remarks of the query service, such as numbers that are repeated while the database is down. */
function remarks(overview: Answer<Overview>): Html | false {
  if (!('result' in overview) || !overview.result) return false
  const { staleMs, warnings } = overview.result
  const all = [
    ...(staleMs === undefined
      ? []
      : [
          `The statistics cannot be read now. These are the last known numbers, ${Math.round(staleMs / 1000)} seconds old.`,
        ]),
    ...warnings.map((text) => `${text[0]?.toUpperCase()}${text.slice(1)}.`),
  ]
  return all.length > 0 && html`<p class="warning" role="status">${all.join(' ')}</p>`
}

const isEmpty = (overview: Answer<Overview>): boolean =>
  'value' in overview && overview.value.current.visitors + overview.value.previous.visitors === 0

/** Behind a shared link nobody can add the snippet, nor may anybody learn of visitors that a locked filter hides. */
async function isWaiting({ firstSteps }: Viewing, overview: Answer<Overview>, ask: Ask): Promise<boolean> {
  if (!firstSteps || !isEmpty(overview)) return false
  const hasEvents = await ask.hasEvents()
  return 'value' in hasEvents && !hasEvents.value
}

function noVisitors(state: DashboardState, overview: Answer<Overview>): Html | false {
  if (!isEmpty(overview)) return false
  const isFiltered = Object.keys(state.parameters.filters).some((name) => !(name in state.locked))
  return html`<p class="notice">No visitors in this range${isFiltered && ' with these filters'}. <a href="${addressOf(defaultState(state))}">Show the last 30 days${isFiltered && ' without them'}</a></p>`
}

const sentence = new Intl.ListFormat('en-GB')

function note({ context: { site }, changeExclusions }: Viewing, { local }: Moment): Html {
  const names = site.excludedCountries.map((code) => countryNames[code])
  return html`<p class="note">${names.length > 0 && html`Without ${sentence.format(names)}${changeExclusions}. `}Days are counted in ${site.timeZone}. The five numbers and all lists are what the API answers, as of ${local.toPlainTime().toString({ smallestUnit: 'second' })}.</p>
<div class="tools"><button class="quiet" type="button" data-copy-link hidden>Copy link</button><button class="quiet" type="button" data-help hidden>Shortcuts</button></div>`
}

export async function showCsv(viewing: Viewing, report: string): Promise<Reply> {
  if (!isListReport(report)) throw new Refusal('not_found')
  return withState(viewing, async (state, moment): Promise<Reply> => {
    const ask = askingOf(viewing, state, moment, new AbortController().signal)
    const answer = await ask.read<ListRow[]>(report, state.parameters)
    if ('fault' in answer) throw new Refusal('failed')
    return {
      status: 200,
      file: { name: fileName(state, report, moment), type: csvType, text: csvOf(report, answer.value) },
    }
  })
}

/** `example.com-pages-2026-10-17-2026-11-15.csv` */
function fileName({ site }: DashboardState, report: ListReport, { periods: { current } }: Moment): string {
  return `${site.domain}-${report}-${current.firstDay}-${current.lastDay}.csv`
}
