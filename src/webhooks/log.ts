// The log of a webhook, and what people send from it: a test, and a message once more.
import { derivedId } from '../accounts/ids.ts'
import { InvalidSetting } from '../accounts/site-rules.ts'
import type { Postgres } from '../stores/postgres.ts'
import { bodyOf, type DeliveryState } from './deliveries.ts'

export interface LoggedDelivery {
  id: string
  replayOf: string | null
  type: string
  body: string
  state: DeliveryState
  attempts: number
  nextAttemptAt: Date
  httpStatus: number | null
  durationMs: number | null
  problem: string
  createdAt: Date
}

/** Newest first. `before` is the id of the last delivery of the previous page. */
export const deliveriesOf = (
  postgres: Postgres,
  webhookId: string,
  { before = null, limit }: { before?: string | null; limit: number },
): Promise<LoggedDelivery[]> => postgres<LoggedDelivery[]>`
  SELECT id, replay_of AS "replayOf", type, body, state, attempts, next_attempt_at AS "nextAttemptAt", http_status AS "httpStatus",
    duration_ms AS "durationMs", problem, created_at AS "createdAt"
  FROM webhook_deliveries
  WHERE webhook_id = ${webhookId} AND (
    ${before}::text IS NULL
    OR (created_at, id) < (SELECT created_at, id FROM webhook_deliveries WHERE webhook_id = ${webhookId} AND id = ${before})
  )
  ORDER BY created_at DESC, id DESC LIMIT ${limit}`

/** The last delivery of each webhook of the site. */
export async function lastDeliveries(
  postgres: Postgres,
  siteId: string,
): Promise<Map<string, Pick<LoggedDelivery, 'state' | 'createdAt'>>> {
  const rows = await postgres<(Pick<LoggedDelivery, 'state' | 'createdAt'> & { webhookId: string })[]>`
    SELECT webhooks.id AS "webhookId", state, last.created_at AS "createdAt"
    FROM webhooks, LATERAL (
      SELECT state, created_at FROM webhook_deliveries WHERE webhook_id = webhooks.id ORDER BY created_at DESC LIMIT 1
    ) AS last
    WHERE site_id = ${siteId}`
  return new Map(rows.map((row) => [row.webhookId, row]))
}

/** Tests and replays of a webhook in an hour: Footfall must be no tool to flood a receiver with. */
const maxByHand = 30
const testType = 'webhook.test'

/** Of the form: the same form sends nothing twice. */
interface ByHand {
  webhookId: string
  nonce: string
}

/** Call it in a transaction. False: the form was sent before. */
export const sendTest = (transaction: Postgres, { webhookId, nonce }: ByHand, domain: string): Promise<boolean> =>
  sendByHand(transaction, { webhookId, nonce }, (id) => {
    const body = bodyOf(testType, { site: domain })
    return transaction`
      INSERT INTO webhook_deliveries (id, webhook_id, type, body) VALUES (${id}, ${webhookId}, ${testType}, ${body})`
  })

/** The same message once more. Receivers know it by the id of its first delivery. Throws if Footfall is not done with it by itself. */
export const replayDelivery = (
  transaction: Postgres,
  { webhookId, nonce }: ByHand,
  replayed: string,
): Promise<boolean> =>
  sendByHand(transaction, { webhookId, nonce }, async (id) => {
    const { count } = await transaction`
      INSERT INTO webhook_deliveries (id, webhook_id, replay_of, type, body)
      SELECT ${id}, webhook_id, coalesce(replay_of, id), type, body FROM webhook_deliveries
      WHERE id = ${replayed} AND webhook_id = ${webhookId} AND state NOT IN ('waiting', 'sending')`
    if (count === 0)
      throw new InvalidSetting(
        'This message cannot be replayed.',
        'Wait until Footfall does not try it again by itself. After 30 days it is gone.',
      )
  })

async function sendByHand(
  transaction: Postgres,
  { webhookId, nonce }: ByHand,
  insert: (id: string) => PromiseLike<unknown>,
): Promise<boolean> {
  const id = derivedId('whd', `${webhookId} ${nonce}`)
  // Locked, so that a form that is sent twice at the same time counts once.
  const [webhook] = await transaction<[{ isSent: boolean; isDisabled: boolean; byHand: number }?]>`
    SELECT disabled_at IS NOT NULL AS "isDisabled",
      EXISTS (SELECT FROM webhook_deliveries WHERE id = ${id}) AS "isSent",
      (
        SELECT count(*)::int FROM webhook_deliveries
        WHERE webhook_id = webhooks.id AND (replay_of IS NOT NULL OR type = ${testType}) AND created_at > now() - interval '1 hour'
      ) AS "byHand"
    FROM webhooks WHERE id = ${webhookId} FOR UPDATE`
  if (!webhook) throw new InvalidSetting('The webhook was deleted.', 'Choose another one.')
  if (webhook.isSent) return false
  if (webhook.isDisabled) throw new InvalidSetting('The webhook is disabled.', 'Enable it first.')
  if (webhook.byHand >= maxByHand)
    throw new InvalidSetting(`A webhook gets at most ${maxByHand} tests and replays in an hour.`, 'Try again later.')
  await insert(id)
  return true
}
