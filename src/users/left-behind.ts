// Keys and shared links of a member that would still work after the member is removed: with a copy of one, they could read on (decision
// D-214).
import { type KeyListing, listKeysOf } from '../accounts/keys.ts'
import type { Postgres } from '../stores/postgres.ts'
import { type Actor, recordAction } from './audit-log.ts'

export interface Maker {
  accountId: string
  email: string
  /** UTC milliseconds. */
  now: number
}

export interface LinkLeftBehind {
  id: string
  name: string
  domain: string
  lastUsedAt: Date | null
}

export const keysLeftBehind = async (postgres: Postgres, { accountId, email, now }: Maker): Promise<KeyListing[]> =>
  (await listKeysOf(postgres, accountId)).filter(
    ({ createdBy, disabled, expiresAt }) =>
      createdBy === email && !disabled && (expiresAt === null || expiresAt.getTime() > now),
  )

export const linksLeftBehind = (postgres: Postgres, maker: Maker): Promise<LinkLeftBehind[]> =>
  postgres<LinkLeftBehind[]>`
    SELECT shared_links.id, name, domain, last_used_at AS "lastUsedAt"
    FROM shared_links, sites WHERE ${isLeftBehind(postgres, maker)}
    ORDER BY shared_links.created_at DESC, shared_links.id`

/** Call it in the transaction that removes the person. */
export async function revokeLinksLeftBehind(transaction: Postgres, actor: Actor, maker: Maker): Promise<void> {
  const revoked = await transaction<{ id: string; name: string; domain: string }[]>`
    UPDATE shared_links SET revoked_at = now() FROM sites WHERE ${isLeftBehind(transaction, maker)}
    RETURNING shared_links.id, name, domain`
  for (const { id, name, domain } of revoked) {
    await recordAction(transaction, {
      ...actor,
      accountId: maker.accountId,
      action: 'link.revoked',
      subject: name,
      details: `${domain}, ${id}`,
    })
  }
}

const isLeftBehind = (postgres: Postgres, { accountId, email, now }: Maker) => postgres`
  sites.id = site_id AND account_id = ${accountId} AND created_by = ${email}
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${new Date(now)})`
