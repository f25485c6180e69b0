// Each parser turns the text of a setting into its value, or throws an Error that says what is expected. Errors never repeat the text, because
// it may be a secret.
import { isIP } from 'node:net'
import type { KeySecrets } from '../accounts/keys.ts'
import { isEmailDomain } from '../hostnames.ts'
import type { Mailbox, MailServer } from '../mail/smtp.ts'

export function url(...protocols: string[]) {
  return (text: string): string => {
    if (!protocols.includes(URL.parse(text)?.protocol ?? '')) {
      throw new Error(
        `must be an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
      )
    }
    return text
  }
}

const postgresUrl = url('postgres:', 'postgresql:')

/** `postgres://me@/footfall?host=/var/run/postgresql` is right for libpq, but not a URL: a user needs a host. */
export const databaseUrl = (text: string): string =>
  postgresUrl(text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=\/)/, '$1localhost'))

const clickhouseUrl = url('http:', 'https:')

/** A list of shards, each a list of addresses. */
export function shards(text: string): string[][] {
  const isList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0
  const list: unknown = parsedJson(text)
  if (!isList(list) || !list.every(isList)) {
    throw new Error('must be a JSON list of shards, each a list of addresses: [["http://…"],["http://…"]]')
  }
  return (list as string[][]).map((shard) => shard.map((address) => clickhouseUrl(String(address))))
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether nobody on the network can read the traffic: it uses https, or stays on this machine. */
const isPrivate = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))

/** Plain http is allowed only on this machine, because others on the network could read its cookies. */
export function publicUrl(text: string): string {
  const address = URL.parse(text)
  if (!address || !isPrivate(address)) {
    throw new Error('must be an address that begins with https://, or http://localhost')
  }
  if (text.replace(/\/$/, '') !== address.origin) throw new Error('must have no path: https://stats.example.com')
  return address.origin
}

/** Origins as browsers send them: scheme, host and port, without a slash at the end. */
export function origins(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim())
  if (parts.some((part) => URL.parse(part)?.origin !== part)) {
    throw new Error('must be origins such as https://assistant.example, separated by commas')
  }
  return parts
}

/** Not normalised, because it must equal the issuer in the tokens exactly. */
export function issuer(text: string): string {
  const address = URL.parse(text)
  if (!address || !isPrivate(address)) {
    throw new Error('must be an address that begins with https://, or http://localhost')
  }
  if (address.search || address.hash || address.username) throw new Error('must have no query, fragment or user')
  return text
}

export function smtpUrl(text: string): MailServer {
  const address = URL.parse(text)
  const isSecure = address?.protocol === 'smtps:'
  if (!address?.hostname || (!isSecure && address.protocol !== 'smtp:')) {
    throw new Error('must be an address that begins with smtp:// or smtps://')
  }
  const tls = address.searchParams.get('tls')
  if ((tls !== null && tls !== 'off') || address.pathname.length > 1) {
    throw new Error('must look like smtp://user:password@mail.example.com:587, with nothing but ?tls=off after it')
  }
  const host = address.hostname.replace(/^\[|\]$/g, '')
  return {
    host,
    port: Number(address.port) || (isSecure ? 465 : 587),
    isSecure,
    needsTls: tls !== 'off' && !isLoopback(host),
    user: address.username ? decodeURIComponent(address.username) : undefined,
    password: decodeURIComponent(address.password),
  }
}

const isLoopback = (host: string): boolean =>
  /^localhost$/i.test(host) || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))

export function mailbox(text: string): Mailbox {
  const [, name = '', inBrackets, bare] =
    /^(?:([^<>"\p{Cc}]*)<([^\s<>@]+@[^\s<>@]+)>|([^\s<>@]+@[^\s<>@]+))$/u.exec(text.trim()) ?? []
  const address = inBrackets ?? bare
  if (!address) throw new Error('must be an address such as stats@example.com, or Footfall <stats@example.com>')
  return { name: name.trim() || 'Footfall', address }
}

export function domain(text: string): string {
  if (!isEmailDomain(text)) throw new Error('must be a domain such as example.com')
  return text.toLowerCase()
}

export function accountId(text: string): string {
  if (!/^acct_[a-z2-7]{16}$/.test(text)) throw new Error('must be the id of an account; see footfall account list')
  return text
}

export function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Error('must be a port number, 0 to 65535')
  return Number(text)
}

export function bytes(text: string): number {
  if (!/^\d{7,15}$/.test(text)) throw new Error('must be a number of bytes, at least 1000000')
  return Number(text)
}

export function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error('must be a whole number; 0 means no limit')
  return Number(text)
}

export function networks(text: string): string[] {
  return text.split(',').map((part) => {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(part.trim()) ?? []
    const family = isIP(address)
    if (family === 0 || Number(bits ?? 0) > (family === 6 ? 128 : 32)) {
      throw new Error('must be addresses or networks such as 10.0.0.0/8')
    }
    return part.trim()
  })
}

export function processes(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new Error('must be a whole number from 1 to 999')
  return Number(text)
}

export function retention(text: string): number {
  if (!/^[1-9]\d{1,3}$/.test(text) || Number(text) < 25) {
    throw new Error(
      'must be a whole number of months, 25 to 9999, because the range 12m is compared with the year before it; leave it unset to keep all events',
    )
  }
  return Number(text)
}

/** How many backups to keep: the newest of so many days, weeks and months. */
export interface Keep {
  days: number
  weeks: number
  months: number
}

export function keep(text: string): Keep {
  const units = { d: 'days', w: 'weeks', m: 'months' } as const
  const kept: Keep = { days: 0, weeks: 0, months: 0 }
  for (const part of text.split(',')) {
    const [, count, unit] = /^([1-9]\d{0,3})([dwm])$/.exec(part.trim()) ?? []
    const name = units[unit as keyof typeof units]
    if (!name || kept[name] > 0) throw new Error('must say how many days, weeks and months to keep, such as 7d,4w,12m')
    kept[name] = Number(count)
  }
  return kept
}

export function hour(text: string): number {
  if (!/^\d{1,2}$/.test(text) || Number(text) > 23) throw new Error('must be an hour of the day in UTC, 0 to 23')
  return Number(text)
}

export function megabytes(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new Error('must be a whole number of megabytes, 0 to 99999')
  return Number(text)
}

export function seconds(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new Error('must be a whole number of seconds, 0 to 999')
  return Number(text)
}

export function oneOf<Word extends string>(...words: Word[]) {
  return (text: string): Word => {
    if (!words.includes(text as Word)) throw new Error(`must be one of ${words.join(', ')}`)
    return text as Word
  }
}

export function keySecrets(text: string): KeySecrets {
  const secrets = text.split(',').map((part) => {
    const [, version, secret] = /^(\d+):(.{32,})$/.exec(part.trim()) ?? []
    if (!version || !secret) throw new Error('must be version:secret pairs with secrets of at least 32 characters')
    return { version: Number(version), secret: Buffer.from(secret) }
  })
  if (new Set(secrets.map(({ version }) => version)).size < secrets.length) throw new Error('names a version twice')
  return secrets as unknown as KeySecrets
}
