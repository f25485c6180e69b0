// Writes small files in MaxMind's format, so that tests can choose addresses, countries and record shapes.
import { BlockList, isIPv4 } from 'node:net'

interface Place {
  /** `203.0.113.0/24` or `2001:db8::/32`. */
  network: string
  /** MaxMind's `{ country: { iso_code: 'DE' } }` or DB-IP's `{ country_code: 'DE' }`. */
  record: Value
}

type Value = string | number | { [key: string]: Value }

const separator = Buffer.alloc(16)
const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')

/** IPv4 trees have 32 levels; in IPv6 trees, IPv4 addresses come after 96 zero bits. */
export function countryFile(places: readonly Place[], ipVersion: 4 | 6 = 6): Buffer {
  type Node = [Node | Place | undefined, Node | Place | undefined]
  const root: Node = [undefined, undefined]
  for (const place of places) {
    const bits = bitsOf(place.network, ipVersion)
    let node = root
    for (const bit of bits.slice(0, -1)) {
      const next = (node[bit] ?? [undefined, undefined]) as Node
      node[bit] = next
      node = next
    }
    node[bits.at(-1) as 0 | 1] = place
  }

  const nodes: Node[] = []
  const numbers = new Map<Node, number>()
  const visit = (node: Node): void => {
    numbers.set(node, nodes.length)
    nodes.push(node)
    for (const child of node) if (Array.isArray(child)) visit(child)
  }
  visit(root)

  const records: Buffer[] = []
  const pointer = (child: Node[number]): number => {
    if (child === undefined) return nodes.length
    if (Array.isArray(child)) return numbers.get(child) as number
    const at = records.reduce((sum, { length }) => sum + length, 0)
    records.push(encode(child.record))
    return nodes.length + separator.length + at
  }
  const tree = Buffer.concat(
    nodes.map((node) => {
      const pair = Buffer.alloc(6)
      for (const side of [0, 1] as const) pair.writeUIntBE(pointer(node[side]), side * 3, 3)
      return pair
    }),
  )
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_790_000_000,
    database_type: 'Test-Country',
    description: { en: 'Made by a test' },
    ip_version: ipVersion,
    languages: {},
    node_count: nodes.length,
    record_size: 24,
  }
  return Buffer.concat([tree, separator, ...records, marker, encode(metadata)])
}

function bitsOf(network: string, ipVersion: 4 | 6): (0 | 1)[] {
  const [address = '', length = ''] = network.split('/')
  new BlockList().addSubnet(address, Number(length), isIPv4(address) ? 'ipv4' : 'ipv6') // throws unless it is a network
  const bytes = isIPv4(address) ? address.split('.').map(Number) : ipv6Bytes(address)
  const bits = bytes.flatMap((byte) => [...byte.toString(2).padStart(8, '0')].map((bit) => Number(bit) as 0 | 1))
  const inside = bits.slice(0, Number(length))
  return isIPv4(address) && ipVersion === 6 ? [...Array<0>(96).fill(0), ...inside] : inside
}

function ipv6Bytes(address: string): number[] {
  const [left = '', right = ''] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const middle = Array<number>(8 - groups(left).length - groups(right).length).fill(0)
  return [...groups(left), ...middle, ...groups(right)].flatMap((group) => [group >> 8, group & 255])
}

function encode(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)])
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(value)
    return Buffer.concat([control(6, 4), bytes])
  }
  const entries = Object.entries(value)
  return Buffer.concat([control(7, entries.length), ...entries.flatMap(([key, item]) => [encode(key), encode(item)])])
}

/** Three bits of type and five of size; size 29 means 29 plus the next byte. */
const control = (type: number, size: number): Buffer =>
  size < 29 ? Buffer.from([(type << 5) | size]) : Buffer.from([(type << 5) | 29, size - 29])
