// The webhooks of a site: where it sends messages, and the secret that signs them. src/users/webhook-changes.ts changes them for people.
import { derivedId } from '../accounts/ids.ts'
import type { KeySecrets } from '../accounts/keys.ts'
import { seal } from '../accounts/sealing.ts'
import { InvalidSetting } from '../accounts/site-rules.ts'
import type { Postgres } from '../stores/postgres.ts'
import { newSecret } from './signing.ts'

export const maxWebhooks = 10

export interface Webhook {
  id: string
  url: string
  secretVersion: number
  createdBy: string
  createdAt: Date
  disabledAt: Date | null
}

export interface CreatedWebhook {
  id: string
  /** Nobody can see it again. */
  secret: string
}

/** Oldest first. */
export const webhooksOf = (postgres: Postgres, siteId: string): Promise<Webhook[]> => postgres<Webhook[]>`
  SELECT id, url, secret_version AS "secretVersion", created_by AS "createdBy", created_at AS "createdAt", disabled_at AS "disabledAt"
  FROM webhooks WHERE site_id = ${siteId} ORDER BY created_at, id`

export interface NewWebhook {
  siteId: string
  url: string
  createdBy: string
  /** Of the form: the same form makes no second one. */
  nonce: string
}

/** Undefined: the form has made one already. Call it in a transaction. */
export async function createWebhook(
  transaction: Postgres,
  secrets: KeySecrets,
  { siteId, url, createdBy, nonce }: NewWebhook,
): Promise<CreatedWebhook | undefined> {
  const id = derivedId('whk', `${siteId} ${nonce}`)
  // The site's row is locked, so that two forms at the same time do not both make the last one.
  const [site] = await transaction<[{ webhooks: number }?]>`
    SELECT (SELECT count(*)::int FROM webhooks WHERE site_id = sites.id) AS webhooks FROM sites WHERE id = ${siteId} FOR NO KEY UPDATE`
  if (!site) throw new InvalidSetting('The site was deleted.', 'Choose another site.')
  const secret = newSecret()
  const { count } = await transaction`
    INSERT INTO webhooks (id, site_id, url, secret, created_by)
    VALUES (${id}, ${siteId}, ${url}, ${seal(secrets, 'webhook', id, secret)}, ${createdBy}) ON CONFLICT DO NOTHING`
  if (count === 0) return undefined
  if (site.webhooks >= maxWebhooks)
    throw new InvalidSetting(`A site has at most ${maxWebhooks} webhooks.`, 'Delete one that nobody needs any more.')
  return { id, secret }
}

/** Undefined: it was rotated since `version`, or deleted. Messages are signed with the new secret at once. */
export async function rotateSecret(
  transaction: Postgres,
  secrets: KeySecrets,
  siteId: string,
  { id, secretVersion }: Pick<Webhook, 'id' | 'secretVersion'>,
): Promise<CreatedWebhook | undefined> {
  const secret = newSecret()
  const { count } = await transaction`
    UPDATE webhooks SET secret = ${seal(secrets, 'webhook', id, secret)}, secret_version = secret_version + 1
    WHERE id = ${id} AND site_id = ${siteId} AND secret_version = ${secretVersion}`
  return count > 0 ? { id, secret } : undefined
}

/** False if nothing changes. What waits for a disabled webhook fails within seconds. */
export async function setWebhookDisabled(
  transaction: Postgres,
  siteId: string,
  id: string,
  disabled: boolean,
): Promise<boolean> {
  const { count } = await transaction`
    UPDATE webhooks SET disabled_at = ${disabled ? transaction`now()` : null}
    WHERE id = ${id} AND site_id = ${siteId} AND (disabled_at IS NULL) = ${disabled}`
  return count > 0
}

/** False: it is gone already. Its deliveries go with it. */
export async function deleteWebhook(transaction: Postgres, siteId: string, id: string): Promise<boolean> {
  const { count } = await transaction`DELETE FROM webhooks WHERE id = ${id} AND site_id = ${siteId}`
  return count > 0
}
