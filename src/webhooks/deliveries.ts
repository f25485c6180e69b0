// Deliveries: every message to a webhook is a row in PostgreSQL, written in the transaction that causes it, and any number of processes
// deliver them (decision D-239). As in the outbox of mail, a process claims rows and renews its claim, and the row says that the request is
// handed over just before it is sent: from then on nobody sends it again by himself, unless the receiver has answered that it did not take it.
import { newId } from '../accounts/ids.ts'
import type { Postgres } from '../stores/postgres.ts'
import { maxWebhooks } from './webhooks.ts'

const claimLasts = '30 seconds'
/** How long the log has a delivery. */
const remembered = '30 days'
/** After each failure; a day after the first attempt a delivery has failed. */
export const retryMinutes = [1, 5, 30, 2 * 60, 6 * 60, 15 * 60] as const

export type DeliveryState = 'waiting' | 'sending' | 'delivered' | 'failed' | 'in doubt'

export interface NewMessage {
  siteId: string
  /** Such as `alert.began`. */
  type: string
  /** Becomes JSON. */
  data: unknown
  /** Why it may have been sent before. It is then only in the log, and sent if somebody replays it. */
  doubt?: string | undefined
}

/** Call it in the transaction that the message is about. Returns one id for each enabled webhook of the site. */
export async function queueWebhooks(
  transaction: Postgres,
  { siteId, type, data, doubt }: NewMessage,
): Promise<string[]> {
  const ids = Array.from({ length: maxWebhooks }, () => newId('whd'))
  // Locked, so that a webhook that is deleted at this moment does not break the transaction.
  const rows = await transaction<{ id: string }[]>`
    INSERT INTO webhook_deliveries (id, webhook_id, type, body, state, problem)
    SELECT (${ids}::text[])[row_number() OVER ()], id, ${type}, ${bodyOf(type, data)}, ${doubt ? 'in doubt' : 'waiting'}, ${doubt ?? ''}
    FROM (SELECT id FROM webhooks WHERE site_id = ${siteId} AND disabled_at IS NULL LIMIT ${maxWebhooks} FOR KEY SHARE) AS enabled
    RETURNING id`
  return rows.map(({ id }) => id)
}

/** The exact bytes that are signed and sent. */
export const bodyOf = (type: string, data: unknown): string =>
  JSON.stringify({ type, timestamp: new Date().toISOString(), data })

/** A delivery that this process makes. `attempt` tells it apart from an earlier claim of the same delivery. */
export interface ClaimedDelivery {
  id: string
  /** The same for all deliveries of a message. */
  messageId: string
  attempt: number
  body: string
  webhookId: string
  url: string
  secret: Buffer
}

/**
 * Claims deliveries whose time has come, of each webhook the next one: a receiver that is slow delays no other. It counts the
 * claim in the ledger. Call `noteInClickHouse` before anything is sent: if PostgreSQL is then restored to a moment before this claim,
 * that is noticed, and nothing is sent a second time (rollups/ledger.ts).
 */
export const claimDeliveries = (
  postgres: Postgres,
  sender: string,
  { shard, limit }: { shard: number; limit: number },
) =>
  postgres<ClaimedDelivery[]>`
    WITH next AS (
      SELECT DISTINCT ON (webhook_id) waiting.id, next_attempt_at
      FROM webhook_deliveries AS waiting JOIN webhooks ON webhooks.id = webhook_id
      WHERE state = 'waiting' AND next_attempt_at <= now() AND waiting.created_at >= (SELECT began_at FROM ledger)
        AND disabled_at IS NULL
        AND NOT EXISTS (SELECT FROM webhook_deliveries AS busy WHERE busy.state = 'sending' AND busy.webhook_id = waiting.webhook_id)
      ORDER BY webhook_id, next_attempt_at
    ), due AS (
      SELECT id FROM webhook_deliveries
      WHERE state = 'waiting' AND id IN (SELECT id FROM next ORDER BY next_attempt_at LIMIT ${limit})
      FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE webhook_deliveries
      SET state = 'sending', sender = ${sender}::text::uuid, attempts = attempts + 1, handed_over_at = NULL, changed_at = now(),
          claimed_until = now() + ${claimLasts}::text::interval
      FROM due WHERE webhook_deliveries.id = due.id
      RETURNING webhook_deliveries.*
    )
    SELECT claimed.id, coalesce(replay_of, claimed.id) AS "messageId", attempts AS attempt, body, webhook_id AS "webhookId", url, secret
    FROM claimed JOIN webhooks ON webhooks.id = webhook_id,
      (SELECT count_change(ARRAY[${shard}::int::smallint]) FROM claimed LIMIT 1) AS counted`

