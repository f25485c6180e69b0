// Somebody on the way to the provider and back. Their browser holds a signed cookie with what the answer is checked against and what it is
// for; nothing is stored before they are signed in.
import { signed, signedText } from '../../users/derived-keys.ts'
import { Refusal } from '../refusals.ts'
import type { Visit } from '../route.ts'
import type { Checks, Provider } from './provider.ts'

const flowSeconds = 10 * 60
/** A cookie has room for 4 kB. */
const maxNextLength = 1_000

/** What the sign-on is for: to get in, to accept an invitation, or to connect it with the user who is signed in. */
export interface Purpose {
  /** A path of the console. */
  next: string
  /** The token of an invitation. */
  invitation?: string
  /** The user who connects. */
  userId?: string
}

interface Flow extends Purpose {
  checks: Checks
  until: number
}

/** Without single sign-on its pages do not exist. */
export function providerOf({ services }: Visit): Provider {
  if (!services.singleSignOn) throw new Refusal('not_found')
  return services.singleSignOn.provider
}

/** Returns the address at the provider, and the cookie that must be there when the browser comes back. */
export async function beginFlow(
  visit: Visit,
  { next, ...rest }: Purpose,
): Promise<{ address: string; cookie: string }> {
  const { services, cookies } = visit
  const { address, checks } = await providerOf(visit).begin()
  const flow: Flow = {
    ...rest,
    next: next.length > maxNextLength ? '/' : next,
    checks,
    until: services.now() + flowSeconds * 1000,
  }
  const text = Buffer.from(JSON.stringify(flow)).toString('base64url')
  return { address, cookie: cookies.set('flow', signed(services.keySecrets, 'sign-on flow', text), flowSeconds) }
}

/** What this browser began, if it did so in the last minutes. */
export function flowOf({ services, flowCookie }: Visit): Flow | undefined {
  const text = flowCookie && signedText(services.keySecrets, 'sign-on flow', flowCookie)
  if (!text) return undefined
  const flow = JSON.parse(Buffer.from(text, 'base64url').toString()) as Flow
  return services.now() < flow.until ? flow : undefined
}
