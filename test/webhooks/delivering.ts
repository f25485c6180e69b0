// Webhooks of a site, a real receiver and processes that deliver, for tests of what becomes of a message.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createSite } from '../../src/accounts/sites.ts'
import { createLog } from '../../src/process/log.ts'
import { networksOf } from '../../src/process/networks.ts'
import { inTransaction } from '../../src/stores/postgres.ts'
import { type DeliveryState, queueWebhooks } from '../../src/webhooks/deliveries.ts'
import { type LoggedDelivery, replayDelivery } from '../../src/webhooks/log.ts'
import { startWebhooks, type WebhookLoop, type WebhookOptions } from '../../src/webhooks/sender.ts'
import { type CreatedWebhook, createWebhook } from '../../src/webhooks/webhooks.ts'
import { eventually } from '../support/eventually.ts'
import { connect, createStores, disconnect, keySecrets, type Stores } from '../support/stores.ts'
import { type Receiver, startReceiver } from './receiver.ts'

const log = createLog('silent')

export const newNonce = (): string => randomBytes(16).toString('base64url')

/** Long enough for a busy machine, short enough for a test of what comes after. */
const limits = { connectMs: 1_500, answerMs: 1_500 }

/** Only this machine, as an operator allows it. */
export const rules: WebhookOptions['rules'] = {
  resolve: async () => ['127.0.0.1'],
  isAllowed: networksOf(['127.0.0.1']),
}

type Row = LoggedDelivery & { failures: number; waits: number }

export interface Delivering {
  stores: Stores
  receiver: Receiver
  siteId: string
  webhook: CreatedWebhook
  /** Starts a process that delivers. */
  start(more?: Partial<WebhookOptions>): WebhookLoop
  addWebhook(url: string, siteId?: string): Promise<CreatedWebhook>
  addSite(): Promise<string>
  /** A message to all webhooks of the site; returns the first id. */
  queue(data?: unknown): Promise<string>
  replay(id: string, nonce?: string): Promise<string>
  rowOf(id: string): Promise<Row>
  inState(id: string, state: DeliveryState): Promise<Row>
  failed(id: string, times: number): Promise<Row>
  /** Ends the pause after a failure. */
  dueNow(id: string): Promise<unknown>
  /** Between two tests. */
  clear(): Promise<void>
  close(): Promise<void>
}

export async function openDelivering(): Promise<Delivering> {
  const created = await createStores()
  const stores = connect(created.addresses)
  const { postgres } = stores
  const receiver = await startReceiver()
  const accountId = await createAccount(postgres, { name: 'Main', plan: 'Growth' })
  const addSite = () => createSite(postgres, { accountId, domain: `${randomBytes(8).toString('hex')}.example` })
  const siteId = await addSite()

  const addWebhook = async (url: string, ofSite = siteId): Promise<CreatedWebhook> => {
    const webhook = { siteId: ofSite, url, createdBy: 'maria@example.com', nonce: newNonce() }
    const made = await inTransaction(postgres, (transaction) => createWebhook(transaction, keySecrets, webhook))
    return made as CreatedWebhook
  }
  const webhook = await addWebhook(receiver.url)

  async function rowOf(id: string): Promise<Row> {
    const [row] = await postgres<Row[]>`
      SELECT id, state, problem, attempts, failures, http_status AS "httpStatus", duration_ms AS "durationMs", replay_of AS "replayOf", body,
        extract(epoch FROM next_attempt_at - changed_at)::int AS waits
      FROM webhook_deliveries WHERE id = ${id}`
    assert.ok(row)
    return row
  }

  return {
    stores,
    receiver,
    siteId,
    webhook,
    addSite,
    addWebhook,
    start: (more = {}) => startWebhooks(stores, { secrets: keySecrets, rules, log, limits, ...more }),
    async queue(data = { visitors: 120 }) {
      const message = { siteId, type: 'alert.began', data }
      const [id] = await inTransaction(postgres, (transaction) => queueWebhooks(transaction, message))
      return id as string
    },
    async replay(id, nonce = newNonce()) {
      await inTransaction(postgres, (transaction) => replayDelivery(transaction, { webhookId: webhook.id, nonce }, id))
      const [row] = await postgres<{ id: string }[]>`
        SELECT id FROM webhook_deliveries WHERE replay_of IS NOT NULL ORDER BY created_at DESC LIMIT 1`
      return row?.id as string
    },
    rowOf,
    inState: (id, state) =>
      eventually(async () => {
        const row = await rowOf(id)
        assert.equal(row.state, state, row.problem)
        return row
      }),
    failed: (id, times) =>
      eventually(async () => {
        const row = await rowOf(id)
        assert.equal(row.failures, times)
        return row
      }),
    dueNow: (id) => postgres`UPDATE webhook_deliveries SET next_attempt_at = now() WHERE id = ${id}`,
    async clear() {
      await postgres`DELETE FROM webhooks WHERE id <> ${webhook.id}`
      await postgres`DELETE FROM webhook_deliveries`
      await postgres`UPDATE webhooks SET url = ${receiver.url}, disabled_at = NULL`
      receiver.received.length = 0
      receiver.react((response) => response.writeHead(204).end())
    },
    async close() {
      await receiver.close()
      await disconnect(stores)
      await created.remove()
    },
  }
}
