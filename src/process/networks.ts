import { BlockList, isIP } from 'node:net'

/** Whether an address is in one of the networks, such as 10.0.0.0/8, or is one of the addresses. */
export type Networks = (address: string) => boolean

export function networksOf(listed: readonly string[]): Networks {
  const blocks = new BlockList()
  for (const entry of listed) {
    const [address, bits] = entry.split('/') as [string, string | undefined]
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) blocks.addAddress(address, family)
    else blocks.addSubnet(address, Number(bits), family)
  }
  return (address) => blocks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}
