// Where a webhook leads: the checks of its URL and of the addresses behind it. They run when it is saved and again before each attempt, because
// the owner of a name decides what it leads to.
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { InvalidSetting } from '../accounts/site-rules.ts'
import { unmapped } from '../process/ip-address.ts'
import type { Networks } from '../process/networks.ts'
import { isPublicAddress } from './addresses.ts'

/** All addresses of a name; none if nobody has it. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<string[]>

export interface TargetRules {
  resolve: Resolve
  /** Addresses that are not public, or not spoken to with https, and that the operator allows (WEBHOOK_ALLOW_PRIVATE). */
  isAllowed: Networks
}

export interface Target {
  url: URL
  /** Without the brackets of IPv6 and the dot at the end of a name. */
  host: string
  port: number
  /** Connections go to these and no others: whoever asks for the name again may get another answer. */
  addresses: readonly string[]
}

export const maxUrlLength = 2_000
const publicPorts = ['', '8443']

/** Throws `InvalidSetting` if nothing may be sent there. */
export async function findTarget(text: string, rules: TargetRules, signal: AbortSignal): Promise<Target> {
  const url = URL.parse(text)
  if (!url || !['https:', 'http:'].includes(url.protocol))
    throw new InvalidSetting('This is not the address of a webhook.', 'Write it like https://example.com/webhook.')
  if (url.username || url.password || url.hash)
    throw new InvalidSetting(
      'The address of a webhook has no user, password or fragment.',
      'Messages are signed: the receiver checks the signature.',
    )
  if (url.href.length > maxUrlLength)
    throw new InvalidSetting(`The address is longer than ${maxUrlLength} characters.`, 'Use a shorter one.')
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const addresses = isIP(host) ? [host] : await resolved(host, rules, signal)
  const isOperators = (address: string): boolean => rules.isAllowed(unmapped(address))
  // One address that is not public is enough: which of them a connection takes is chance.
  if (addresses.length === 0 || !addresses.every((one) => isOperators(one) || isPublicAddress(one))) {
    // The same words whether the name exists: names of the network that Footfall is in are nobody's business.
    throw new InvalidSetting(
      `${host} has no address, or one that is not public.`,
      'Use a name that leads to the internet, or ask whoever runs this Footfall to allow the address (WEBHOOK_ALLOW_PRIVATE).',
    )
  }
  if (!addresses.every(isOperators) && (url.protocol !== 'https:' || !publicPorts.includes(url.port))) {
    throw new InvalidSetting(
      'Webhooks are called with https, on port 443 or 8443.',
      'Write it like https://example.com/webhook.',
    )
  }
  return { url, host, port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80), addresses }
}

async function resolved(host: string, { resolve }: TargetRules, signal: AbortSignal): Promise<string[]> {
  try {
    return await resolve(host, signal)
  } catch (error) {
    const { code = 'no answer' } = error as NodeJS.ErrnoException
    throw new InvalidSetting(`The name ${host} cannot be looked up now (${code}).`, 'Try again in a minute.')
  }
}

/**
 * Asks name servers, not the `hosts` file and its search domains: a name means the same everywhere. A name server that does not answer holds
 * no thread, unlike with `dns.lookup`, whose few threads also check passwords.
 */
export const resolveByDns: Resolve = async (hostname, signal) => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const failed = answers.find((answer) => answer.status === 'rejected' && !isNobody(answer.reason))
    if (addresses.length === 0 && failed?.status === 'rejected') throw failed.reason
    return addresses
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** The name servers have answered: there is no such name, it has no address of this family, or it is no name. */
const isNobody = ({ code }: NodeJS.ErrnoException): boolean => ['ENOTFOUND', 'ENODATA', 'EBADNAME'].includes(code ?? '')
