// A single sign-on in progress. A signed cookie in the browser holds its checks and its purpose; nothing is stored before the person is
// signed in.
import { signed, signedText } from '../../accounts/derived-keys.ts'
import { Refusal } from '../refusals.ts'
import type { Visit } from '../route.ts'
import type { Checks, Provider } from './provider.ts'

const flowSeconds = 10 * 60
/** A cookie has room for 4 kB. */
const maxNextLength = 1_000

/** To sign in, to accept an invitation, or to connect single sign-on with the user who is signed in. */
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

/** Throws if single sign-on is not configured: then its pages do not exist. */
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

/** The unexpired sign-on that this browser started. */
export function flowOf({ services, flowCookie }: Visit): Flow | undefined {
  const text = flowCookie && signedText(services.keySecrets, 'sign-on flow', flowCookie)
  if (!text) return undefined
  const flow = JSON.parse(Buffer.from(text, 'base64url').toString()) as Flow
  return services.now() < flow.until ? flow : undefined
}
