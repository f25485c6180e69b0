// Visitors who must leave no trace: addresses of each kind and unique user agents, and the forms in which each could be stored.
import { randomBytes, randomInt } from 'node:crypto'
import { findIn } from '../canary/secrets.ts'

export interface Person {
  name: string
  /** As in X-Forwarded-For. */
  ip: string
  userAgent: string
}

export function makePeople(): Person[] {
  const agent = (kind: string) =>
    `Mozilla/5.0 (X11; Linux x86_64; ${kind}${randomBytes(12).toString('hex')}) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36`
  const number = () => randomInt(100, 255)
  const word = () => randomInt(0x1000, 0xffff).toString(16)
  return [
    { name: 'IPv4', ip: `198.${number()}.${number()}.${number()}`, userAgent: agent('four') },
    {
      name: 'IPv6',
      ip: `2001:db8:${word()}:${word()}:${word()}:${word()}:${word()}:${word()}`,
      userAgent: agent('six'),
    },
    { name: 'mapped', ip: `::ffff:198.${number()}.${number()}.${number()}`, userAgent: agent('mapped') },
  ]
}

/** The traces of a person in a text: the address in any notation, the unique part of the user agent. */
export function tracesOf(person: Person, text: string): string[] {
  const own = /(four|six|mapped)[0-9a-f]{24}/.exec(person.userAgent)?.[0] as string
  const found = findIn(text, { name: person.name, text: own }).map(({ form }) => `user agent, ${form}`)
  for (const { form } of findIn(text, { name: person.name, text: bare(person.ip) })) found.push(`address, ${form}`)
  const lower = text.toLowerCase()
  for (const [form, notation] of Object.entries(notationsOf(person.ip))) {
    if (lower.includes(notation)) found.push(`address, ${form}`)
  }
  return found
}

const bare = (ip: string) => ip.replace('::ffff:', '')

function notationsOf(ip: string): Record<string, string> {
  if (bare(ip).includes(':')) {
    return {
      'hexadecimal digits': ip
        .split(':')
        .map((part) => part.padStart(4, '0'))
        .join(''),
    }
  }
  const bytes = Buffer.from(bare(ip).split('.').map(Number))
  return {
    // Eight digits occur by chance once in 4,000 million positions, so they are searched with the characters around an address.
    'a number': `"${bytes.readUInt32BE()}"`,
    'mapped, in hexadecimal': `::ffff:${bytes.toString('hex', 0, 2)}:${bytes.toString('hex', 2)}`,
    'hexadecimal digits': `"${bytes.toString('hex')}"`,
  }
}

/** An address in binary form. Four bytes alone would occur by chance. */
export function bytesOf(person: Person): Buffer | undefined {
  if (!bare(person.ip).includes(':')) return undefined
  return Buffer.from(
    person.ip
      .split(':')
      .map((part) => part.padStart(4, '0'))
      .join(''),
    'hex',
  )
}
