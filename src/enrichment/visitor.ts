import { hash, type KeyObject } from 'node:crypto'
import type { TrafficEvent } from '../traffic/event.ts'

/** The sender of a request, in memory only while the request is handled. A user agent alone is cached for up to a minute (bots). */
export interface Sender {
  ip: string
  userAgent: string
  secChUaMobile: string | undefined
}

/**
 * 64 bits in decimal, valid for one site and day (decision D-3). The address and the user agent are not passed on from here. `families`:
 * browser and system, if they do not follow from the user agent, so that a visitor has one of each.
 */
export function visitorIdOf(
  salt: KeyObject,
  { siteId, country, device }: Pick<TrafficEvent, 'siteId' | 'country' | 'device'>,
  { ip, userAgent }: Pick<Sender, 'ip' | 'userAgent'>,
  families = '',
): string {
  const text = `${siteId}\0${ip}\0${country}\0${device}\0${userAgent}${families && `\0${families}`}`
  return BigInt(`0x${hmacOf(salt, text).slice(0, 16)}`).toString()
}

const blockBytes = 64
const pads = new WeakMap<KeyObject, { inner: Buffer; outer: Buffer }>()

/**
 * HMAC-SHA-256 in hexadecimal, by its definition (RFC 2104): two hashes, each after the salt with a pad. `createHmac` makes an object
 * outside V8's heap for every message, which was 6 % of the main thread in a profile under load.
 */
function hmacOf(salt: KeyObject, text: string): string {
  const padded = pads.get(salt) ?? { inner: withPad(salt, 0x36), outer: withPad(salt, 0x5c) }
  pads.set(salt, padded)
  const inner = hash('sha256', Buffer.concat([padded.inner, Buffer.from(text)]), 'hex')
  return hash('sha256', Buffer.concat([padded.outer, Buffer.from(inner, 'hex')]), 'hex')
}

/** A salt is shorter than a block; zeros fill the rest. */
const withPad = (salt: KeyObject, pad: number): Buffer =>
  Buffer.concat([salt.export()], blockBytes).map((byte) => byte ^ pad) as Buffer
