// One attempt: connect, hand over, send, read the answer. What is found out before the hand-over is sure to have reached nobody.
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { InvalidSetting } from '../accounts/site-rules.ts'
import { signedHeaders } from './signing.ts'
import { findTarget, type Target, type TargetRules } from './target.ts'

export interface Message {
  url: string
  /** The id by which the receiver knows the message. */
  messageId: string
  body: string
  secret: string
}

export interface Limits {
  /** To look up the name, to connect and to agree on TLS. */
  connectMs: number
  /** From the hand-over to the head of the answer. */
  answerMs: number
}

export const standardLimits: Limits = { connectMs: 5_000, answerMs: 10_000 }

export type Result =
  /** Another process has the delivery by now, or nobody wants it any more. */
  | { result: 'withdrawn' }
  /** The process ends. */
  | { result: 'aborted' }
  | { result: 'not sent'; problem: string }
  /** `problem` is empty if the receiver has taken it. */
  | { result: 'answered'; status: number; problem: string }
  /** The receiver may or may not have it. */
  | { result: 'unknown'; problem: string }

/** Of an answer that is no success. */
const maxAnswerBytes = 4_096
const shownCharacters = 200

/** `handOver` returns whether the message may still be sent. After it, `ending` changes nothing any more. */
export async function post(
  message: Message,
  rules: TargetRules,
  { connectMs, answerMs }: Limits,
  handOver: () => Promise<boolean>,
  ending: AbortSignal,
): Promise<Result> {
  if (ending.aborted) return { result: 'aborted' }
  let socket: Socket
  const late = AbortSignal.timeout(connectMs)
  const signal = AbortSignal.any([late, ending])
  let target: Target
  try {
    target = await findTarget(message.url, rules, signal)
    socket = await connectedTo(target, signal)
  } catch (error) {
    if (ending.aborted) return { result: 'aborted' }
    const problem = late.aborted ? `no connection within ${connectMs / 1000} seconds` : problemOf(error as Error)
    return { result: 'not sent', problem }
  }
  try {
    if (!(await handOver())) {
      socket.destroy()
      return { result: 'withdrawn' }
    }
  } catch {
    return notSent(socket, 'the hand-over could not be recorded')
  }
  if (socket.destroyed) return notSent(socket, 'the receiver closed the connection before anything was sent')
  try {
    return await sendOver(socket, target.url, message, AbortSignal.timeout(answerMs))
  } catch (error) {
    const isSilent = (error as Error).name === 'AbortError'
    const reason = isSilent
      ? `did not answer within ${answerMs / 1000} seconds`
      : `broke off: ${problemOf(error as Error)}`
    return { result: 'unknown', problem: `the receiver ${reason}` }
  } finally {
    socket.destroy()
  }
}

function notSent(socket: Socket, problem: string): Result {
  socket.destroy()
  return { result: 'not sent', problem }
}

/** Only to the addresses that were checked, whatever the name leads to by now. */
async function connectedTo({ url, host, port, addresses }: Target, signal: AbortSignal): Promise<Socket> {
  const lookup: LookupFunction = (_hostname, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: isIP(address) })),
    )
  const isTls = url.protocol === 'https:'
  const options = { host, port, lookup, autoSelectFamily: true }
  const named = isIP(host) ? {} : { servername: host }
  const socket = isTls ? connectTls({ ...options, ...named, ALPNProtocols: ['http/1.1'] }) : connect(options)
  // It must always have a listener: an error that comes later would end the process.
  socket.on('error', () => {})
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect', { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** Follows no redirect: it could lead to an address that nobody has checked. */
async function sendOver(socket: Socket, url: URL, message: Message, signal: AbortSignal): Promise<Result> {
  const { messageId, body, secret } = message
  const request = httpRequest({
    createConnection: () => socket,
    method: 'POST',
    path: url.pathname + url.search,
    headers: {
      Host: url.host,
      'User-Agent': 'Footfall',
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
      ...signedHeaders(secret, messageId, body, Date.now()),
    },
    signal,
  })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
    // Without an error, if the receiver wants to speak another protocol (101).
    request.on('close', () => reject(new Error('no answer')))
  })
  request.end(body)
  const response = await answered
  response.on('error', () => {})
  const { statusCode: status = 0, headers } = response
  if (status >= 200 && status < 300) return { result: 'answered', status, problem: '' }
  if (status >= 300 && status < 400 && headers.location !== undefined)
    return { result: 'answered', status, problem: `the receiver redirects (${status}), which is not followed` }
  const text = await beginningOf(response)
  return { result: 'answered', status, problem: `the receiver answered ${status}${text && `: ${text}`}` }
}

/** For the log. An answer that breaks off or does not end is as good as a short one. */
async function beginningOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= maxAnswerBytes) break
    }
  } catch {
    // The status says enough.
  }
  const text = Buffer.concat(chunks).subarray(0, maxAnswerBytes).toString()
  return text
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, shownCharacters)
}

function problemOf(error: Error): string {
  if (error instanceof InvalidSetting) return error.message
  const [first = error] = error instanceof AggregateError ? (error.errors as Error[]) : []
  const { code, message } = first as NodeJS.ErrnoException
  return code === undefined ? message : `${code}`
}
