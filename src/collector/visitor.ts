import { createHmac, type KeyObject } from 'node:crypto'
import type { TrafficEvent } from '../traffic/event.ts'
import type { Sender } from './hit.ts'

/** 64 bits in decimal, good for one site and day (decision D-3). Address and user agent end here. */
export function visitorIdOf(
  salt: KeyObject,
  { siteId, country, device }: Pick<TrafficEvent, 'siteId' | 'country' | 'device'>,
  { ip, userAgent }: Pick<Sender, 'ip' | 'userAgent'>,
): string {
  return createHmac('sha256', salt)
    .update(`${siteId}\0${ip}\0${country}\0${device}\0${userAgent}`)
    .digest()
    .readBigUInt64BE()
    .toString()
}
