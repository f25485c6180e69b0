// Limits guessing of passwords and codes (decision D-177).

import { newId } from '../accounts/ids.ts'
import type { KeySecrets } from '../accounts/keys.ts'
import { hourSeconds } from '../durations.ts'
import { createNetworkBuckets } from '../process/network-buckets.ts'
import { createNetworkKey } from '../process/network-key.ts'
import { type Buckets, createBuckets } from '../process/token-buckets.ts'
import { signed, signedText } from './derived-keys.ts'

const quarterSeconds = hourSeconds / 4

/** Of one sender for one user, in 15 minutes. */
const perSender = 10
/** Of one address for all users, in 15 minutes: an office shares an address. Wider networks of IPv6 have a multiple of it. */
const perAddress = 100
/** Of all unknown browsers together for one user, in an hour, and of all known ones. A code has 6 digits only, and who gets to it knows the password. */
const perUser = { password: 100, code: 20 } as const

interface Sender {
  /** The whole address; it is kept only as a hash with a random secret. */
  clientAddress: string
  /** The cookie of a browser that has signed in before. */
  browserCookie: string | undefined
}

export interface Attempt {
  /** 0, or the seconds until the next attempt may be made. Then this one must be refused unseen. */
  waitSeconds: number
  /** The user if the browser is one of theirs: nobody else waits before it (users/passwords.ts). */
  knownUser: string | undefined
  /** For an attempt that was right or was never judged. */
  giveBack(): void
  /** For an attempt that found too many waiting. It still counts for its address, so that a network cannot keep the queue full. */
  turnAway(): void
}

export interface Attempts {
  begin(what: 'password' | 'code', email: string, sender: Sender): Attempt
  /** An answer of the provider of single sign-on: only its sender is known. */
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

  function attemptOf(taken: readonly [Buckets<string>, key: string][], knownUser?: string): Attempt {
    const waitSeconds = Math.max(...taken.map(([bucket, key]) => bucket.take(key, 0)))
    if (waitSeconds === 0) for (const [bucket, key] of taken) bucket.take(key, 1)
    const giveBack = (from: typeof taken) => {
      for (const [bucket, key] of from) bucket.giveBack(key, 1)
    }
    return {
      waitSeconds,
      knownUser,
      giveBack: () => giveBack(taken),
      turnAway: () => giveBack(taken.filter(([bucket]) => bucket !== addresses)),
    }
  }

  return {
    begin(what, email, { clientAddress, browserCookie }) {
      const browser = knownBrowser(secrets, browserCookie, email)
      // A known browser shares nothing with others: nobody else can use it up, so the owner is never locked out.
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

/** For the cookie of a browser in which this user has signed in. */
export const browserCookieOf = (secrets: KeySecrets, email: string): string => {
  const id = newId('browser')
  return `${id}.${signed(secrets, 'known browser', `${id} ${email}`).split('.').at(-1)}`
}

/** The id of the browser if this user has signed in with it. */
function knownBrowser(secrets: KeySecrets, cookie: string | undefined, email: string): string | undefined {
  const [id, signature] = cookie?.split('.') ?? []
  return signedText(secrets, 'known browser', `${id} ${email}.${signature}`) && id
}
