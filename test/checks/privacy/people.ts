// Visitors who must leave no trace: addresses of each kind, unique user agents and email addresses, and the forms in which each could be
// stored.
import { randomBytes, randomInt } from 'node:crypto'
import { findIn } from '../canary/secrets.ts'

export interface Person {
  name: string
  /** As in X-Forwarded-For. */
  ip: string
  userAgent: string
  /** Unique parts of the user agent by what they are. */
  marks: Readonly<Record<string, string>>
  /** What is recorded of the user agent. */
  browser: string
  os: string
  /** A value of a property. */
  email: string
}

export function makePeople(): Person[] {
  const number = () => randomInt(100, 255)
  const word = () => randomInt(0x1000, 0xffff).toString(16)
  const [four, six, mapped, unknown] = [newMarks(), newMarks(), newMarks(), newMarks()] as const
  const email = () => `jane.${randomBytes(12).toString('hex')}@mail.example`
  const blink = 'AppleWebKit/537.36 (KHTML, like Gecko)'
  return [
    {
      name: 'IPv4',
      ip: `198.${number()}.${number()}.${number()}`,
      userAgent: `Mozilla/5.0 (Windows NT 10.${four.system}; ${four.name}) ${blink} Chrome/141.0.${four.browser} Safari/537.36`,
      ...{ marks: four, browser: 'Chrome', os: 'Windows', email: email() },
    },
    {
      name: 'IPv6',
      ip: `2001:db8:${word()}:${word()}:${word()}:${word()}:${word()}:${word()}`,
      userAgent: `Mozilla/5.0 (Android 14.${six.system}; Mobile; ${six.name}) Gecko/140.0 Firefox/140.${six.browser}`,
      ...{ marks: six, browser: 'Firefox', os: 'Android', email: email() },
    },
    {
      name: 'mapped',
      ip: `::ffff:198.${number()}.${number()}.${number()}`,
      userAgent: `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_${mapped.system}) AppleWebKit/605 Version/18.${mapped.browser} Safari/605 ${mapped.name}`,
      ...{ marks: mapped, browser: 'Safari', os: 'macOS', email: email() },
    },
    {
      // bowser names an unknown browser by the beginning of its user agent.
      name: 'unknown browser',
      ip: `198.${number()}.${number()}.${number()}`,
      userAgent: `${unknown.name}/${unknown.browser} (Custom ${unknown.system})`,
      ...{ marks: unknown, browser: 'Unknown', os: 'Unknown', email: email() },
    },
  ]
}

/** Versions have digits only, or a parser would not take them for versions. */
function newMarks() {
  const digits = () => `${randomInt(1e14)}`.padStart(14, '7') + randomInt(1_000, 9_999)
  return { name: `mark${randomBytes(12).toString('hex')}`, browser: digits(), system: digits() }
}

/** The traces of a person in a text: the address in any notation, the unique parts of the user agent, the email address. */
export function tracesOf(person: Person, text: string): string[] {
  const found: string[] = []
  const secrets = { ...person.marks, email: person.email.split('@')[0] as string, address: bare(person.ip) }
  for (const [what, secret] of Object.entries(secrets)) {
    for (const { form } of findIn(text, { name: person.name, text: secret })) found.push(`${what}, ${form}`)
  }
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
