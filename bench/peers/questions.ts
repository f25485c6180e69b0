// What every side is asked: the nine reports, and lists of a part of the visits. A side answers with numbers by value, so that answers of
// different shapes can be compared.
import type { Period, Periods } from '../../src/calendar/periods.ts'
import type { ReportName } from '../../src/stats/reports.ts'
import { periodsFor, type WindowWord } from '../scale/queries.ts'

/** By value of the list, by day, or under `''` for totals. */
export type Answer = ReadonlyMap<string, Numbers>

export interface Numbers {
  visitors?: number
  pageviews?: number
  sessions?: number
  /** Percent. */
  bounceRate?: number
  /** Seconds. */
  duration?: number
  /** Occurrences of a custom event. */
  count?: number
}

export const peerRanges = ['30d', '12m'] as const
export type PeerRange = (typeof peerRanges)[number]

export interface Question {
  name: QuestionName
  range: PeerRange
  window: WindowWord
}

/** How Footfall is asked: by a report of v1, or by a question of v2. */
export const questions = {
  overview: { report: 'overview' },
  timeseries: { report: 'timeseries' },
  pages: { report: 'pages' },
  referrers: { report: 'referrers' },
  channels: { report: 'channels' },
  devices: { report: 'devices' },
  countries: { report: 'geo' },
  'custom events': { report: 'events' },
  'UTM sources': { report: 'utm' },
  'totals of a page': { kind: 'totals', query: 'filter=page:is:/pricing' },
  'referrers of a page': { kind: 'breakdown', by: 'referrer', query: 'filter=page:is:/pricing' },
  'totals of a referrer': { kind: 'totals', query: 'filter=referrer:is:google.com' },
  'pages of a referrer': { kind: 'breakdown', by: 'page', query: 'filter=referrer:is:google.com' },
  'browsers of a channel': { kind: 'breakdown', by: 'browser', query: 'filter=channel:is:Direct' },
  'countries of a section': { kind: 'breakdown', by: 'country', query: 'filter=page:contains:/blog' },
  'entry pages of a country': { kind: 'breakdown', by: 'entry_page', query: 'filter=country:is:DE' },
} as const satisfies Record<
  string,
  { report: ReportName } | { kind: 'totals'; query: string } | { kind: 'breakdown'; by: string; query: string }
>

export type QuestionName = keyof typeof questions
export const questionNames = Object.keys(questions) as QuestionName[]
export const isReport = (name: QuestionName): boolean => 'report' in questions[name]

export const titleOf = ({ name, range, window }: Question): string =>
  `${name}, ${range}, ${window === 'today' ? 'with today' : 'until yesterday'}`

export const periodsOfQuestion = ({ range, window }: Question, now: Temporal.ZonedDateTime): Periods =>
  periodsFor(range, window, now)

/** Seconds since 1970: both ends belong to it. */
export const secondsOf = ({ start, end }: Period): { first: number; last: number } => ({
  first: Math.floor(start.epochMilliseconds / 1000),
  last: Math.ceil(end.epochMilliseconds / 1000) - 1,
})

/** Rows of every list. */
export const rowsOfList = 10
