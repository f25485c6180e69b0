// The dashboard of a site, in the console and behind a shared link. The head is sent at once, then the numbers, then each panel in the same
// response as soon as it is ready.

import { counted } from '../../display/formats.ts'
import { forPeople } from '../../display/labels.ts'
import { ApiError } from '../../errors.ts'
import type { RecountedSite } from '../../recounting/rounds.ts'
import { csvType } from '../../stats/csv.ts'
import { readQueryString } from '../../stats/query-string.ts'
import { type CsvRow, csvOf } from '../../stats/questions/csv.ts'
import type { Note } from '../../users/notes.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { chartScript, dashboardScript, dashboardStyles, movingScript } from '../layout/assets.ts'
import { fault, layout, layoutEnd, layoutHead, layoutTop, sitePath } from '../layout/layout.ts'
import { Refusal } from '../refusals.ts'
import { type ConsoleServices, goTo, type Reply, show, showPieces, type Visit } from '../route.ts'
import { type Answer, type Ask, asking, fieldsOfPanel, type Moment, momentOf, type Totals } from './answers.ts'
import { bar } from './bar.ts'
import { askForCard, card } from './card.ts'
import { rowEnd } from './curl.ts'
import { firstDayOf, lateFirstDay } from './first-day.ts'
import { formerNames, isListName, type ListName, lists, panelNames, titleOfList } from './lists.ts'
import { fieldsOfLongList, longList, readLongList } from './long-list.ts'
import { mistakeIn } from './mistakes.ts'
import { note, recountedText } from './note.ts'
import { type Found, listBelow, panel } from './panels.ts'
import { isAllTime, rangeText } from './range-choice.ts'
import { failed } from './refusals.ts'
import { shortcutHelp } from './shortcuts.ts'
import {
  addressOf,
  type DashboardContext,
  type DashboardState,
  defaultState,
  isShown,
  isTyped,
  listOf,
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
  /** Those of some days. Undefined behind a shared link that does not show them. */
  notes?: ((days: { first: string; last: string }) => Promise<readonly Note[]>) | undefined
  /** What to do while the site has no events. Undefined behind a shared link. */
  firstSteps?(): Promise<Html>
  /** How many of its answers were recounted from events. Undefined behind a shared link. */
  recounted?(): Promise<RecountedSite | undefined>
  /** Next to the names of the excluded countries. */
  changeExclusions?: HtmlValue
}

export const showDashboard = (viewing: Viewing): Promise<Reply> =>
  withState(viewing, (state, moment) =>
    isTyped(viewing.url) ? goTo(addressOf(state)) : showPieces((signal) => pieces(viewing, state, moment, signal)),
  )

export const askingOf = (
  { services, queueKey }: Viewing,
  state: DashboardState,
  moment: Moment,
  signal: AbortSignal,
): Ask => asking(services, queueKey, state, moment, signal)

/** A wrong address still shows the page, with what is wrong and how to go on. `knownFirstDay`: of all time. */
export async function withState(
  viewing: Viewing,
  work: (state: DashboardState, moment: Moment) => Promise<Reply> | Reply,
  knownFirstDay?: Temporal.PlainDate,
): Promise<Reply> {
  const { services, queueKey, context, url } = viewing
  const clock = services.now()
  try {
    const firstDay =
      isAllTime(readQueryString(url)) && !knownFirstDay
        ? await firstDayOf(services, queueKey, context, AbortSignal.timeout(5_000))
        : knownFirstDay
    const state = readState(context, url, { clock, firstDay })
    return await work(state, momentOf(state, clock))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return show(wrongAddress(viewing, error), error.status)
  }
}

function wrongAddress(viewing: Viewing, error: ApiError): Html {
  const { context, services, url } = viewing
  const mistake = mistakeIn(context, url, services.now(), error)
  const state = mistake?.state ?? defaultState(context)
  const body = html`<h1 class="unseen">${context.site.domain}</h1>
${bar(state, momentOf(state, services.now()), mistake)}
${!mistake && fault(forPeople(error.message))}
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
${!isShared && html`<script type="module" src="${movingScript.path}"></script>\n`}`,
})

