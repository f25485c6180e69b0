// Changes of what belongs to a site, such as its goals and notes: each in one transaction with its entry in the audit log.
import type { Site } from '../accounts/sites.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { type Actor, type AuditEntry, recordAction } from './audit-log.ts'

interface Change {
  action: AuditEntry['action']
  details: string
  /** False: nothing has changed, so nothing is recorded. */
  apply(transaction: Postgres): Promise<unknown>
}

export const changeOfSite = (
  postgres: Postgres,
  actor: Actor,
  { id, accountId, domain }: Site,
  { action, details, apply }: Change,
): Promise<void> =>
  inTransaction(postgres, async (transaction) => {
    // Like a deletion of the site, which takes its row first.
    await transaction`SELECT FROM sites WHERE id = ${id} FOR NO KEY UPDATE`
    if ((await apply(transaction)) === false) return
    await recordAction(transaction, { ...actor, accountId, action, subject: domain, details })
  })
