// Matomo's visits log: what its method Live.getLastVisitsDetails answers as JSON (docs/migrate/matomo.md). A visit has many actions; pages and
// events become events of the same visitor.
import { isUtf8 } from 'node:buffer'
import { LineFault } from '../lines.ts'
import type { FileRecord } from '../records.ts'
import type { Format, LeftOut } from './format.ts'
import { browserCalled, countryCalled, deviceCalled, fieldsOf, systemCalled } from './names.ts'

export const matomo: Format = {
  name: 'matomo',
  isKnownBy: (head) => /^\s*\[?\s*\{/.test(head) && head.includes('"idVisit"'),
  read,
  leavesOutBrokenLines: true,
}

type Json = Readonly<Record<string, unknown>>

async function* read(content: AsyncIterable<Buffer>): AsyncGenerator<FileRecord | LeftOut | LineFault> {
  for await (const { line, bytes } of objectsIn(content)) {
    try {
      if (!isUtf8(bytes)) throw new Error('is not UTF-8')
      yield* recordsOf(line, JSON.parse(bytes.toString()))
    } catch (error) {
      yield new LineFault(line, (error as Error).message)
    }
  }
}

const [quote, backslash, open, close, newline] = [...'"\\{}\n'].map((character) => character.charCodeAt(0))

/** A file of a hundred thousand visits is one list, often in one line. The line is the one where the object begins. */
async function* objectsIn(content: AsyncIterable<Buffer>): AsyncGenerator<{ line: number; bytes: Buffer }> {
  let [line, beganIn, depth] = [1, 1, 0]
  let [isText, isEscaped] = [false, false]
  let pieces: Buffer[] = []
  for await (const chunk of content) {
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (byte === newline) line++
      if (isEscaped) isEscaped = false
      else if (isText) {
        if (byte === backslash) isEscaped = true
        else if (byte === quote) isText = false
      } else if (byte === quote) isText = depth > 0
      else if (byte === open && depth++ === 0) {
        from = at
        beganIn = line
      } else if (byte === close && depth > 0 && --depth === 0) {
        pieces.push(chunk.subarray(from, at + 1))
        yield { line: beganIn, bytes: Buffer.concat(pieces) }
        pieces = []
      }
    }
    if (depth > 0) pieces.push(chunk.subarray(from))
  }
  if (depth > 0) yield { line: beganIn, bytes: Buffer.concat(pieces) }
}

function* recordsOf(line: number, visit: Json): Generator<FileRecord | LeftOut> {
  if (!Array.isArray(visit.actionDetails)) throw new Error('is no visit with actionDetails')
  const common = {
    referrer: text(visit.referrerUrl),
    visitor: text(visit.visitorId) || text(visit.idVisit),
    country: countryCalled(text(visit.countryCode)).replace('XX', ''),
    device: deviceCalled(text(visit.deviceType)),
    browser: browserCalled(text(visit.browserName)),
    os: systemCalled(text(visit.operatingSystemName)),
    ...campaignOf(visit),
  }
  let url = ''
  for (const [part, action] of (visit.actionDetails as Json[]).entries()) {
    const own = fieldsOfAction(action, visit)
    // An order names no page: it happened on the one before.
    url = (own?.isOfPage !== false && text(action.url)) || url
    if (!own || url === '') yield { line, reason: 'actions that are neither a page nor an event' }
    else yield { line, part, fields: fieldsOf({ time: timeOf(action.timestamp), url, ...common, ...own.fields }) }
  }
}

interface Own {
  fields: Record<string, string>
  /** The url of a download or an outbound link is not that of the page. */
  isOfPage?: false
}

/** Outbound links and downloads have the names that the tracker gives them (docs/tracker.md). */
function fieldsOfAction(action: Json, { siteCurrency }: Json): Own | undefined {
  const linked = { isOfPage: false as const, props: JSON.stringify({ url: text(action.url) }) }
  switch (action.type) {
    case 'action':
      return { fields: { title: text(action.pageTitle) } }
    case 'event':
      return { fields: { name: text(action.eventAction), props: propsOfEvent(action) } }
    case 'outlink':
      return { isOfPage: false, fields: { name: 'Outbound Link', props: linked.props } }
    case 'download':
      return { isOfPage: false, fields: { name: 'File Download', props: linked.props } }
    case 'goal':
      return { fields: { name: text(action.goalName), ...revenueOf(action, siteCurrency) } }
    case 'ecommerceOrder':
      return { fields: { name: 'Order', ...revenueOf(action, siteCurrency) } }
    default:
      return undefined
  }
}

const propsOfEvent = ({ eventCategory, eventName, eventValue }: Json): string =>
  JSON.stringify(
    Object.fromEntries(fieldsOf({ category: text(eventCategory), name: text(eventName), value: text(eventValue) })),
  )

function revenueOf({ revenue }: Json, currency: unknown): Record<string, string> {
  const amount = text(revenue)
  return Number(amount) > 0 ? { revenue: amount, currency: text(currency) } : {}
}

/** Without Matomo's plugin for campaigns there are only a name and a keyword. */
const campaignOf = (visit: Json): Record<string, string> =>
  visit.referrerType === 'campaign'
    ? {
        utm_source: text(visit.campaignSource),
        utm_medium: text(visit.campaignMedium),
        utm_campaign: text(visit.campaignName) || text(visit.referrerName),
        utm_content: text(visit.campaignContent),
        utm_term: text(visit.campaignKeyword) || text(visit.referrerKeyword),
      }
    : {}

function timeOf(timestamp: unknown): string {
  const seconds = Number(timestamp)
  return Number.isInteger(seconds) && seconds > 0 && seconds < 1e11 ? new Date(seconds * 1_000).toISOString() : ''
}

/** Numbers come as numbers or as texts. */
const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')
