// Sends what is in the outbox. Any number of processes may run it (outbox.ts).
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { AllStores } from '../cluster/stores.ts'
import { insist, repeatUntil } from '../process/repeating.ts'
import { noteInClickHouse } from '../rollups/ledger.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import type { Letter } from './letter.ts'
import {
  type Claimed,
  type ClaimedMessage,
  claimMessages,
  handOver,
  letterOf,
  noteOutcome,
  type Outbox,
  type Outcome,
  renewClaims,
  tidyOutbox,
} from './outbox.ts'
import { connectToMailServer, type Delivery, type MailSettings, problemOf, type SmtpConnection } from './smtp.ts'

const pauseMs = 2_000
const renewMs = 10_000
const tidyMs = 5_000
/**
 * Connections of a process to the mail server. One leaves reports to the others: nobody waits for a new password until the reports of a Monday
 * morning are sent (10,000 of them take minutes).
 */
const lanes: readonly Claimed[] = ['no reports', 'everything', 'everything', 'everything', 'everything']
/** Messages that a connection claims at once. */
const atOnce = 10
/** A mail server may take minutes to answer. What it has then is in doubt. */
const maxDrainMs = 5_000
/** How long to try to record what became of a message while PostgreSQL is down. */
const noteForMs = 60_000

/** A report, written with the numbers of now. */
export interface WrittenReport {
  letter: Letter
  headers: Readonly<Record<string, string>>
}

export interface MailOptions {
  settings: MailSettings
  outbox: Outbox
  log: Logger
  /** What becomes due by itself. */
  due: readonly { what: string; everyMs: number; queue(signal: AbortSignal): Promise<unknown> }[]
  /** Undefined: nobody wants it any more. */
  writeReport(message: ClaimedMessage, signal: AbortSignal): Promise<WrittenReport | undefined>
}

export interface MailLoop {
  /** Waits some seconds for messages that are being sent. */
  stop(): Promise<void>
}

export function startMail(stores: AllStores, options: MailOptions): MailLoop {
  const ending = new AbortController()
  const { signal } = ending
  const sender = randomUUID()
  const { postgres } = stores
  const clickhouse = stores.cluster.shards[0] as ClickHouse
  const { log } = options

  const repeat = (everyMs: number, failure: string, work: () => Promise<unknown>): Promise<void> =>
    repeatUntil(signal, { everyMs, log, failure }, work)

  /** Sends until nothing is due. The mail server is asked only if there is something to send. */
  async function sendDue(what: Claimed): Promise<void> {
    while (!signal.aborted) {
      const messages = await claimMessages(postgres, sender, { shard: clickhouse.shard, limit: atOnce, what })
      if (messages.length === 0) return
      const left = new Set<ClaimedMessage>(messages)
      try {
        await noteInClickHouse({ postgres, clickhouse })
        await sendAll(messages, (message) => left.delete(message))
      } finally {
        for (const message of left) await noteOutcome(postgres, sender, message, { state: 'returned' }).catch(() => {})
      }
    }
  }

  async function sendAll(messages: readonly ClaimedMessage[], done: (message: ClaimedMessage) => void): Promise<void> {
    let connection: SmtpConnection | undefined
    try {
      for (const message of messages) {
        if (signal.aborted) return
        try {
          if (!connection?.isOpen()) connection = await connectToMailServer(options.settings)
        } catch (error) {
          log.warn({ err: error }, 'the mail server cannot be used')
          const problem = `the mail server cannot be used: ${problemOf(error as Error)}`
          for (const one of messages.slice(messages.indexOf(message))) {
            await note(one, { state: 'postponed', problem })
            done(one)
          }
          return
        }
        const outcome = await send(connection, message)
        if (outcome) await note(message, outcome)
        done(message)
      }
    } finally {
      connection?.close()
    }
  }

  /** Undefined: another process has the message by now. */
  async function send(connection: SmtpConnection, message: ClaimedMessage): Promise<Outcome | undefined> {
    const { id, recipient: to } = message
    const written = await write(message)
    if ('state' in written) return written
    const delivery = await connection.send({ id, to, ...written }, () => handOver(postgres, sender, message))
    return delivery.result === 'withdrawn' ? undefined : outcomeOf(delivery)
  }

  async function write(
    message: ClaimedMessage,
  ): Promise<{ letter: Letter; headers?: Readonly<Record<string, string>> } | Outcome> {
    if (message.kind !== 'report') {
      const letter = letterOf(options.outbox, message)
      return letter
        ? { letter }
        : { state: 'failed', problem: 'it is encrypted with a secret that is no longer in KEY_SECRETS' }
    }
    try {
      const report = await options.writeReport(message, signal)
      return report ?? { state: 'failed', problem: 'the report is not wanted any more' }
    } catch (error) {
      if (signal.aborted) return { state: 'returned' }
      log.warn({ err: error, message: message.id }, 'a report cannot be written')
      return { state: 'postponed', problem: `its numbers cannot be read: ${problemOf(error as Error)}` }
    }
  }

  /** What the mail server has answered must not be lost while PostgreSQL restarts. */
  async function note(message: ClaimedMessage, outcome: Outcome): Promise<void> {
    if (outcome.state === 'failed' || outcome.state === 'in doubt') {
      log.warn({ message: message.id, kind: message.kind, problem: outcome.problem }, `a message is ${outcome.state}`)
    }
    await insist(noteForMs, () => noteOutcome(postgres, sender, message, outcome))
  }

  log.info({ sender }, 'sending mail')
  const working = [
    repeat(tidyMs, 'the outbox cannot be tidied', () => tidyOutbox(postgres)),
    ...options.due.map(({ what, everyMs, queue }) => repeat(everyMs, `${what} cannot be queued`, () => queue(signal))),
    ...lanes.map((what) => repeat(pauseMs, 'mail cannot be sent', () => sendDue(what))),
  ]
  const renewing = repeat(renewMs, 'claims of messages cannot be renewed', () => renewClaims(postgres, sender))

  return {
    async stop() {
      ending.abort()
      await Promise.race([Promise.all([...working, renewing]), sleep(maxDrainMs, undefined, { ref: false })])
    },
  }
}

const outcomeOf = (delivery: Exclude<Delivery, { result: 'withdrawn' }>): Outcome => {
  switch (delivery.result) {
    case 'accepted':
      return { state: 'sent' }
    case 'refused':
      return { state: 'failed', problem: delivery.problem }
    case 'postponed':
      return { state: 'postponed', problem: delivery.problem }
    case 'unknown':
      return { state: 'in doubt', problem: delivery.problem }
  }
}
