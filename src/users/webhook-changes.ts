// Changes of webhooks by people, each together with its entry in the audit log. Entries name only the origin of the address: its path may
// be as good as a password.
import type { KeySecrets } from '../accounts/keys.ts'
import type { Site } from '../accounts/sites.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { replayDelivery, sendTest } from '../webhooks/log.ts'
import {
  type CreatedWebhook,
  createWebhook,
  deleteWebhook,
  rotateSecret,
  setWebhookDisabled,
  type Webhook,
} from '../webhooks/webhooks.ts'
import { type Actor, type AuditEntry, recordAction } from './audit-log.ts'

export const originOf = ({ url }: Pick<Webhook, 'url'>): string => URL.parse(url)?.origin ?? ''

/** Undefined: the form has made one already. Throws `InvalidSetting` if the site has too many. */
export const addWebhook = (
  postgres: Postgres,
  secrets: KeySecrets,
  actor: Actor,
  site: Site,
  webhook: { url: string; nonce: string },
): Promise<CreatedWebhook | undefined> =>
  change(postgres, actor, site, 'webhook.created', webhook, (transaction) =>
    createWebhook(transaction, secrets, { ...webhook, siteId: site.id, createdBy: actor.actor }),
  )

/** Undefined: the form has rotated it already, or somebody else has. */
export const rotateWebhook = (
  postgres: Postgres,
  secrets: KeySecrets,
  actor: Actor,
  site: Site,
  webhook: Webhook,
): Promise<CreatedWebhook | undefined> =>
  change(postgres, actor, site, 'webhook.rotated', webhook, (transaction) =>
    rotateSecret(transaction, secrets, site.id, webhook),
  )

export const switchWebhook = (
  postgres: Postgres,
  actor: Actor,
  site: Site,
  webhook: Webhook,
  disabled: boolean,
): Promise<boolean> =>
  change(postgres, actor, site, disabled ? 'webhook.disabled' : 'webhook.enabled', webhook, (transaction) =>
    setWebhookDisabled(transaction, site.id, webhook.id, disabled),
  )

export const removeWebhook = (postgres: Postgres, actor: Actor, site: Site, webhook: Webhook): Promise<boolean> =>
  change(postgres, actor, site, 'webhook.deleted', webhook, (transaction) =>
    deleteWebhook(transaction, site.id, webhook.id),
  )

/** Nothing is changed, so the audit log does not have it; the log of the webhook does. */
export const testWebhook = (
  postgres: Postgres,
  site: Site,
  { id: webhookId }: Webhook,
  nonce: string,
): Promise<boolean> =>
  inTransaction(postgres, (transaction) => sendTest(transaction, { webhookId, nonce }, site.domain))

export const replayWebhook = (
  postgres: Postgres,
  actor: Actor,
  site: Site,
  webhook: Webhook,
  { delivery, nonce }: { delivery: string; nonce: string },
): Promise<boolean> =>
  change(postgres, actor, site, 'webhook.replayed', webhook, (transaction) =>
    replayDelivery(transaction, { webhookId: webhook.id, nonce }, delivery),
  )

/** Records the action if `apply` has changed anything. */
const change = <Result>(
  postgres: Postgres,
  actor: Actor,
  { accountId, domain }: Site,
  action: AuditEntry['action'],
  webhook: Pick<Webhook, 'url'>,
  apply: (transaction: Postgres) => Promise<Result>,
): Promise<Result> =>
  inTransaction(postgres, async (transaction) => {
    const result = await apply(transaction)
    if (result)
      await recordAction(transaction, { ...actor, accountId, action, subject: domain, details: originOf(webhook) })
    return result
  })
