// Finds the client's address. Behind a proxy it is in X-Forwarded-For, which any client can set: the header is read from the right, and
// only as far as trusted proxies wrote it.
import { isIP } from 'node:net'
import { unmapped } from './ip-address.ts'

export type ClientAddress = (socketAddress: string, forwardedFor: string | undefined) => string

export function createClientAddress(isTrusted: (address: string) => boolean): ClientAddress {
  return (socketAddress, forwardedFor) => {
    let address = unmapped(socketAddress)
    if (forwardedFor === undefined) return address
    const hops = forwardedFor.split(',')
    for (let index = hops.length - 1; index >= 0 && isTrusted(address); index--) {
      const hop = unmapped(withoutPort((hops[index] as string).trim()))
      if (isIP(hop) === 0) break
      address = hop
    }
    return address
  }
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  isIP(hop) !== 0 ? hop : hop.replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
