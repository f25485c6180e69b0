// POST /api/event, in the words that trackers of this field use. On bare node:http: every visit of every site passes here.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Unavailable } from '../stores/breaker.ts'
import { answerJson } from './answer.ts'
import type { ClientAddress } from './client-address.ts'
import type { Sender } from './hit.ts'
import { type DropReason, eventFields, type Sources, type Taken, takeIn } from './intake.ts'
import type { Overload } from './overload.ts'
import { Refusal } from './refusals.ts'
import type { Spool } from './spool.ts'

export interface EventServices extends Sources {
  spool: Pick<Spool, 'append'>
  clientAddress: ClientAddress
  overload: Pick<Overload, 'isLate'>
  onAccepted(events: number): void
  onDropped(reason: DropReason): void
}

const mostBytes = 65_536
const mostEvents = 50
/** Of a whole request: each unknown one is a look-up in PostgreSQL. */
const mostDomains = 10
/** Of all bodies that are being read, so that many slow senders cannot fill the memory. */
const mostBytesAtOnce = 64 * 1024 * 1024

let bytesAtOnce = 0

interface Outcome {
  accepted: number
  dropped: { index: number; reason: DropReason }[]
}

export async function postEvent(
  request: IncomingMessage,
  response: ServerResponse,
  services: EventServices,
): Promise<void> {
  const body = await readBody(request)
  // Not sooner: a client that is hung up on while it sends never sees the answer.
  if (services.overload.isLate()) throw new Unavailable('Too much has come at once')
  const sent = parse(body)
  const outcome = await takeAll(sent, senderOf(request, services), services)
  const isDebug = /[?&]debug=1(&|$)/.test(request.url ?? '')
  const answer = isDebug ? JSON.stringify({ ...outcome, ...ignoredOf(sent) }) : `{"accepted":${outcome.accepted}}`
  answerJson(response, 202, answer)
}

/** What events carry and Footfall does not keep, such as `props` and `revenue` of other trackers. */
function ignoredOf(sent: readonly unknown[]): { ignored?: { index: number; fields: string[] }[] } {
  const ignored = sent
    .map((one, index) => ({ index, fields: Object.keys(Object(one)).filter((field) => !eventFields.has(field)) }))
    .filter(({ fields }) => fields.length > 0)
  return ignored.length > 0 ? { ignored } : {}
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
  if (taken.length > 0) await services.spool.append(taken)
  services.onAccepted(taken.length)
  for (const { reason } of dropped) services.onDropped(reason)
  return { accepted: taken.length, dropped }
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

function readBody(request: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const chunks: Buffer[] = []
  let bytes = 0
  let isOver = false
  /** Once, whatever comes first: of a refused request that breaks off after its answer, Node tells no end at all. */
  const finish = (settle: () => void): void => {
    if (isOver) return
    isOver = true
    bytesAtOnce -= bytes
    settle()
  }
  request.on('data', (chunk: Buffer) => {
    if (isOver) return
    bytes += chunk.length
    bytesAtOnce += chunk.length
    if (bytes > mostBytes) finish(() => reject(new Refusal('too_large')))
    else if (bytesAtOnce > mostBytesAtOnce) finish(() => reject(new Unavailable('Too much is being read')))
    else chunks.push(chunk)
  })
  request.on('end', () =>
    finish(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer).toString() : Buffer.concat(chunks).toString())),
  )
  // It broke off: there is nobody to tell.
  for (const end of ['error', 'close']) request.on(end, () => finish(() => reject(new Refusal('invalid_body'))))
  return promise
}
