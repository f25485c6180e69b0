// The two mails of an alert: it began, and it is over.
import { clockTime, counted, dayAndMonth, inFull } from '../display/formats.ts'
import { hourMs } from '../durations.ts'
import { button, link, page, paragraph, part, title } from '../mail/layout.ts'
import { type Letter, subjectOf, visibleLine } from '../mail/letter.ts'
import { html } from '../web/html.ts'
import { sentenceOf } from './alert.ts'
import type { WatchedAlert } from './alerts.ts'
import type { Numbers } from './judging.ts'

export interface Told {
  alert: WatchedAlert
  change: 'began' | 'over'
  /** When Footfall found it. */
  at: Date
  beganAt: Date
  numbers: Numbers
}

export function alertLetter(publicUrl: string, told: Told): Letter {
  const { alert, change } = told
  const heading = headingOf(told)
  const sentences = [
    `The alert: ${visibleLine(sentenceOf(alert.condition), 300)}.`,
    numbersOf(told),
    whenOf(told),
  ].filter(Boolean)
  const dashboard = { name: 'Open the dashboard', href: dashboardUrl(publicUrl, told) }
  const settings = `${publicUrl}/sites/${alert.domain}/settings/alerts`
  const why = `You get this mail because ${alert.mailTo === 'owners' ? 'you own the account of' : 'you are a member of the account of'} ${alert.domain}.`
  const subject = subjectOf(heading)
  return {
    subject,
    text: `${[heading, ...sentences, `${dashboard.name}:\n${dashboard.href}`, `-- \n${why} Change the alert:\n${settings}`].join('\n\n')}\n`,
    html: page(subject, {
      preview: sentences[1] ?? heading,
      kind: change === 'began' ? 'Alert' : 'Alert is over',
      parts: [
        part(20, title(heading), 12),
        part(0, sentences.map(paragraph), 6),
        part(2, button(dashboard.name, dashboard.href), 26),
      ],
      footer: html`${why} ${link('Change the alert', settings)}`,
    }),
  }
}

/** With the day of the hour that decided. */
export function dashboardUrl(publicUrl: string, { alert, at, numbers }: Told): string {
  const day = localTime(alert, numbers.hour ?? numbers.since ?? at.getTime()).toPlainDate()
  return `${publicUrl}/sites/${alert.domain}?range=custom&start=${day}&end=${day}`
}

function headingOf({ alert: { condition, domain }, change, numbers: { visitors = 0, usual = 0 } }: Told): string {
  const { kind, threshold } = condition
  const name = condition.kind === 'missing' ? visibleLine(condition.event, 60) : 'event'
  if (change === 'over') {
    if (kind === 'silence' || kind === 'missing')
      return `${domain}: ${name === 'event' ? 'events come' : `${name} comes`} again`
    return `${domain}: ${kind === 'drop' ? 'as many visitors as usual' : 'the rise is over'}`
  }
  switch (kind) {
    case 'many':
      return `${domain}: ${counted(visitors, 'visitor')} in an hour`
    case 'rise':
      return `${domain}: ${counted(visitors, 'visitor')} in an hour, usually ${inFull(usual)}`
    case 'drop':
      return `${domain}: only ${counted(visitors, 'visitor')} in an hour, usually ${inFull(usual)}`
    case 'silence':
    case 'missing':
      return `${domain}: no ${name} for ${counted(threshold, 'hour')}`
  }
}

function numbersOf({ alert, change, at, numbers: { hour, visitors = 0, usual, since } }: Told): string {
  const { condition } = alert
  if (hour !== undefined) {
    const isWhole = hour + hourMs <= at.getTime()
    const span = isWhole
      ? `From ${clockOf(alert, hour)} to ${clockOf(alert, hour + hourMs)}`
      : `Since ${clockOf(alert, hour)}`
    const usually = usual === undefined ? '' : ` In the last four weeks, the same hour usually had ${inFull(usual)}.`
    return `${span}, ${alert.domain} had ${counted(visitors, 'visitor')}.${usually}`
  }
  if (since === undefined) return ''
  const name = condition.kind === 'missing' ? visibleLine(condition.event, 120) : undefined
  if (change === 'over') return `${name ?? 'An event'} came at ${momentOf(alert, since)}.`
  const usually =
    usual === undefined
      ? ''
      : ` In the last four weeks, these hours usually had ${counted(usual, condition.kind === 'missing' ? 'event' : 'visitor')}.`
  return `${name ? `${name} has not` : 'No event has'} come since ${momentOf(alert, since)}.${usually}`
}

const whenOf = ({ alert, change, at, beganAt }: Told): string =>
  change === 'began'
    ? `It began at ${momentOf(alert, beganAt.getTime())}.`
    : `It began at ${momentOf(alert, beganAt.getTime())}, and was over at ${momentOf(alert, at.getTime())}.`

const localTime = ({ zone }: Pick<WatchedAlert, 'zone'>, instant: number): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone)

const clockOf = (alert: WatchedAlert, instant: number): string => clockTime(localTime(alert, instant))

/** `14:02 on 19 Nov (Europe/Berlin)` */
function momentOf(alert: WatchedAlert, instant: number): string {
  const time = localTime(alert, instant)
  return `${clockTime(time)} on ${dayAndMonth(time.toPlainDate())} (${alert.zone})`
}