export const renewClaims = (postgres: Postgres, sender: string) => postgres`
  UPDATE webhook_deliveries SET claimed_until = now() + ${claimLasts}::text::interval
  WHERE state = 'sending' AND sender = ${sender}::text::uuid AND claimed_until > now()`

/** What is left of processes that died, of an older installation, and of messages that nobody wants any more. */
export async function tidyDeliveries(postgres: Postgres): Promise<void> {
  await postgres`
    UPDATE webhook_deliveries
    SET state = CASE WHEN handed_over_at IS NULL THEN 'waiting' ELSE 'in doubt' END,
        problem = CASE WHEN handed_over_at IS NULL THEN 'the process that was about to send it ended' ELSE 'the process that sent it ended before the receiver answered' END,
        changed_at = now()
    WHERE state = 'sending' AND claimed_until <= now()`
  await postgres`
    UPDATE webhook_deliveries
    SET state = 'in doubt', problem = 'it was queued before the database was restored, and may have been sent since', changed_at = now()
    WHERE state = 'waiting' AND created_at < (SELECT began_at FROM ledger)`
  await postgres`
    UPDATE webhook_deliveries SET state = 'failed', problem = 'the webhook was disabled', changed_at = now()
    FROM webhooks WHERE webhooks.id = webhook_id AND disabled_at IS NOT NULL AND state = 'waiting'`
  await postgres`
    DELETE FROM webhook_deliveries
    WHERE state IN ('delivered', 'failed', 'in doubt') AND created_at < now() - ${remembered}::text::interval`
}

/** Records that the request is sent next. False: another process has the delivery by now, or the webhook was disabled. */
export async function handOver(postgres: Postgres, sender: string, { id, attempt }: ClaimedDelivery): Promise<boolean> {
  const { count } = await postgres`
    UPDATE webhook_deliveries SET handed_over_at = now(), claimed_until = now() + ${claimLasts}::text::interval
    FROM webhooks WHERE webhooks.id = webhook_id AND disabled_at IS NULL
      AND webhook_deliveries.id = ${id} AND state = 'sending' AND sender = ${sender}::text::uuid AND attempts = ${attempt} AND claimed_until > now()`
  return count > 0
}

export type Outcome =
  | { state: 'delivered'; status: number; durationMs: number }
  /** The receiver does not want it, ever. */
  | { state: 'failed'; status: number; durationMs: number; problem: string }
  /** The receiver may or may not have it. */
  | { state: 'in doubt'; problem: string; durationMs: number }
  /** The receiver does not have it, or said that it did not take it; tried again later. */
  | { state: 'postponed'; status: number | null; durationMs: number; problem: string }
  /** Not tried. */
  | { state: 'returned' }

/** Returns the new state. Undefined: another claim of the same delivery, which is left alone. */
export async function noteOutcome(
  postgres: Postgres,
  sender: string,
  { id, attempt }: Pick<ClaimedDelivery, 'id' | 'attempt'>,
  outcome: Outcome,
): Promise<DeliveryState | undefined> {
  const isMine = postgres`id = ${id} AND state = 'sending' AND sender = ${sender}::text::uuid AND attempts = ${attempt}`
  const noted = (rows: { state: DeliveryState }[]) => rows[0]?.state
  if (outcome.state === 'returned') {
    return noted(
      await postgres`
      UPDATE webhook_deliveries
      SET state = CASE WHEN handed_over_at IS NULL THEN 'waiting' ELSE 'in doubt' END,
          problem = CASE WHEN handed_over_at IS NULL THEN problem ELSE 'what the receiver answered could not be recorded' END,
          changed_at = now()
      WHERE ${isMine} RETURNING state`,
    )
  }
  const status = 'status' in outcome ? outcome.status : null
  const measured = postgres`http_status = ${status}, duration_ms = ${Math.round(outcome.durationMs)}, changed_at = now()`
  if (outcome.state === 'delivered') {
    return noted(
      await postgres`
      UPDATE webhook_deliveries SET state = 'delivered', problem = '', ${measured}
      WHERE id = ${id} AND attempts = ${attempt} AND state IN ('sending', 'in doubt', 'waiting') RETURNING state`,
    )
  }
  if (outcome.state === 'postponed') {
    return noted(
      await postgres`
      UPDATE webhook_deliveries
      SET state = CASE WHEN failures < ${retryMinutes.length} THEN 'waiting' ELSE 'failed' END, failures = failures + 1,
          next_attempt_at = now() + coalesce((${[...retryMinutes].map(String)}::text[])[failures + 1], '0')::int * interval '1 minute',
          problem = ${outcome.problem}, ${measured}
      WHERE ${isMine} RETURNING state`,
    )
  }
  return noted(
    await postgres`
    UPDATE webhook_deliveries SET state = ${outcome.state}, problem = ${outcome.problem}, ${measured}
    WHERE ${isMine} RETURNING state`,
  )
}
