import { hash, type KeyObject } from 'node:crypto'
import type { TrafficEvent } from '../traffic/event.ts'
import type { Sender } from './hit.ts'

/** 64 bits in decimal, good for one site and day (decision D-3). Address and user agent end here. */
export function visitorIdOf(
  salt: KeyObject,
  { siteId, country, device }: Pick<TrafficEvent, 'siteId' | 'country' | 'device'>,
  { ip, userAgent }: Pick<Sender, 'ip' | 'userAgent'>,
): string {
  const { inner, outer } = padsOf(salt)
  const text = `${siteId}\0${ip}\0${country}\0${device}\0${userAgent}`
  const mostBytes = blockBytes + 3 * text.length
  const message = mostBytes <= inner.length ? inner : Buffer.concat([inner.subarray(0, blockBytes)], mostBytes)
  const length = blockBytes + message.write(text, blockBytes)
  // Hashes as text: a Buffer for each would cost as much as the hash.
  outer.write(hash('sha256', message.subarray(0, length), 'latin1'), blockBytes, 'latin1')
  return BigInt(`0x${hash('sha256', outer, 'hex').slice(0, 16)}`).toString()
}

interface Pads {
  /** And room for most messages. */
  inner: Buffer
  /** And room for the inner hash. */
  outer: Buffer
}

const blockBytes = 64
const hashBytes = 32
const roomBytes = 4_096
const pads = new WeakMap<KeyObject, Pads>()

/** HMAC-SHA-256 by its definition (RFC 2104): what `createHmac` sets up for each message costs 17 us under load, two hashes 4. */
function padsOf(salt: KeyObject): Pads {
  const known = pads.get(salt)
  if (known) return known
  const key = Buffer.alloc(blockBytes)
  salt.export().copy(key)
  const made = { inner: Buffer.alloc(blockBytes + roomBytes), outer: Buffer.alloc(blockBytes + hashBytes) }
  for (const [index, byte] of key.entries()) {
    made.inner[index] = byte ^ 0x36
    made.outer[index] = byte ^ 0x5c
  }
  pads.set(salt, made)
  return made
}
