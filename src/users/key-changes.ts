// Changes of API keys by people, each together with its entry in the audit log: the console and the command line change keys only here.
import { keyPrefix } from '../accounts/key-text.ts'
import {
  type CreatedKey,
  createKey,
  deleteKey,
  KeyAlreadyCreated,
  type KeyListing,
  type KeySecrets,
  type NewKey,
  type Rotation,
  rotateKey,
  setKeyDisabled,
  setKeyExpiry,
} from '../accounts/keys.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, type AuditEntry, recordAction } from './audit-log.ts'

/** `reads`: the domain of its site, or undefined for the whole account. */
export type AddedKey = Omit<NewKey, 'createdBy'> & { reads: string | undefined }

export const addKey = (
  postgres: Postgres,
  secrets: KeySecrets,
  actor: Actor,
  { reads = 'the whole account', ...key }: AddedKey,
): Promise<CreatedKey> =>
  inTransaction(postgres, async (transaction) => {
    const newKey = await createKey(transaction, secrets, { ...key, createdBy: actor.actor })
    const details = `${keyPrefix(newKey.text)}… for ${reads}, ${expiryText(key.expiresAt)} (${newKey.id})`
    await recordOnce(transaction, actor, 'key.created', key, { details, newKeyId: newKey.id })
    return newKey
  })

/** The new key has the same access. Returns undefined if the old one does not exist any more. */
export const replaceKey = (
  postgres: Postgres,
  secrets: KeySecrets,
  actor: Actor,
  old: KeyListing,
  rotation: Omit<Rotation, 'id' | 'createdBy'>,
): Promise<CreatedKey | undefined> =>
  inTransaction(postgres, async (transaction) => {
    const newKey = await rotateKey(transaction, secrets, { ...rotation, id: old.id, createdBy: actor.actor })
    if (!newKey) return undefined
    const ends = rotation.oldExpiresAt.toISOString()
    const details = `${old.prefix}… until ${ends}, then ${keyPrefix(newKey.text)}…, ${expiryText(rotation.expiresAt)} (${newKey.id})`
    await recordOnce(transaction, actor, 'key.rotated', old, { details, newKeyId: newKey.id })
    return newKey
  })

/** Throws if the form has already created a key. The log still has its entry, even if that key was deleted since. */
async function recordOnce(
  transaction: Postgres,
  actor: Actor,
  action: 'key.created' | 'key.rotated',
  key: Pick<KeyListing, 'accountId' | 'name'>,
  about: { details: string; newKeyId: string },
): Promise<void> {
  if (!(await record(transaction, actor, action, key, about)))
    throw new KeyAlreadyCreated('This key was already created')
}

export const switchKey = (postgres: Postgres, actor: Actor, key: KeyListing, disabled: boolean): Promise<void> =>
  change(postgres, actor, key, {
    action: disabled ? 'key.disabled' : 'key.enabled',
    details: `${key.prefix}…`,
    apply: (transaction) => setKeyDisabled(transaction, key.id, disabled),
  })

export const changeKeyExpiry = (
  postgres: Postgres,
  actor: Actor,
  key: KeyListing,
  expiresAt: Date | null,
): Promise<void> =>
  change(postgres, actor, key, {
    action: 'key.expiry_changed',
    details: `${key.prefix}…: ${expiryText(key.expiresAt)} → ${expiryText(expiresAt)}`,
    apply: (transaction) => setKeyExpiry(transaction, key.id, expiresAt),
  })

export const removeKey = (postgres: Postgres, actor: Actor, key: KeyListing): Promise<void> =>
  change(postgres, actor, key, {
    action: 'key.deleted',
    details: `${key.prefix}… (${key.id})`,
    apply: (transaction) => deleteKey(transaction, key.id),
  })

interface Change extends Pick<AuditEntry, 'action'> {
  details: string
  apply(transaction: Postgres): PromiseLike<unknown>
}

const change = (postgres: Postgres, actor: Actor, key: KeyListing, { action, details, apply }: Change): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    await apply(transaction)
    await record(transaction, actor, action, key, { details })
  })

const record = (
  postgres: Postgres,
  actor: Actor,
  action: AuditEntry['action'],
  { accountId, name }: Pick<KeyListing, 'accountId' | 'name'>,
  about: Pick<AuditEntry, 'details' | 'newKeyId'>,
) => recordAction(postgres, { ...actor, accountId, action, subject: name, ...about })

const expiryText = (expiresAt: Date | null | undefined): string =>
  expiresAt ? `expires ${expiresAt.toISOString().slice(0, 16)}Z` : 'never expires'
