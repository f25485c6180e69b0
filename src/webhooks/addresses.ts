// Which addresses a webhook may lead to. Whoever owns a site chooses the URL, and Footfall often stands where strangers cannot reach: beside
// databases, and beside the metadata service of a cloud. So only addresses of the public internet are allowed, and those that the operator names.
import { isIP } from 'node:net'
import { unmapped } from '../process/ip-address.ts'
import { networksOf } from '../process/networks.ts'

/** Of IPv4, what is not of the public internet: IANA's list of special-purpose addresses. */
const innerIpv4 = [
  '0.0.0.0/8', // this host
  '10.0.0.0/8', // private
  '100.64.0.0/10', // behind the NAT of a provider
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocols, metadata of Oracle
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '168.63.129.16', // metadata of Azure, although the address is public
]

/** All that IANA has given to anybody. What lies outside is loopback, mapped IPv4, NAT64, unique local, link-local, multicast or nobody's. */
const publicIpv6 = ['2000::/3']

/** Of `publicIpv6`, what carries IPv4 addresses or is no host. */
const innerIpv6 = [
  '2001::/23', // protocols, Teredo, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
]

const isInner = networksOf([...innerIpv4, ...innerIpv6])
const isPublicIpv6 = networksOf(publicIpv6)

/** False also for text that is no address. */
export function isPublicAddress(given: string): boolean {
  const address = unmapped(given)
  const family = isIP(address)
  return family !== 0 && !isInner(address) && (family === 4 || isPublicIpv6(address))
}
