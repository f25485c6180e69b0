// POST /api/event, with the field names that other trackers use too. On bare node:http, because every visit of every site passes here.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Sender } from '../../enrichment/visitor.ts'
import type { ClientAddress } from '../../process/client-address.ts'
import { type DropReason, dropMessages } from '../../traffic/drop-reasons.ts'
import { eventFields, type Sources, takeIn } from '../intake/intake.ts'
import { GroupTooLarge, type Spool } from '../spool/spool.ts'
import type { SpooledEvent } from '../spool/spooled-event.ts'
import type { Bodies } from './bodies.ts'
import type { Connections } from './connections.ts'
import type { Limits } from './limits.ts'
import { Refusal } from './refusals.ts'
import { sendJson, sendText } from './responses.ts'

export interface EventServices extends Sources {
  bodies: Bodies
  connections: Pick<Connections, 'complete'>
  limits: Limits
  spool: Pick<Spool, 'append'>
  clientAddress: ClientAddress
  onAccepted(events: number): void
  onDropped(reason: DropReason): void
}

const maxEvents = 50
/** Per request, because each unknown domain costs a query in PostgreSQL. */
const maxDomains = 10

interface Outcome {
  accepted: number
  dropped: { index: number; reason: DropReason }[]
  ignored?: { index: number; fields: string[] }[]
  /** Those of the accepted events, for somebody who wants to follow one. */
  ids?: string[]
}

export async function postEvent(
  request: IncomingMessage,
  response: ServerResponse,
  services: EventServices,
): Promise<void> {
  // Read now, because the address is gone when the client hangs up before its turn.
  const sender = senderOf(request, services)
  request.on('end', () => services.connections.complete(request.socket))
  const isText = /[?&]debug=text(&|$)/.test(request.url ?? '')
  const isDebug = /[?&]debug=1(&|$)/.test(request.url ?? '')
  const outcome = await services.bodies.read(request, (text) => takeText(text, sender, services, isDebug || isText))
  if (isText) return sendText(response, 202, sentenceOf(outcome))
  const answer = isDebug ? JSON.stringify(outcome) : `{"accepted":${outcome.accepted}}`
  sendJson(response, 202, answer)
}

/** For the console of a browser, where the tracker prints it. */
function sentenceOf({ accepted, dropped, ids = [] }: Outcome): string {
  const reasons = new Set(dropped.map(({ reason }) => `not counted: ${dropMessages[reason]}`))
  return [...(accepted > 0 ? [`counted, as event ${ids.join(', ')}`] : []), ...reasons].join('; ')
}

type Ignored = NonNullable<Outcome['ignored']>

/** The fields that Footfall does not know. */
const unknownFields = (payload: unknown): string[] =>
  Object.keys(Object(payload)).filter((field) => !eventFields.has(field))

/** Refuses a sender over the limit before parsing: a list of fifty events costs a hundred times as much as a refusal. */
function takeText(text: string, sender: Sender, services: EventServices, isDebug: boolean): Promise<Outcome> {
  const limit = services.limits.ofAddress(sender.ip)
  if (limit.waitSeconds > 0) throw new Refusal('address_limit', limit.waitSeconds)
  const payloads = parse(text)
  limit.charge(payloads.length)
  return isDebug ? takeAllForDebug(payloads, sender, services) : takeAll(payloads, sender, services)
}

async function takeAllForDebug(
  payloads: readonly unknown[],
  sender: Sender,
  services: EventServices,
): Promise<Outcome> {
  const ignored: Ignored = payloads.map((payload, index) => ({ index, fields: unknownFields(payload) }))
  const ids: string[] = []
  const outcome = await takeAll(payloads, sender, services, { ignored, ids })
  const some = ignored.filter(({ fields }) => fields.length > 0)
  return { ...outcome, ...(some.length > 0 && { ignored: some }), ...(ids.length > 0 && { ids }) }
}

async function takeAll(
  payloads: readonly unknown[],
  sender: Sender,
  services: EventServices,
  told?: { ignored: Ignored; ids: string[] },
): Promise<Outcome> {
  const events: SpooledEvent[] = []
  const dropped: Outcome['dropped'] = []
  for (const [index, payload] of payloads.entries()) {
    const onIgnored = told && ((fields: readonly string[]) => told.ignored[index]?.fields.push(...fields))
    const taking = takeIn(payload, sender, services, onIgnored)
    const result = taking instanceof Promise ? await taking : taking
    if (typeof result === 'string') dropped.push({ index, reason: result })
    else {
      events.push(result)
      told?.ids.push(result.event.eventId)
    }
  }
  return store(events, dropped, services)
}

/** A separate function, so that a request waiting for the disk holds neither the body nor its events: they were most of the memory. */
function store(
  events: SpooledEvent[],
  dropped: Outcome['dropped'],
  services: EventServices,
): Promise<Outcome> | Outcome {
  const { spool, onAccepted, onDropped } = services
  const accepted = events.length
  const finish = (): Outcome => {
    onAccepted(accepted)
    for (const { reason } of dropped) onDropped(reason)
    if (accepted === 0 && dropped.some(({ reason }) => reason === 'site_limit')) throw new Refusal('site_limit')
    return { accepted, dropped }
  }
  return accepted > 0 ? spool.append(events).then(finish, refuseTooLarge) : finish()
}

function refuseTooLarge(error: unknown): never {
  throw error instanceof GroupTooLarge ? new Refusal('too_large') : error
}

function senderOf({ socket, headers }: IncomingMessage, { clientAddress }: EventServices): Sender {
  const forwardedFor = headers['x-forwarded-for']
  return {
    ip: clientAddress(socket.remoteAddress ?? '', Array.isArray(forwardedFor) ? forwardedFor.join() : forwardedFor),
    userAgent: headers['user-agent'] ?? '',
    secChUaMobile: headers['sec-ch-ua-mobile'] as string | undefined,
  }
}

/** Ignores the content type: browsers send beacons as text to avoid a preflight. */
function parse(text: string): unknown[] {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new Refusal('invalid_body')
  }
  const list = Array.isArray(body) ? body : [body]
  if (typeof body !== 'object' || body === null || list.length === 0 || list.length > maxEvents) {
    throw new Refusal('invalid_body')
  }
  const payloads = list.flatMap(forEachDomain)
  if (payloads.length > maxDomains && new Set(payloads.map(domainIn)).size > maxDomains)
    throw new Refusal('invalid_body')
  return payloads
}

/** A script may name several sites, separated by commas; the event counts for each. */
function forEachDomain(payload: unknown): unknown[] {
  const domains = domainIn(payload)
  if (typeof domains !== 'string' || !domains.includes(',')) return [payload]
  return domains.split(',', maxDomains + 1).map((domain) => ({ ...(payload as object), domain }))
}

function domainIn(payload: unknown): unknown {
  const { domain, d } = Object(payload) as { domain?: unknown; d?: unknown }
  return domain ?? d
}
