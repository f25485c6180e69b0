// The outbox: every message is a row in PostgreSQL, written in the transaction that causes it (decision D-221). Any number of processes send:
// a process claims messages and renews its claim while it works. Just before the end of a message is sent, its row says that it is handed
// over. If the process dies before that, the message is sent again; after that, nobody knows whether the mail server has it.
import { newId } from '../accounts/ids.ts'
import type { KeySecrets } from '../accounts/keys.ts'
import { seal, unseal } from '../accounts/sealing.ts'
import type { Postgres } from '../stores/postgres.ts'
import { type Kind, repeatableKinds, retryMinutes } from './kinds.ts'
import type { Letter } from './letter.ts'

/** What a change needs to send mail about itself. Undefined where no mail server is configured. */
export interface Outbox {
  secrets: KeySecrets
  /** The base of every link. */
  publicUrl: string
}

const claimLasts = '30 seconds'
/** How long the outbox says what became of a message. */
const remembered = '30 days'

export const messageStates = ['waiting', 'sending', 'sent', 'failed', 'in doubt'] as const
export type MessageState = (typeof messageStates)[number]

export interface NewMessage {
  kind: Exclude<Kind, 'report'>
  recipient: string
  /** For the limits of an account; null if it concerns none. */
  accountId: string | null
  letter: Letter
  /** For a message with a link: how long the link works, as an interval of PostgreSQL. */
  expiresIn?: string
  /** Why it may have been sent before. It is then listed, and sent only if an operator says so. */
  doubt?: string | undefined
}

/** Call it in the transaction of the change that the message is about. Returns its id. */
export async function queueMessage(
  transaction: Postgres,
  { secrets }: Pick<Outbox, 'secrets'>,
  { kind, recipient, accountId, letter, expiresIn, doubt }: NewMessage,
): Promise<string> {
  const id = newId('mail')
  const content = seal(secrets, 'outbox', id, JSON.stringify(letter))
  await transaction`
    INSERT INTO outbox (id, kind, recipient, account_id, content, expires_at, state, problem)
    VALUES (${id}, ${kind}, ${recipient}, ${accountId}, ${content}, now() + ${expiresIn ?? null}::text::interval,
            ${doubt ? 'in doubt' : 'waiting'}, ${doubt ?? ''})`
  return id
}

/** A message that this process sends. `attempt` tells it apart from an earlier claim of the same message. */
export interface ClaimedMessage {
  id: string
  kind: Kind
  recipient: string
  attempt: number
  content: Buffer | null
  subscriptionId: string | null
  /** `YYYY-MM-DD` */
  period: string | null
  dueAt: Date
}

/** What a connection to the mail server sends: everything, or all but reports, of which thousands may be due at once. */
export type Claimed = 'everything' | 'no reports'

/**
 * Claims messages whose time has come. Counts the claim in the ledger: call `noteInClickHouse` for the shard before anything is sent, so that
 * a PostgreSQL that is restored from before this claim is recognised as older, and sends nothing a second time (rollups/ledger.ts).
 */
export const claimMessages = (
  postgres: Postgres,
  sender: string,
  { shard, limit, what }: { shard: number; limit: number; what: Claimed },
) =>
  postgres<ClaimedMessage[]>`
    WITH due AS (
      SELECT id FROM outbox
      WHERE state = 'waiting' AND next_attempt_at <= now() AND queued_at >= (SELECT began_at FROM ledger)
        AND (expires_at IS NULL OR expires_at > now()) AND (${what === 'everything'} OR kind <> 'report')
      ORDER BY next_attempt_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE outbox
      SET state = 'sending', sender = ${sender}::text::uuid, attempts = attempts + 1, handed_over_at = NULL, changed_at = now(),
          claimed_until = now() + ${claimLasts}::text::interval
      FROM due WHERE outbox.id = due.id
      RETURNING outbox.*
    )
    SELECT id, kind, recipient, attempts AS attempt, content, subscription_id AS "subscriptionId", period::text, due_at AS "dueAt"
    FROM claimed, (SELECT count_change(ARRAY[${shard}::int::smallint]) FROM claimed LIMIT 1) AS counted`

export const renewClaims = (postgres: Postgres, sender: string) => postgres`
  UPDATE outbox SET claimed_until = now() + ${claimLasts}::text::interval
  WHERE state = 'sending' AND sender = ${sender}::text::uuid AND claimed_until > now()`

/** Of a message that a process had: the mail server has no copy of it, or a second one is harmless. */
const mayBeSent = (postgres: Postgres) => postgres`handed_over_at IS NULL OR kind = ANY (${[...repeatableKinds]})`

