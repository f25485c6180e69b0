import type { PendingQuery } from 'postgres'
import type { Postgres } from '../stores/postgres.ts'
import { newId } from './ids.ts'
import { hashKeyText, keyPrefix, newKeyText } from './key-text.ts'
import type { Plan } from './plans.ts'

/** The secrets that key hashes are made with, the current one first; older ones keep their keys working. */
export type KeySecrets = readonly [KeySecret, ...KeySecret[]]

interface KeySecret {
  version: number
  secret: Buffer
}

/** What the gate needs to know of a key, its account's plan included. */
export interface ApiKey {
  id: string
  accountId: string
  /** The one site a site key reads; null for an account key. */
  siteId: string | null
  disabled: boolean
  /** UTC milliseconds, or null for never. */
  expiresAt: number | null
  plan: Plan
}

export interface NewKey {
  accountId: string
  siteId?: string
  name: string
  expiresAt?: Date
}

/** The text is returned here and never again: only its keyed hash is stored (docs/contract.md 5). */
export async function createKey(
  postgres: Postgres,
  secrets: KeySecrets,
  { accountId, siteId, name, expiresAt }: NewKey,
): Promise<{ id: string; text: string }> {
  const id = newId('key')
  const text = newKeyText(siteId ? 'site' : 'account')
  const [{ version, secret }] = secrets
  await postgres`
    INSERT INTO api_keys (id, account_id, site_id, name, prefix, hash, secret_version, expires_at)
    VALUES (${id}, ${accountId}, ${siteId ?? null}, ${name}, ${keyPrefix(text)}, ${hashKeyText(text, secret)},
            ${version}, ${expiresAt ?? null})`
  return { id, text }
}

interface KeyRow {
  id: string
  account_id: string
  site_id: string | null
  disabled: boolean
  expires_at: Date | null
  plan: Plan
}

export const selectKey = (postgres: Postgres, secrets: KeySecrets, text: string): PendingQuery<KeyRow[]> =>
  postgres<KeyRow[]>`
    SELECT api_keys.id, account_id, site_id, disabled, expires_at, plan
    FROM api_keys JOIN accounts ON accounts.id = account_id
    WHERE hash IN ${postgres(secrets.map(({ secret }) => hashKeyText(text, secret)))}`

export const keyOf = (row: KeyRow): ApiKey => ({
  id: row.id,
  accountId: row.account_id,
  siteId: row.site_id,
  disabled: row.disabled,
  expiresAt: row.expires_at?.getTime() ?? null,
  plan: row.plan,
})

/** What is shown of a key: never its text, which nobody has. */
export interface KeyListing {
  id: string
  name: string
  prefix: string
  accountId: string
  /** The site of a site key; null for an account key. */
  domain: string | null
  secretVersion: number
  disabled: boolean
  expiresAt: Date | null
  lastUsedAt: Date | null
  createdAt: Date
}

export const listKeys = (postgres: Postgres): Promise<KeyListing[]> => postgres<KeyListing[]>`
  SELECT api_keys.id, name, prefix, api_keys.account_id AS "accountId", domain, secret_version AS "secretVersion", disabled,
         expires_at AS "expiresAt", last_used_at AS "lastUsedAt", api_keys.created_at AS "createdAt"
  FROM api_keys LEFT JOIN sites ON sites.id = site_id
  ORDER BY api_keys.created_at, api_keys.id`

/**
 * A new key for what an old one reads; the old one goes on for some hours, so that nothing has to change at once, unless it was
 * to expire sooner anyway.
 */
export async function rotateKey(
  postgres: Postgres,
  secrets: KeySecrets,
  id: string,
  oldExpiresAt: Date,
): Promise<{ id: string; text: string } | undefined> {
  return postgres.begin(async (transaction) => {
    const [old] = await transaction<{ account_id: string; site_id: string | null; name: string }[]>`
      UPDATE api_keys SET expires_at = least(expires_at, ${oldExpiresAt}) WHERE id = ${id}
      RETURNING account_id, site_id, name`
    if (!old) return undefined
    return createKey(transaction as unknown as Postgres, secrets, {
      accountId: old.account_id,
      name: old.name,
      ...(old.site_id && { siteId: old.site_id }),
    })
  })
}

export const setKeyDisabled = (postgres: Postgres, id: string, disabled: boolean) =>
  postgres`UPDATE api_keys SET disabled = ${disabled} WHERE id = ${id}`

export const setKeyExpiry = (postgres: Postgres, id: string, expiresAt: Date | null) =>
  postgres`UPDATE api_keys SET expires_at = ${expiresAt} WHERE id = ${id}`

export const deleteKey = (postgres: Postgres, id: string) => postgres`DELETE FROM api_keys WHERE id = ${id}`
