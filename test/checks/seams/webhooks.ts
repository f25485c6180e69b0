// Webhooks of a walk. What was queued and what arrived is known outside of all stores.
import { isIP } from 'node:net'
import type { AllStores } from '../../../src/cluster/stores.ts'
import { createLog } from '../../../src/process/log.ts'
import { inTransaction } from '../../../src/stores/postgres.ts'
import { queueWebhooks } from '../../../src/webhooks/deliveries.ts'
import { startWebhooks } from '../../../src/webhooks/sender.ts'
import { createWebhook } from '../../../src/webhooks/webhooks.ts'
import { eventually } from '../../support/eventually.ts'
import { keySecrets } from '../../support/stores.ts'
import { type Receiver, startReceiver } from '../../webhooks/receiver.ts'

export interface WalkWebhooks {
  receiver: Receiver
  /** Messages that must arrive, and their sites: queued, and not before a restore. */
  expected: Map<string, string>
}

const log = createLog('silent')
const rules = { resolve: async () => [], isAllowed: (address: string) => isIP(address) > 0 && address === '127.0.0.1' }

export const openWalkWebhooks = async (): Promise<WalkWebhooks> => ({
  receiver: await startReceiver(),
  expected: new Map(),
})

/** Makes the webhook of the site if it has none. */
export async function queueForWebhook(
  { receiver, expected }: WalkWebhooks,
  { postgres }: AllStores,
  siteId: string,
): Promise<void> {
  const webhook = { siteId, url: receiver.url, createdBy: 'maria@example.com', nonce: 'the only one' }
  const ids = await inTransaction(postgres, async (transaction) => {
    await createWebhook(transaction, keySecrets, webhook)
    return queueWebhooks(transaction, { siteId, type: 'alert.began', data: {} })
  })
  for (const id of ids) expected.set(id, siteId)
}

/** Delivers what waits, and throws if a message that must arrive does not. */
export async function deliverToWebhooks({ receiver, expected }: WalkWebhooks, stores: AllStores): Promise<void> {
  const sites = await stores.postgres<{ id: string }[]>`SELECT id FROM sites`
  const loop = startWebhooks(stores, { secrets: keySecrets, rules, log })
  try {
    await eventually(async () => {
      const arrived = arrivalsOf(receiver)
      // Messages of a deleted site are deleted with it.
      const missing = [...expected].filter(
        ([id, site]) => !arrived.includes(id) && sites.some((one) => one.id === site),
      )
      if (missing.length > 0) throw new Error(`Messages to webhooks do not arrive: ${missing.join(', ')}`)
    })
  } finally {
    await loop.stop()
  }
}

/** Messages that arrived more than once. */
export const repeatedWebhooks = ({ receiver }: WalkWebhooks): string[] => {
  const arrived = arrivalsOf(receiver)
  return arrived.filter((id, index) => arrived.indexOf(id) < index)
}

const arrivalsOf = ({ received }: Receiver): string[] => received.map(({ headers }) => headers['webhook-id'] as string)