async function* pieces(
  viewing: Viewing,
  state: DashboardState,
  moment: Moment,
  signal: AbortSignal,
): AsyncGenerator<Html> {
  const ask = askingOf(viewing, state, moment, signal)
  const frame = {
    ...frameOf(viewing),
    title: titleOf(state, moment),
    beside: html`<i class="now-room"></i>${viewing.links}`,
  }
  const { publicUrl } = viewing.services
  // No query is waited for before this is sent.
  const top = html`${layoutHead(frame)}${layoutTop(frame)}${!state.more && html`<h1 class="unseen">${state.site.domain}</h1>\n`}${bar(state, moment)}`
  if (state.more) {
    const [asked, list] = [ask.ask<Totals>('totals', []), readLongList(ask, state, state.more)]
    yield top
    const [found, totals] = [await list, await asked]
    yield html`${remarks(totals)}${longList(found, { totals: readValue(totals), moment, publicUrl })}`
    yield html`${await noteOf(viewing, moment)}${shortcutHelp}${layoutEnd}`
    return
  }
  const asked = { ...askAll(state, ask, moment), notes: readNotes(viewing, moment) }
  const lateDay = lateFirstDay(viewing.services, viewing.queueKey, state, moment, signal)
  yield top
  const totals = await asked.totals
  // A single question that takes too long must not hide what the others answer.
  if (isDown(totals) && isDown(await asked.intervals)) {
    yield html`${fault('The statistics cannot be read at the moment. Nothing is lost: visitors are still counted. Reload the page in a few seconds.')}${shortcutHelp}${layoutEnd}`
    return
  }
  if (await isWaiting(viewing, totals, ask)) {
    yield html`${await firstStepsOf(viewing)}${layoutEnd}`
    return
  }
  const firstDay = await lateDay
  yield html`${noVisitors(state, totals)}
${remarks(totals)}`
  yield* card({ ...asked, totals, state, moment, publicUrl, firstDay })
  yield html`<div class="panels">`
  for (const { name, found, below } of asked.panels)
    yield panel(name, await found, await below, { state, totals: readValue(totals), moment, publicUrl })
  yield html`${rowEnd}</div>${nowText(viewing, await asked.currentVisitors)}${await noteOf(viewing, moment)}${shortcutHelp}${layoutEnd}`
}

/** The page is of use without its notes, too. */
export async function readNotes({ notes, context, services }: Viewing, { periods }: Moment): Promise<readonly Note[]> {
  const { firstDay, lastDay } = periods.current
  try {
    return (await notes?.({ first: String(firstDay), last: String(lastDay) })) ?? []
  } catch (error) {
    services.log.error({ site: context.site.domain, err: error }, 'the notes of a dashboard could not be read')
    return []
  }
}

/** The page is of use without it, too. */
async function noteOf({ context, services, changeExclusions, recounted }: Viewing, moment: Moment): Promise<Html> {
  const found = await recounted?.().catch((error) => {
    services.log.error({ site: context.site.domain, err: error }, 'the recounted answers of a site could not be read')
    return undefined
  })
  return note(context, moment, { changeExclusions, recounted: recountedText(found, moment) })
}

const isDown = (answer: Answer<unknown>): boolean => 'fault' in answer && answer.isDown

/** The page has begun by now, so an error can no longer become another page. */
async function firstStepsOf({ services, context, firstSteps }: Viewing): Promise<HtmlValue> {
  try {
    return await firstSteps?.()
  } catch (error) {
    services.log.error({ site: context.site.domain, err: error }, 'the first steps of a site failed')
    return fault('This page cannot be shown at the moment. Reload it in a few seconds.')
  }
}

