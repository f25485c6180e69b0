// Notes of the days that the chart shows: a mark over each point that has some, and the list of them below it (decision D-242).

import { counted, shortDay } from '../../display/formats.ts'
import type { Note } from '../../users/notes.ts'
import { type Html, type HtmlValue, html } from '../../web/html.ts'
import { sitePath } from '../layout/layout.ts'
import type { Moment } from './answers.ts'
import type { Point } from './series.ts'
import { type DashboardState, fieldsOf, queryOf } from './state.ts'

export interface Mark {
  /** Of its point. */
  index: number
  notes: readonly Note[]
}

/** Of a day that is drawn by the hour, its first hour has the mark. */
export function marksOf(points: readonly Point[], notes: readonly Note[]): Mark[] {
  const indexOf = ({ day }: Note) =>
    points.findIndex(({ slot }) => String(slot.first) <= day && day <= String(slot.last))
  return [...Map.groupBy(notes, indexOf)]
    .filter(([index]) => index >= 0)
    .map(([index, all]) => ({ index, notes: all }))
    .toSorted((one, other) => one.index - other.index)
}

export const marksText = (notes: readonly Note[]): string => notes.map(({ text }) => text).join(' · ')

/** Of the narrowest plot that is wide, and of a letter (display/scale.ts). */
const plotPx = 595
const letterPx = 7
/** The flag itself. */
const flagPx = 18
const minLetters = 8

/** Flags with dashed lines, and what they say as far as there is room. The list and the tooltip have every note whole. */
export function flags(marks: readonly Mark[], x: (index: number) => number, bottom: number): Html {
  return html`<g class="notes-marks" aria-hidden="true">${marks.map(({ index, notes }, nth) => {
    const left = x(index)
    const next = marks[nth + 1]
    const isAtEnd = left > 70 && !next
    const room = isAtEnd
      ? left - (marks[nth - 1] ? x((marks[nth - 1] as Mark).index) : 0)
      : (next ? x(next.index) : 100) - left
    const label = labelOf(notes, Math.floor(((room * plotPx) / 100 - flagPx) / letterPx))
    const at = `${Math.round(left * 100) / 100}%`
    return html`<svg class="flag${isAtEnd && ' at-end'}" x="${at}" y="0" overflow="visible"><path class="pole" d="M0 2V${bottom}"/><path class="cloth" d="M0 2h10l-2.5 4 2.5 4H0z"/>${label && html`<text class="only-wide" x="${isAtEnd ? -6 : 15}" y="10">${label}</text>`}</svg>`
  })}</g>`
}

function labelOf(notes: readonly Note[], letters: number): string | undefined {
  const text = notes.length === 1 ? (notes[0] as Note).text : counted(notes.length, 'note')
  if (text.length <= letters) return text
  return letters < minLetters ? undefined : `${text.slice(0, letters - 1).trimEnd()}…`
}

export const notesInLegend = (notes: readonly Note[]): HtmlValue =>
  notes.length > 0 && html`<a href="#notes">${flagIcon}${counted(notes.length, 'note')}</a>`

const flagIcon = html`<svg class="flag" width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><path class="pole" d="M1.5 1v10.5"/><path class="cloth" d="M1.5 1.5h9l-2.5 3 2.5 3h-9z"/></svg>`

/** More would push the panels down. */
const maxShown = 6

/** The latest first, because these are looked for. */
export function noteList(state: DashboardState, notes: readonly Note[], { local }: Moment): HtmlValue {
  if (notes.length === 0) return false
  const latest = notes.toReversed()
  const items = (some: readonly Note[]) => html`<ul>${some.map((note) => item(state, note, local.year))}</ul>`
  const [shown, rest] = [latest.slice(0, maxShown), latest.slice(maxShown)]
  return html`<section class="chart-notes" id="notes" aria-labelledby="notes-title"><h2 class="unseen" id="notes-title">Notes</h2>
${items(shown)}${rest.length > 0 && html`<details class="numbers"><summary>${counted(rest.length, 'more note', 'more notes')}</summary>${items(rest)}</details>`}</section>`
}

const item = (state: DashboardState, { id, day, text, cause }: Note, thisYear: number): Html =>
  html`<li${cause && html` class="own"`}>${flagIcon}<time datetime="${day}">${shortDay(Temporal.PlainDate.from(day), thisYear)}</time><span>${text}${state.isOwner && html` <a href="${notePath(state, '/change', [['note', id]])}" aria-label="Change the note ${text}">Change</a>`}</span></li>`

/** The form of a note on a day. Only for owners. */
export const addressOfNewNote = (state: DashboardState, day: Temporal.PlainDate): string =>
  notePath(state, '/new', [['day', String(day)]])

/** The form leads back to the dashboard as it is now. */
function notePath(state: DashboardState, form: string, fields: [string, string][]): string {
  const back = queryOf(fieldsOf(state))
  return `${sitePath(state.site, `/settings/notes${form}`)}?${new URLSearchParams([...fields, ['back', back]])}`
}
