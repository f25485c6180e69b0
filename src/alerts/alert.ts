// The five kinds of alerts, and the sentence of each. "Usual" is the median of the same hours of the last four weeks (usual.ts).
import { lineOf, maxGoalLength } from '../accounts/goal-rules.ts'
import { InvalidSetting } from '../accounts/site-rules.ts'
import { counted, inFull } from '../display/formats.ts'
import { pageview } from '../traffic/event.ts'

export type Condition =
  /** More than so many visitors in an hour. */
  | { kind: 'many'; threshold: number }
  /** So many times the usual visitors of the hour. */
  | { kind: 'rise'; threshold: number; minUsual: number }
  /** Less than so many percent of the usual visitors of the hour. */
  | { kind: 'drop'; threshold: number; minUsual: number }
  /** No event for so many hours. `minUsual`: visitors in such hours. */
  | { kind: 'silence'; threshold: number; minUsual: number }
  /** The event has not happened for so many hours. `minUsual`: how often it happens in such hours. */
  | { kind: 'missing'; threshold: number; minUsual: number; event: string }

export type Kind = Condition['kind']

interface KindOfAlert {
  /** How forms name it. */
  name: string
  threshold: { name: string; min: number; max: number; default: number }
  minUsual?: { name: string; default: number }
}

/** The longest time that an event may be waited for. */
const maxHours = 72

/**
 * The defaults keep small sites quiet. If visitors come independently of each other, an hour that expects 50 of them has less than 15 once in 500 million
 * hours, and hours that expect 20 have none as rarely.
 */
export const kinds: Readonly<Record<Kind, KindOfAlert>> = {
  many: {
    name: 'More visitors than a number in an hour',
    threshold: { name: 'visitors', min: 1, max: 100_000_000, default: 500 },
  },
  rise: {
    name: 'A multiple of the usual visitors',
    threshold: { name: 'times', min: 2, max: 100, default: 3 },
    minUsual: { name: 'usual visitors in an hour', default: 20 },
  },
  drop: {
    name: 'Less than a share of the usual visitors',
    threshold: { name: 'percent', min: 1, max: 90, default: 30 },
    minUsual: { name: 'usual visitors in an hour', default: 50 },
  },
  silence: {
    name: 'No event for some hours',
    threshold: { name: 'hours', min: 1, max: maxHours, default: 3 },
    minUsual: { name: 'usual visitors in these hours', default: 20 },
  },
  missing: {
    name: 'An event has not happened for some hours',
    threshold: { name: 'hours', min: 1, max: maxHours, default: 24 },
    minUsual: { name: 'usual events in these hours', default: 10 },
  },
}

export const allKinds = Object.keys(kinds) as Kind[]

const maxMinUsual = 1_000_000

/** What somebody entered. Numbers are texts. */
export interface EnteredCondition {
  kind: string
  threshold: string
  minUsual: string
  event: string
}

export function conditionOf({ kind: name, threshold, minUsual, event }: EnteredCondition): Condition {
  const kind = allKinds.find((one) => one === name)
  if (!kind) throw new InvalidSetting('The kind of the alert is missing.', 'Choose one of the list.')
  const rules = kinds[kind]
  const number = wholeOf(threshold, rules.threshold)
  if (!rules.minUsual) return { kind: 'many', threshold: number }
  const common = {
    threshold: number,
    minUsual: wholeOf(minUsual, { name: rules.minUsual.name, min: 1, max: maxMinUsual }),
  }
  return kind === 'missing' ? { kind, ...common, event: eventOf(event) } : ({ kind, ...common } as Condition)
}

function wholeOf(text: string, { name, min, max }: { name: string; min: number; max: number }): number {
  const number = /^\s*\d{1,9}\s*$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= min && number <= max))
    throw new InvalidSetting(
      `The number of ${name} must be a whole number from ${inFull(min)} to ${inFull(max)}.`,
      'Change it and save again.',
    )
  return number
}

function eventOf(text: string): string {
  const advice = 'Enter it as your pages send it, such as Signup.'
  const event = lineOf(text, { what: 'The name of the event', max: maxGoalLength.event, advice })
  if (event === pageview)
    throw new InvalidSetting('Pageviews are no custom events.', 'Choose “No event for some hours”.')
  return event
}

/** `More than 500 visitors in an hour` */
export function sentenceOf(condition: Condition): string {
  const { kind, threshold } = condition
  switch (kind) {
    case 'many':
      return `More than ${counted(threshold, 'visitor')} in an hour`
    case 'rise':
      return `More than ${threshold} times the visitors of the same hour in the last four weeks, if these are at least ${inFull(condition.minUsual)}`
    case 'drop':
      return `Less than ${threshold} % of the visitors of the same hour in the last four weeks, if these are at least ${inFull(condition.minUsual)}`
    case 'silence':
      return `No event for ${counted(threshold, 'hour')}, if there are usually at least ${counted(condition.minUsual, 'visitor')}`
    case 'missing':
      return `No ${condition.event} for ${counted(threshold, 'hour')}, if there are usually at least ${inFull(condition.minUsual)}`
  }
}

export const mailTargets = ['owners', 'members', 'nobody'] as const
export type MailTarget = (typeof mailTargets)[number]

/** Hours of the site's clock; from 22 until 7 goes over midnight. */
export interface QuietHours {
  from: number
  until: number
}

export const isQuiet = (quiet: QuietHours | undefined, hour: number): boolean => {
  if (!quiet) return false
  const { from, until } = quiet
  return from < until ? hour >= from && hour < until : hour >= from || hour < until
}

/** What people decide about an alert. */
export interface AlertSettings {
  condition: Condition
  mailTo: MailTarget
  toWebhooks: boolean
  quiet: QuietHours | undefined
}

/** `More than 500 visitors in an hour; mail to owners; quiet from 22:00 to 7:00`, for the audit log. */
export const settingsText = ({ condition, mailTo, toWebhooks, quiet }: AlertSettings): string =>
  [
    sentenceOf(condition),
    `mail to ${mailTo}`,
    toWebhooks && 'webhooks',
    quiet && `quiet from ${quiet.from}:00 to ${quiet.until}:00`,
  ]
    .filter(Boolean)
    .join('; ')
