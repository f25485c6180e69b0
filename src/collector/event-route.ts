// POST /api/event, in the words that trackers of this field use. On bare node:http: every visit of every site passes here.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerJson } from './answer.ts'
import type { Bodies } from './bodies.ts'
import type { ClientAddress } from './client-address.ts'
import type { Connections } from './connections.ts'
import type { Sender } from './hit.ts'
import { type DropReason, eventFields, type Sources, type Taken, takeIn } from './intake.ts'
import type { Limits } from './limits.ts'
import { Refusal } from './refusals.ts'
import type { Spool } from './spool.ts'

export interface EventServices extends Sources {
  bodies: Bodies
  connections: Pick<Connections, 'complete'>
  limits: Limits
  spool: Pick<Spool, 'append'>
  clientAddress: ClientAddress
  onAccepted(events: number): void
  onDropped(reason: DropReason): void
}

const mostEvents = 50
/** Of a whole request: each unknown one is a look-up in PostgreSQL. */
const mostDomains = 10

interface Outcome {
  accepted: number
  dropped: { index: number; reason: DropReason }[]
  ignored?: { index: number; fields: string[] }[]
}

export async function postEvent(
  request: IncomingMessage,
  response: ServerResponse,
  services: EventServices,
): Promise<void> {
  // Now: of a client that hangs up before its turn comes, the address is not known any more.
  const sender = senderOf(request, services)
  request.once('end', () => services.connections.complete(request.socket))
  const isDebug = /[?&]debug=1(&|$)/.test(request.url ?? '')
  const outcome = await services.bodies.read(request, (text) => takeText(text, sender, services, isDebug))
  const answer = isDebug ? JSON.stringify(outcome) : `{"accepted":${outcome.accepted}}`
  answerJson(response, 202, answer)
}

/** What events carry and Footfall does not keep, such as `props` and `revenue` of other trackers. */
function ignoredOf(sent: readonly unknown[]): Pick<Outcome, 'ignored'> {
  const ignored = sent
    .map((one, index) => ({ index, fields: Object.keys(Object(one)).filter((field) => !eventFields.has(field)) }))
    .filter(({ fields }) => fields.length > 0)
  return ignored.length > 0 ? { ignored } : {}
}

/** Whoever is over the limit is refused before anything is parsed: a list of fifty costs a hundred times as much as a refusal. */
async function takeText(text: string, sender: Sender, services: EventServices, isDebug: boolean): Promise<Outcome> {
  const waitSeconds = services.limits.takeOfAddress(sender.ip, 0)
  if (waitSeconds > 0) throw new Refusal('address_limit', waitSeconds)
  const sent = parse(text)
  services.limits.takeOfAddress(sender.ip, sent.length)
  if (!isDebug) return takeAll(sent, sender, services)
  return { ...(await takeAll(sent, sender, services)), ...ignoredOf(sent) }
}

async function takeAll(sent: readonly unknown[], sender: Sender, services: EventServices): Promise<Outcome> {
  const taken: Taken[] = []
  const dropped: Outcome['dropped'] = []
  for (const [index, one] of sent.entries()) {
    const taking = takeIn(one, sender, services)
    const result = taking instanceof Promise ? await taking : taking
    if (typeof result === 'string') dropped.push({ index, reason: result })
    else taken.push(result)
  }
  return store(taken, dropped, services)
}

/** While it waits for the disk it holds neither what was sent nor what was made of it: with many requests that was most of the memory. */
function store(taken: Taken[], dropped: Outcome['dropped'], services: EventServices): Promise<Outcome> | Outcome {
  const { spool, onAccepted, onDropped } = services
  const accepted = taken.length
  const finish = (): Outcome => {
    onAccepted(accepted)
    for (const { reason } of dropped) onDropped(reason)
    if (accepted === 0 && dropped.some(({ reason }) => reason === 'site_limit')) throw new Refusal('site_limit')
    return { accepted, dropped }
  }
  return accepted > 0 ? spool.append(taken).then(finish) : finish()
}

function senderOf({ socket, headers }: IncomingMessage, { clientAddress }: EventServices): Sender {
  const forwardedFor = headers['x-forwarded-for']
  return {
    ip: clientAddress(socket.remoteAddress ?? '', Array.isArray(forwardedFor) ? forwardedFor.join() : forwardedFor),
    userAgent: headers['user-agent'] ?? '',
    secChUaMobile: headers['sec-ch-ua-mobile'] as string | undefined,
  }
}

/** The type that the sender gives does not matter: browsers send beacons as text, to be spared a preflight. */
function parse(body: string): unknown[] {
  let sent: unknown
  try {
    sent = JSON.parse(body)
  } catch {
    throw new Refusal('invalid_body')
  }
  const list = Array.isArray(sent) ? sent : [sent]
  if (typeof sent !== 'object' || sent === null || list.length === 0 || list.length > mostEvents) {
    throw new Refusal('invalid_body')
  }
  const events = list.flatMap(forEachDomain)
  if (new Set(events.map(domainIn)).size > mostDomains) throw new Refusal('invalid_body')
  return events
}

/** A script may name several sites, separated by commas: the event counts for each. */
function forEachDomain(sent: unknown): unknown[] {
  const named = domainIn(sent)
  if (typeof named !== 'string' || !named.includes(',')) return [sent]
  return named.split(',', mostDomains + 1).map((one) => ({ ...(sent as object), domain: one }))
}

function domainIn(sent: unknown): unknown {
  const { domain, d } = Object(sent) as { domain?: unknown; d?: unknown }
  return domain ?? d
}
