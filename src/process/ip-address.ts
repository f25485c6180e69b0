import { isIP } from 'node:net'

/**
 * The one spelling of an address by which visitors and countries are found: lower case, and 192.0.2.1 for ::ffff:192.0.2.1, as a
 * dual-stack socket reports it, or ::ffff:c000:201. Text that is no address stays as it is.
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
