// Shared links: read-only dashboards for people without an account (decision D-188). PostgreSQL holds only the hash of the token in their
// address, so a stolen table opens nothing.
import { derivedId } from '../accounts/ids.ts'
import type { KeySecrets } from '../accounts/keys.ts'
import type { Site } from '../accounts/sites.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, recordAction } from './audit-log.ts'
import { hashOfToken, newLinkToken } from './link-tokens.ts'

/** `last_used_at` of a link is written at most this often, so that reading a page rarely writes. */
const notedEvery = '1 minute'
/** How long lists show a link that has expired or was revoked. */
const shownAfterEnd = '90 days'

export interface NewSharedLink {
  name: string
  expiresAt: Date | null
  passwordHash: string | null
  isEmbeddable: boolean
  /** Filters that are always applied, as in the API: `page:starts_with:/blog`. */
  filters: readonly string[]
  showsNotes?: boolean
  /** A random text of the form. The same text never creates a second link of the site. */
  nonce: string
}

/** A link that works, as the gate of shared links needs it. */
export interface SharedLink {
  id: string
  siteId: string
  /** UTC milliseconds, or null for never. */
  expiresAt: number | null
  passwordHash: string | null
  isEmbeddable: boolean
  filters: readonly string[]
  showsNotes: boolean
}

/** A link in a list. Its address is not stored, so no list can show it. */
export interface SharedLinkListing {
  id: string
  name: string
  createdBy: string
  createdAt: Date
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
  hasPassword: boolean
  isEmbeddable: boolean
  filters: readonly string[]
  showsNotes: boolean
}

/** The address of a link, made from PUBLIC_URL. */
export const sharedLinkAddress = (publicUrl: string, token: string): string => publicUrl + sharedLinkPath(token)

export const sharedLinkPath = (token: string): string => `/share/${token}`

/** Earlier versions stored four filters in columns of their own. A backslash stands before a comma or a backslash of a value. */
const filtersColumn = (postgres: Postgres) => postgres`
  coalesce(filters, array_remove(ARRAY[
    'country:is:' || country, 'device:is:' || lower(device), 'hostname:is:' || hostname,
    'utm_source:is:' || regexp_replace(utm_source, '([\\\\,])', '\\\\\\1', 'g')], NULL)) AS filters`

/** Processes of an earlier version, which do not know `filters`, show nothing behind a link that has some. */
const hostnameForEarlierVersions = (filters: readonly string[]) => (filters.length > 0 ? 'none.invalid' : null)

/** Returns the token, or undefined if the form has already created its link. Also deletes links that ended long ago. */
export const addSharedLink = (
  postgres: Postgres,
  secrets: KeySecrets,
  actor: Actor,
  site: Site,
  link: NewSharedLink,
): Promise<string | undefined> =>
  inTransaction(postgres, async (transaction) => {
    await transaction`
      DELETE FROM shared_links
      WHERE site_id = ${site.id} AND least(expires_at, revoked_at) <= now() - ${shownAfterEnd}::text::interval`
    const token = newLinkToken(secrets)
    const id = derivedId('share', `${site.id} ${link.nonce}`)
    const { count } = await transaction`
      INSERT INTO shared_links
        (hash, secret_version, id, site_id, name, created_by, expires_at, password_hash, embeddable, hostname, filters, shows_notes)
      VALUES (${hashOfToken(token)}, ${secrets[0].version}, ${id}, ${site.id}, ${link.name}, ${actor.actor}, ${link.expiresAt},
              ${link.passwordHash}, ${link.isEmbeddable}, ${hostnameForEarlierVersions(link.filters)}, ${[...link.filters]},
              ${link.showsNotes ?? false})
      ON CONFLICT (id) DO NOTHING`
    if (count === 0) return undefined
    await record(transaction, actor, site, { action: 'link.created', name: link.name, details: detailsOf(link, id) })
    return token
  })

/**
 * The same link at another address: the old one is revoked. A link that has expired works again for as long as it was made for, so it keeps
 * the time from which that counts. Returns the
 * new token, or undefined if the form has already made one, or the link is revoked.
 */
