// Limits guessing of passwords and codes (decision D-177).

import { signed, signedText } from '../accounts/derived-keys.ts'
import { newId } from '../accounts/ids.ts'
import type { KeySecrets } from '../accounts/keys.ts'
import { hourSeconds } from '../durations.ts'
import { createNetworkBuckets } from '../process/network-buckets.ts'
import { createNetworkKey } from '../process/network-key.ts'
import { type Buckets, createBuckets } from '../process/token-buckets.ts'

const quarterSeconds = hourSeconds / 4

/** Max attempts of one sender for one user in 15 minutes. */
const perSender = 10
/** Max attempts of one address for all users in 15 minutes: an office shares an address. Wider IPv6 networks have a multiple of it. */
const perAddress = 100
/**
 * Max attempts for one user in an hour: of all unknown browsers together, and again of all known ones. Fewer for codes: a code has only
 * 6 digits, and the sender already knows the password.
 */
const perUser = { password: 100, code: 20 } as const

interface Sender {
  /** The whole address; only its hash with a random secret is kept. */
  clientAddress: string
  /** The cookie of a browser that has signed in before. */
  browserCookie: string | undefined
}

export interface Attempt {
  /** 0, or the seconds until the next attempt; then refuse this one without verifying it. */
  waitSeconds: number
  /** The user, if they have signed in with this browser before: strangers cannot delay them (users/password-queue.ts). */
  knownUser: string | undefined
  /** Call it if the attempt was right or could not be verified: it then does not count. */
  giveBack(): void
  /** Call it if the password queue was full. The attempt still counts for its address, so that a network cannot keep the queue full. */
  turnAway(): void
}

export interface Attempts {
  begin(what: 'password' | 'code', email: string, sender: Sender): Attempt
  /** For an answer of the provider of single sign-on, whose user is not known yet. */
  beginUnknown(sender: Sender): Attempt
}

export function createAttempts(secrets: KeySecrets, now?: () => number): Attempts {
  const rate = (tokens: number, burstSeconds: number) => ({
    perSecond: tokens / burstSeconds,
    burstSeconds,
    ...(now && { now }),
  })
  const networkKey = createNetworkKey()
  const senders = createBuckets<string>(rate(perSender, quarterSeconds))
  const addresses = createNetworkBuckets(rate(perAddress, quarterSeconds))
  const users = {
    password: createBuckets<string>(rate(perUser.password, hourSeconds)),
    code: createBuckets<string>(rate(perUser.code, hourSeconds)),
  }

  function attemptOf(limits: readonly [Buckets<string>, key: string][], knownUser?: string): Attempt {
    const waitSeconds = Math.max(...limits.map(([bucket, key]) => bucket.take(key, 0)))
    if (waitSeconds === 0) for (const [bucket, key] of limits) bucket.take(key, 1)
    const giveBack = (from: typeof limits) => {
      for (const [bucket, key] of from) bucket.giveBack(key, 1)
    }
    return {
      waitSeconds,
      knownUser,
      giveBack: () => giveBack(limits),
      turnAway: () => giveBack(limits.filter(([bucket]) => bucket !== addresses)),
    }
  }

  return {
    begin(what, email, { clientAddress, browserCookie }) {
      const browser = knownBrowser(secrets, browserCookie, email)
      // A known browser shares no limit with strangers, so they cannot lock the owner out.
      if (browser)
        return attemptOf(
          [
            [senders, `${what} ${email} ${browser}`],
            [users[what], `${email} known`],
          ],
          email,
        )
      return attemptOf([
        [senders, `${what} ${email} ${networkKey(clientAddress)}`],
        [addresses, clientAddress],
        [users[what], email],
      ])
    },
    beginUnknown: ({ clientAddress }) => attemptOf([[addresses, clientAddress]]),
  }
}

/** The cookie value of a browser in which this user has signed in. */
export const browserCookieOf = (secrets: KeySecrets, email: string): string => {
  const id = newId('browser')
  return `${id}.${signed(secrets, 'known browser', `${id} ${email}`).split('.').at(-1)}`
}

/** The id of the browser if this user has signed in with it. */
export function knownBrowser(secrets: KeySecrets, cookie: string | undefined, email: string): string | undefined {
  const [id, signature] = cookie?.split('.') ?? []
  return signedText(secrets, 'known browser', `${id} ${email}.${signature}`) && id
}
