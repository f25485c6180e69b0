// Delivers what waits for webhooks. Any number of processes may run it (deliveries.ts).
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { KeySecrets } from '../accounts/keys.ts'
import { unseal } from '../accounts/sealing.ts'
import type { AllStores } from '../cluster/stores.ts'
import { insist, repeatUntil } from '../process/repeating.ts'
import { noteInClickHouse } from '../rollups/ledger.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import {
  type ClaimedDelivery,
  claimDeliveries,
  type DeliveryState,
  handOver,
  noteOutcome,
  type Outcome,
  renewClaims,
  tidyDeliveries,
} from './deliveries.ts'
import { type Limits, post, type Result, standardLimits } from './post.ts'
import type { TargetRules } from './target.ts'

const pauseMs = 1_000
const renewMs = 10_000
const tidyMs = 5_000
/** Of a process. A receiver may take 15 seconds, and others must not wait for it. */
const maxRunning = 40
/** A claim is a statement and a row in ClickHouse, so it waits until this many can be claimed. */
const minClaimed = 10
/** What a receiver has not answered then is in doubt. */
const maxDrainMs = 5_000
/** How long to try to record what became of a delivery while PostgreSQL is down. */
const noteForMs = 60_000
/** The answer of a receiver that wants no more messages. */
const gone = 410

export interface WebhookOptions {
  secrets: KeySecrets
  rules: TargetRules
  log: Logger
  /** After each attempt. */
  onAttempt?(state: DeliveryState): void
  limits?: Limits
}

export interface WebhookLoop {
  /** Waits some seconds for answers. */
  stop(): Promise<void>
}

export function startWebhooks(stores: AllStores, options: WebhookOptions): WebhookLoop {
  const ending = new AbortController()
  const { signal } = ending
  const sender = randomUUID()
  const { postgres } = stores
  const clickhouse = stores.cluster.shards[0] as ClickHouse
  const { log, secrets, rules, limits = standardLimits } = options
  const running = new Set<Promise<void>>()

  async function deliverDue(): Promise<void> {
    while (!signal.aborted) {
      while (running.size > maxRunning - minClaimed) await Promise.race(running)
      const limit = maxRunning - running.size
      const claimed = await claimDeliveries(postgres, sender, { shard: clickhouse.shard, limit })
      if (claimed.length === 0) return
      try {
        await noteInClickHouse({ postgres, clickhouse })
      } catch (error) {
        for (const delivery of claimed) await noteOutcome(postgres, sender, delivery, { state: 'returned' })
        throw error
      }
      for (const delivery of claimed) {
        const work = deliver(delivery).finally(() => running.delete(work))
        running.add(work)
      }
    }
  }

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    try {
      const outcome = await attempt(delivery)
      const state = await insist(noteForMs, () => noteOutcome(postgres, sender, delivery, outcome))
      if (outcome.state === 'returned' || !state) return
      options.onAttempt?.(state)
      if (state !== 'delivered') {
        const problem = 'problem' in outcome ? outcome.problem : ''
        log.info({ delivery: delivery.id, state, problem }, 'a webhook did not take a message')
      }
    } catch (err) {
      // Its claim ends, and then another process finds out what is left of it.
      log.error({ err, delivery: delivery.id }, 'what became of a delivery cannot be recorded')
    }
  }

  async function attempt(delivery: ClaimedDelivery): Promise<Outcome> {
    const began = performance.now()
    const { url, messageId, body } = delivery
    const secret = unseal(secrets, 'webhook', delivery.webhookId, delivery.secret)
    if (secret === undefined) {
      const problem = 'the secret of the webhook cannot be read, because KEY_SECRETS has changed; rotate it'
      return { state: 'postponed', status: null, durationMs: 0, problem }
    }
    const hand = () => handOver(postgres, sender, delivery)
    const result = await post({ url, messageId, body, secret }, rules, limits, hand, signal)
    return outcomeOf(result, performance.now() - began)
  }

  log.info({ sender }, 'delivering to webhooks')
  const every = (everyMs: number, failure: string, work: () => Promise<unknown>): Promise<void> =>
    repeatUntil(signal, { everyMs, log, failure }, work)
  const loops = [
    every(tidyMs, 'deliveries to webhooks cannot be tidied', () => tidyDeliveries(postgres)),
    every(pauseMs, 'webhooks cannot be called', deliverDue),
    every(renewMs, 'claims of deliveries cannot be renewed', () => renewClaims(postgres, sender)),
  ]

  return {
    async stop() {
      ending.abort()
      const rest = Promise.all(loops).then(() => Promise.all(running))
      await Promise.race([rest, sleep(maxDrainMs, undefined, { ref: false })])
    },
  }
}

function outcomeOf(result: Result, durationMs: number): Outcome {
  switch (result.result) {
    case 'withdrawn':
    case 'aborted':
      return { state: 'returned' }
    case 'not sent':
      return { state: 'postponed', status: null, durationMs, problem: result.problem }
    case 'unknown':
      return { state: 'in doubt', durationMs, problem: result.problem }
    case 'answered': {
      const { status, problem } = result
      if (!problem) return { state: 'delivered', status, durationMs }
      return { state: status === gone ? 'failed' : 'postponed', status, durationMs, problem }
    }
  }
}
