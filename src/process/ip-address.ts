import { isIP } from 'node:net'

/**
 * Normalises an address, so that every spelling finds the same visitor and country: lower case, and 192.0.2.1 instead of
 * ::ffff:192.0.2.1 (which a dual-stack socket reports) or ::ffff:c000:201. Returns text that is no address unchanged.
 */
export function unmapped(address: string): string {
  if (!address.includes(':') || isIP(address) !== 6) return address
  const lower = address.toLowerCase()
  const [, dotted, high, low] = mapped.exec(lower) ?? []
  if (dotted !== undefined) return dotted
  if (high === undefined || low === undefined) return lower
  const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.')
}

const mapped = /^[0:]*:ffff:(?:(\d+\.\d+\.\d+\.\d+)|([\da-f]+):([\da-f]+))$/