/** What is left of processes that died, of an older installation, and of messages that nobody needs. */
export async function tidyOutbox(postgres: Postgres): Promise<void> {
  await postgres`
    UPDATE outbox
    SET state = CASE WHEN ${mayBeSent(postgres)} THEN 'waiting' ELSE 'in doubt' END,
        problem = CASE WHEN handed_over_at IS NULL THEN 'the process that was about to send it ended' ELSE 'the process that sent it ended before the mail server answered' END,
        changed_at = now()
    WHERE state = 'sending' AND claimed_until <= now()`
  await postgres`
    UPDATE outbox SET state = 'in doubt', problem = 'it was queued before the database was restored, and may have been sent since', changed_at = now()
    WHERE state = 'waiting' AND queued_at < (SELECT began_at FROM ledger)`
  await postgres`
    UPDATE outbox SET state = 'failed', problem = 'its link does not work any more', content = NULL, changed_at = now()
    WHERE state = 'waiting' AND content IS NOT NULL AND expires_at <= now()`
  await postgres`UPDATE outbox SET content = NULL WHERE content IS NOT NULL AND state IN ('failed', 'in doubt') AND expires_at <= now()`
  await postgres`
    DELETE FROM outbox WHERE state IN ('sent', 'failed', 'in doubt') AND changed_at < now() - ${remembered}::text::interval`
}

/** Undefined: KEY_SECRETS does not have the secret any more. */
export function letterOf({ secrets }: Pick<Outbox, 'secrets'>, { id, content }: ClaimedMessage): Letter | undefined {
  const text = content && unseal(secrets, 'outbox', id, content)
  return text ? (JSON.parse(text) as Letter) : undefined
}

/** Records that the end of the message is sent next. False: another process has the message by now, so this one must not send it. */
export async function handOver(postgres: Postgres, sender: string, { id, attempt }: ClaimedMessage): Promise<boolean> {
  const { count } = await postgres`
    UPDATE outbox SET handed_over_at = now(), claimed_until = now() + ${claimLasts}::text::interval
    WHERE id = ${id} AND state = 'sending' AND sender = ${sender}::text::uuid AND attempts = ${attempt} AND claimed_until > now()`
  return count > 0
}

export type Outcome =
  | { state: 'sent' }
  /** The server refused it for good, or it cannot be written. */
  | { state: 'failed'; problem: string }
  /** The server may or may not have it. */
  | { state: 'in doubt'; problem: string }
  /** Not sent; tried again later. */
  | { state: 'postponed'; problem: string }
  /** Not tried; or tried, and what became of it could not be recorded. */
  | { state: 'returned' }

/** Another claim of the same message is left alone. */
export async function noteOutcome(
  postgres: Postgres,
  sender: string,
  message: Pick<ClaimedMessage, 'id' | 'kind' | 'attempt'>,
  outcome: Outcome,
): Promise<void> {
  const { id, attempt, kind } = message
  const isMine = postgres`id = ${id} AND state = 'sending' AND sender = ${sender}::text::uuid AND attempts = ${attempt}`
  if (outcome.state === 'sent') {
    await postgres`
      UPDATE outbox SET state = 'sent', content = NULL, problem = '', changed_at = now()
      WHERE id = ${id} AND attempts = ${attempt} AND state IN ('sending', 'in doubt', 'waiting')`
  } else if (outcome.state === 'returned') {
    await postgres`
      UPDATE outbox
      SET state = CASE WHEN ${mayBeSent(postgres)} THEN 'waiting' ELSE 'in doubt' END,
          problem = CASE WHEN handed_over_at IS NULL THEN problem ELSE 'what the mail server answered could not be recorded' END,
          changed_at = now()
      WHERE ${isMine}`
  } else if (outcome.state === 'postponed' || (outcome.state === 'in doubt' && repeatableKinds.includes(kind))) {
    await postgres`
      UPDATE outbox
      SET state = CASE WHEN failures < ${retryMinutes.length} THEN 'waiting' ELSE 'failed' END, failures = failures + 1,
          next_attempt_at = now() + coalesce((${[...retryMinutes].map(String)}::text[])[failures + 1], '0')::int * interval '1 minute',
          problem = ${outcome.problem}, changed_at = now()
      WHERE ${isMine}`
  } else {
    await postgres`
      UPDATE outbox SET state = ${outcome.state}, problem = ${outcome.problem}, changed_at = now() WHERE ${isMine}`
  }
}

export interface ListedMessage {
  id: string
  kind: Kind
  recipient: string
  state: MessageState
  period: string | null
  queuedAt: Date
  changedAt: Date
  nextAttemptAt: Date
  failures: number
  problem: string
}

/** Newest first. */
export const listMessages = (postgres: Postgres, states: readonly MessageState[], limit: number) =>
  postgres<ListedMessage[]>`
    SELECT id, kind, recipient, state, period::text, queued_at AS "queuedAt", changed_at AS "changedAt",
      next_attempt_at AS "nextAttemptAt", failures, problem
    FROM outbox WHERE state = ANY (${[...states]}) ORDER BY queued_at DESC, id LIMIT ${limit}`

/** Sends messages again that failed or are in doubt. Returns their ids; a message whose content is gone is left out. */
export async function retryMessages(postgres: Postgres, ids: readonly string[]): Promise<string[]> {
  const rows = await postgres<{ id: string }[]>`
    UPDATE outbox
    SET state = 'waiting', queued_at = now(), next_attempt_at = now(), failures = 0, handed_over_at = NULL, problem = '', changed_at = now()
    WHERE id = ANY (${[...ids]}) AND state IN ('failed', 'in doubt') AND (kind = 'report' OR content IS NOT NULL)
    RETURNING id`
  return rows.map(({ id }) => id)
}