/** In the order in which the page shows them. */
function askAll(state: DashboardState, ask: Ask, moment: Moment) {
  const find = async (name: ListName): Promise<Found> => {
    const answer = await ask.list(name, fieldsOfPanel(name, state))
    return { name, answer, titles: await ask.titles(name, answer) }
  }
  const currentVisitors = ask.currentVisitors()
  return {
    currentVisitors,
    ...askForCard(state, ask, moment),
    panels: panelNames.map((name) => {
      const list = listOf(state, name)
      const other = listBelow(list, state)
      return { name, found: find(list), below: other && find(other) }
    }),
  }
}

const readValue = <Value>(answer: Answer<Value>): Value | undefined => ('value' in answer ? answer.value : undefined)

/** `Pages · Last 30 days · example.com` */
const titleOf = ({ more, range, site }: DashboardState, { local, periods }: Moment): string =>
  [more && titleOfList(more), rangeText(range, periods.current, local), site.domain].filter(Boolean).join(' · ')

/** Behind a shared link there is no live page. */
export function nowText({ context: { site, isShared } }: Viewing, visitors: Answer<number>): Html | false {
  if ('fault' in visitors) return false
  const { value } = visitors
  const content = html`<i></i>${value} <span class="hide">now</span>`
  const title = `${counted(value, 'visitor')} in the last five minutes`
  return isShared
    ? html`<span class="now" title="${title}">${content}</span>`
    : html`<a class="now" id="now" href="${sitePath(site, '/live')}" title="${title}" data-moving="${sitePath(site, '/now')}">${content}</a>`
}

/** Remarks of the query service, such as numbers that are repeated while the database is down. */
function remarks(totals: Answer<Totals>): Html | false {
  if (!('result' in totals) || !totals.result) return false
  const { staleMs, warnings } = totals.result
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

const isEmpty = (totals: Answer<Totals>): boolean =>
  'value' in totals && totals.value.visitors + (totals.value.previous?.visitors ?? 0) === 0

/** Behind a shared link nobody can add the snippet, nor may anybody learn of visitors that a locked filter hides. */
async function isWaiting({ firstSteps }: Viewing, totals: Answer<Totals>, ask: Ask): Promise<boolean> {
  if (!firstSteps || !isEmpty(totals)) return false
  const hasEvents = await ask.hasEvents()
  return 'value' in hasEvents && !hasEvents.value
}

function noVisitors(state: DashboardState, totals: Answer<Totals>): Html | false {
  if (!isEmpty(totals)) return false
  const isFiltered = state.filters.length > 0
  return html`<p class="notice" id="no-visitors">No visitors in this range${isFiltered && ' with these filters'}. <a href="${addressOf(defaultState(state))}">Show the last 30 days${isFiltered && ' without them'}</a></p>`
}

export async function showCsv(viewing: Viewing, report: string): Promise<Reply> {
  const named = formerNames[report] ?? report
  if (!isListName(named) || !isShown(viewing.context, named)) throw new Refusal('not_found')
  return withState(viewing, async (asked, moment): Promise<Reply> => {
    const ask = askingOf(viewing, asked, moment, new AbortController().signal)
    const { state, answer } = await readLongList(ask, asked, named, true)
    if ('fault' in answer && answer.refusal) {
      const body = html`${bar(state, moment)}${failed(answer, state, moment)}`
      return show(layout({ ...frameOf(viewing), title: state.site.domain, body }), answer.refusal.status)
    }
    if ('fault' in answer) throw new Refusal('failed')
    const question = ask.question('breakdown', [['by', named], ...fieldsOfLongList(state, named, true)])
    const text = csvOf(question, answer.value as CsvRow[])
    return { status: 200, file: { name: fileName(state, named, moment), type: csvType, text } }
  })
}

/** `example.com-pages-2026-10-17-2026-11-15.csv` */
function fileName({ site }: DashboardState, name: ListName, { periods: { current } }: Moment): string {
  return `${site.domain}-${lists[name].plural[1].replace(' ', '-')}-${current.firstDay}-${current.lastDay}.csv`
}