export const renewSharedLink = (
  postgres: Postgres,
  secrets: KeySecrets,
  actor: Actor,
  site: Site,
  { id, nonce, now }: { id: string; nonce: string; now: number },
): Promise<string | undefined> =>
  inTransaction(postgres, async (transaction) => {
    const token = newLinkToken(secrets)
    const newId = derivedId('share', `${site.id} ${nonce}`)
    const [link] = await transaction<{ name: string }[]>`
      INSERT INTO shared_links
        (hash, secret_version, id, site_id, name, created_by, created_at, expires_at, password_hash, embeddable, country, device, hostname, utm_source, filters,
         shows_notes)
      SELECT ${hashOfToken(token)}, ${secrets[0].version}, ${newId}, site_id, name, ${actor.actor},
             CASE WHEN expires_at > ${new Date(now)} THEN created_at ELSE ${new Date(now)} END,
             CASE WHEN expires_at > ${new Date(now)} THEN expires_at ELSE ${new Date(now)} + (expires_at - created_at) END,
             password_hash, embeddable, country, device, hostname, utm_source, filters, shows_notes
      FROM shared_links WHERE id = ${id} AND site_id = ${site.id} AND revoked_at IS NULL
      FOR UPDATE
      ON CONFLICT (id) DO NOTHING
      RETURNING name`
    if (!link) return undefined
    await transaction`UPDATE shared_links SET revoked_at = now() WHERE id = ${id}`
    await record(transaction, actor, site, { action: 'link.revoked', name: link.name, details: id })
    const details = `instead of ${id} (${newId})`
    await record(transaction, actor, site, { action: 'link.created', name: link.name, details })
    return token
  })

/** Returns false if the site has no such link, or it is revoked already. */
export const revokeSharedLink = (postgres: Postgres, actor: Actor, site: Site, id: string): Promise<boolean> =>
  inTransaction(postgres, async (transaction) => {
    const [link] = await transaction<{ name: string }[]>`
      UPDATE shared_links SET revoked_at = now()
      WHERE site_id = ${site.id} AND id = ${id} AND revoked_at IS NULL
      RETURNING name`
    if (!link) return false
    await record(transaction, actor, site, { action: 'link.revoked', name: link.name, details: id })
    return true
  })

/** The link of a token; undefined if it is unknown, expired or revoked. Read for each request, so that a revocation holds at once. */
export async function openSharedLink(postgres: Postgres, token: string, now: number): Promise<SharedLink | undefined> {
  const [row] = await postgres<(Omit<SharedLink, 'expiresAt'> & Noted)[]>`
    SELECT id, site_id AS "siteId", expires_at AS "expiresAt", password_hash AS "passwordHash", embeddable AS "isEmbeddable",
           shows_notes AS "showsNotes", ${filtersColumn(postgres)},
           coalesce(last_used_at > now() - ${notedEvery}::text::interval, FALSE) AS "isNoted"
    FROM shared_links
    WHERE hash = ${hashOfToken(token)} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${new Date(now)})`
  if (!row) return undefined
  const { isNoted, ...link } = row
  if (!isNoted) await postgres`UPDATE shared_links SET last_used_at = now() WHERE id = ${link.id}`
  return { ...link, expiresAt: link.expiresAt?.getTime() ?? null }
}

interface Noted {
  expiresAt: Date | null
  isNoted: boolean
}

/** The links of a site: working links first, then the newest first. */
export function sharedLinksOf(postgres: Postgres, siteId: string, now: number): Promise<SharedLinkListing[]> {
  return postgres<SharedLinkListing[]>`
    SELECT id, name, created_by AS "createdBy", created_at AS "createdAt", expires_at AS "expiresAt",
           revoked_at AS "revokedAt", last_used_at AS "lastUsedAt", password_hash IS NOT NULL AS "hasPassword",
           embeddable AS "isEmbeddable", shows_notes AS "showsNotes", ${filtersColumn(postgres)}
    FROM shared_links WHERE site_id = ${siteId}
    ORDER BY revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${new Date(now)}) DESC, created_at DESC, id`
}

const record = (
  transaction: Postgres,
  actor: Actor,
  { accountId, domain }: Site,
  { action, name, details }: { action: 'link.created' | 'link.revoked'; name: string; details: string },
) => recordAction(transaction, { ...actor, accountId, action, subject: name, details: `${domain}, ${details}` })

function detailsOf({ expiresAt, passwordHash, isEmbeddable, filters, showsNotes }: NewSharedLink, id: string): string {
  const parts = [
    expiresAt ? `expires ${expiresAt.toISOString().slice(0, 16)}Z` : 'never expires',
    ...filters.map((filter) => `only ${filter}`),
    ...(passwordHash ? ['with a password'] : []),
    ...(isEmbeddable ? ['embeddable'] : []),
    ...(showsNotes ? ['with notes'] : []),
  ]
  return `${parts.join(', ')} (${id})`
}
