import type { PendingQuery } from 'postgres'
import type { Postgres } from '../stores/postgres.ts'
import { derivedId, newId } from './ids.ts'
import { hashKeyText, keyPrefix, newKeyText } from './key-text.ts'
import type { Plan } from './plans.ts'

/** The secrets for key hashes, the current one first. Keys that were hashed with an older secret keep working. */
export type KeySecrets = readonly [KeySecret, ...KeySecret[]]

interface KeySecret {
  version: number
  secret: Buffer
}

/** What the gate needs to know about a key, including its account's plan. */
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
  siteId?: string | undefined
  name: string
  expiresAt?: Date | undefined
  /** The email of a user; the command line if it is missing. */
  createdBy?: string
  /** The nonce of the form. The same nonce never creates a second key of the account. */
  nonce?: string
}

/** Thrown when the nonce of a new key was already used. */
export class KeyAlreadyCreated extends Error {}

/** Only the result has the text of the key. PostgreSQL stores its keyed hash (docs/contract.md 5). */
export const createKey = (postgres: Postgres, secrets: KeySecrets, key: NewKey): Promise<CreatedKey> =>
  insertKey(postgres, secrets, key, null)

export interface CreatedKey {
  id: string
  text: string
}

async function insertKey(
  postgres: Postgres,
  [{ version, secret }]: KeySecrets,
  { accountId, siteId, name, expiresAt, createdBy = 'command line', nonce }: NewKey,
  rotatedFrom: string | null,
): Promise<CreatedKey> {
  // The id is derived from the nonce, so a form that is sent twice conflicts with itself, even without a record of the first.
  const id = nonce === undefined ? newId('key') : derivedId('key', `${accountId} ${nonce}`)
  const text = newKeyText(siteId ? 'site' : 'account')
  const { count } = await postgres`
    INSERT INTO api_keys (id, account_id, site_id, name, prefix, hash, secret_version, expires_at, created_by, rotated_from)
    VALUES (${id}, ${accountId}, ${siteId ?? null}, ${name}, ${keyPrefix(text)}, ${hashKeyText(text, secret)},
            ${version}, ${expiresAt ?? null}, ${createdBy}, ${rotatedFrom})
    ON CONFLICT (id) DO NOTHING`
  if (count === 0) throw new KeyAlreadyCreated('This key was already created')
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

/** A key in a list. Its text is not stored, so no list can show it. */
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
  /** The email of a user, or `command line`. */
  createdBy: string
  /** The key that this one replaced. That key may be deleted by now. */
  rotatedFrom: string | null
}

const listing = (postgres: Postgres) => postgres`
  SELECT api_keys.id, name, prefix, api_keys.account_id AS "accountId", domain, secret_version AS "secretVersion", disabled,
         expires_at AS "expiresAt", last_used_at AS "lastUsedAt", api_keys.created_at AS "createdAt",
         created_by AS "createdBy", rotated_from AS "rotatedFrom"
  FROM api_keys LEFT JOIN sites ON sites.id = site_id`

export const listKeys = (postgres: Postgres): Promise<KeyListing[]> =>
  postgres<KeyListing[]>`${listing(postgres)} ORDER BY api_keys.created_at, api_keys.id`

/** The keys of an account, the newest first. With a site: its own keys and those of the whole account. */
export const listKeysOf = (
  postgres: Postgres,
  accountId: string,
  siteId: string | null = null,
): Promise<KeyListing[]> => postgres<KeyListing[]>`
  ${listing(postgres)}
  WHERE api_keys.account_id = ${accountId} AND (${siteId}::text IS NULL OR site_id IS NULL OR site_id = ${siteId})
  ORDER BY api_keys.created_at DESC, api_keys.id`

export interface Rotation extends Pick<NewKey, 'expiresAt' | 'createdBy' | 'nonce'> {
  id: string
  oldExpiresAt: Date
}

/**
 * Creates a new key with the same access. The old key stays valid until `oldExpiresAt`, so that clients can change over, unless it
 * expires earlier. Call it in a transaction.
 */
export async function rotateKey(
  postgres: Postgres,
  secrets: KeySecrets,
  { id, oldExpiresAt, ...rotation }: Rotation,
): Promise<CreatedKey | undefined> {
  const [old] = await postgres<{ accountId: string; siteId: string | null; name: string }[]>`
    UPDATE api_keys SET expires_at = least(expires_at, ${oldExpiresAt}) WHERE id = ${id}
    RETURNING account_id AS "accountId", site_id AS "siteId", name`
  if (!old) return undefined
  const { accountId, siteId, name } = old
  return insertKey(postgres, secrets, { ...rotation, accountId, name, siteId: siteId ?? undefined }, id)
}

export const setKeyDisabled = (postgres: Postgres, id: string, disabled: boolean) =>
  postgres`UPDATE api_keys SET disabled = ${disabled} WHERE id = ${id}`

export const setKeyExpiry = (postgres: Postgres, id: string, expiresAt: Date | null) =>
  postgres`UPDATE api_keys SET expires_at = ${expiresAt} WHERE id = ${id}`

export const deleteKey = (postgres: Postgres, id: string) => postgres`DELETE FROM api_keys WHERE id = ${id}`
