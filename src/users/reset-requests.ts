// Requests of people who have forgotten their password: they type their address and get a mail with a link (decision D-223). Anybody can
// type any address, so a request changes nothing, and nobody learns whether the address has a user. The answer does not wait for the work,
// and the work begins at a random moment: neither its own time nor that of the next answer tells anything.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { hourSeconds } from '../durations.ts'
import { mayQueue } from '../mail/limits.ts'
import { type Outbox, queueMessage } from '../mail/outbox.ts'
import { createNetworkBuckets } from '../process/network-buckets.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { recordOfUser } from './audit-log.ts'
import { noPasswordLetter, resetLetter } from './letters.ts'
import { membershipsOf } from './members.ts'
import { createLink, lifetimes } from './one-time-links.ts'
import { PasswordsBusy } from './password-queue.ts'
import { findUser } from './users.ts'

/** Max requests of one address in an hour: an office shares an address. Wider IPv6 networks have a multiple of it. */
const perAddress = 20
/** Worked off in about 15 seconds. They wait in one line, because each opens a connection to PostgreSQL. */
const maxWaiting = 100
const pauseMs = { least: 50, most: 250 }

interface ResetRequest {
  /** As `emailOf` returns it. */
  email: string
  /** Truncated. */
  address: string
  /** The whole address, for the limit only. */
  clientAddress: string
}

export interface ResetRequests {
  /** Returns 0, or the seconds until the network may ask again. Throws PasswordsBusy if too many wait. */
  take(request: ResetRequest): number
  /** Waits for the requests that were taken. */
  close(): Promise<void>
}

/** Without an outbox there is no form, and nothing is taken. */
export function createResetRequests(postgres: Postgres, outbox: Outbox | undefined, log: Logger): ResetRequests {
  const networks = createNetworkBuckets({ perSecond: perAddress / hourSeconds, burstSeconds: hourSeconds })
  let waiting = 0
  let last = Promise.resolve()

  async function work(request: ResetRequest): Promise<void> {
    await sleep(pauseMs.least + Math.random() * (pauseMs.most - pauseMs.least))
    try {
      if (outbox) await mailResetLink(postgres, outbox, request)
    } catch (error) {
      log.error({ err: error }, 'a mail to set a new password could not be queued')
    }
    waiting--
  }

  return {
    take(request) {
      if (waiting >= maxWaiting) throw new PasswordsBusy('Too many requests for a new password wait')
      const waitSeconds = networks.take(request.clientAddress, 1)
      if (waitSeconds > 0) return waitSeconds
      waiting++
      last = last.then(() => work(request))
      return 0
    },
    close: () => last,
  }
}

/** Earlier links stay valid: otherwise a stranger could end the one that an operator has made. */
const mailResetLink = (postgres: Postgres, outbox: Outbox, { email, address }: ResetRequest): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    const user = await findUser(transaction, email)
    if (!user) return
    const [membership] = await membershipsOf(transaction, user.id)
    const message = { kind: 'reset', recipient: email, accountId: membership?.accountId ?? null } as const
    if (!(await mayQueue(transaction, { kinds: [message.kind], ...message }))) return
    await recordOfUser(transaction, { actor: 'somebody', address }, user, 'user.reset_requested')
    if (!user.hasPassword) {
      await queueMessage(transaction, outbox, { ...message, letter: noPasswordLetter(outbox, email) })
      return
    }
    const token = await createLink(transaction, { purpose: 'reset', userId: user.id })
    const letter = resetLetter(outbox, email, token)
    await queueMessage(transaction, outbox, { ...message, letter, expiresIn: lifetimes.reset })
  })
