// Databases of a stage, and alerts in them.
import { randomUUID } from 'node:crypto'
import { createAccount } from '../../../src/accounts/accounts.ts'
import type { Condition } from '../../../src/alerts/alert.ts'
import { createAlert } from '../../../src/alerts/alerts.ts'
import type { Telling } from '../../../src/alerts/telling.ts'
import { inTransaction, type Postgres } from '../../../src/stores/postgres.ts'
import { addMember } from '../../../src/users/members.ts'
import { createUser } from '../../../src/users/users.ts'
import { createWebhook } from '../../../src/webhooks/webhooks.ts'
import { connect, createStores, disconnect, keySecrets, type Stores } from '../../support/stores.ts'
import type { Check } from '../runner.ts'

const publicUrl = 'https://stats.example'
export const telling: Telling = { outbox: { secrets: keySecrets, publicUrl }, publicUrl }

export interface OwnStores extends Stores {
  accountId: string
}

/** With an account that has one owner. */
export async function openOwnStores(check: Check): Promise<OwnStores> {
  const { addresses, remove } = await createStores({})
  check.onEnd(remove)
  const stores = connect(addresses)
  check.onEnd(() => disconnect(stores))
  const { postgres } = stores
  const accountId = await createAccount(postgres, { name: 'Watched', plan: 'Agency' })
  await addMember(postgres, accountId, await createUser(postgres, 'owner@example.com', 'no password'), 'owner')
  return { ...stores, accountId }
}

export const addWebhookTo = (postgres: Postgres, siteId: string) =>
  inTransaction(postgres, (transaction) =>
    createWebhook(transaction, keySecrets, {
      siteId,
      url: 'https://hooks.example/',
      createdBy: 'check',
      nonce: randomUUID(),
    }),
  )

export const addAlertTo = (postgres: Postgres, siteId: string, condition: Condition) =>
  inTransaction(postgres, (transaction) =>
    createAlert(transaction, {
      condition,
      siteId,
      mailTo: 'owners',
      toWebhooks: true,
      quiet: undefined,
      createdBy: 'check',
      nonce: randomUUID(),
    }),
  )

export interface ToldMessage {
  site: string
  kind: Condition['kind']
  change: string
  /** When it was found. */
  at: number
}

/** What webhooks were told, in order. */
export async function toldIn(postgres: Postgres): Promise<ToldMessage[]> {
  const rows = await postgres<{ site: string; type: string; body: string }[]>`
    SELECT site_id AS site, type, body FROM webhook_deliveries JOIN webhooks ON webhooks.id = webhook_id
    ORDER BY webhook_deliveries.created_at`
  return rows
    .map(({ site, type, body }) => {
      const { kind, began_at, over_at } = JSON.parse(body).data
      return { site, kind, change: type.replace('alert.', ''), at: Date.parse(over_at ?? began_at) }
    })
    .sort((one, other) => one.at - other.at)
}
