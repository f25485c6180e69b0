// The audit log: who changed what, when and from where. The table refuses UPDATE and DELETE.
import type { Postgres } from '../stores/postgres.ts'
import type { UserReference } from './users.ts'

/** Every change that is recorded, and how the page of the log words it. */
export const auditedActions = {
  'user.signed_in': 'signed in',
  'user.signed_on': 'signed in with single sign-on',
  'user.signed_in_with_link': 'signed in with a one-time link',
  'user.wrong_code': 'typed the right password, but a wrong code',
  'user.signed_out_everywhere': 'signed out everywhere',
  'user.session_ended': 'ended a session of their own',
  'user.password_changed': 'changed their password',
  'user.password_reset': 'set a new password with a one-time link',
  'user.second_factor_on': 'turned the second factor on',
  'user.second_factor_off': 'turned the second factor off',
  'user.sign_on_connected': 'connected single sign-on',
  'user.sign_on_disconnected': 'disconnected single sign-on',
  'user.recovery_code_used': 'signed in with a recovery code',
  'user.reset_link_created': 'made a link to set a new password',
  'user.reset_requested': 'asked for a mail with a link to set a new password',
  'account.created': 'created the account',
  'account.plan_changed': 'changed the plan',
  'account.deleted': 'deleted the account',
  'account.set_up': 'became the first owner of the account',
  'member.invited': 'invited somebody',
  'member.invitation_revoked': 'revoked an invitation',
  'member.joined': 'accepted an invitation',
  'member.joined_by_domain': 'joined with an email of the domain',
  'member.role_changed': 'changed the role of a member',
  'member.removed': 'removed a member',
  'site.created': 'added a site',
  'site.time_zone_changed': 'changed the time zone of a site',
  'site.hostnames_changed': 'changed the host names of a site',
  'site.exclusions_changed': 'changed the excluded countries of a site',
  'site.deleted': 'deleted a site',
  'goal.created': 'added a goal of a site',
  'goal.changed': 'changed a goal of a site',
  'goal.deleted': 'deleted a goal of a site',
  'segment.created': 'saved a segment of a site',
  'segment.changed': 'changed a segment of a site',
  'segment.deleted': 'removed a segment of a site',
  'import.finished': 'imported traffic into a site',
  'import.undone': 'took an import of a site back',
  'note.created': 'added a note of a site',
  'note.changed': 'changed a note of a site',
  'note.deleted': 'removed a note of a site',
  'alert.created': 'added an alert of a site',
  'alert.changed': 'changed an alert of a site',
  'alert.deleted': 'removed an alert of a site',
  'webhook.created': 'added a webhook of a site',
  'webhook.disabled': 'disabled a webhook of a site',
  'webhook.enabled': 'enabled a webhook of a site',
  'webhook.rotated': 'made a new secret for a webhook of a site',
  'webhook.replayed': 'replayed a message to a webhook of a site',
  'webhook.deleted': 'deleted a webhook of a site',
  'key.created': 'created a key',
  'key.disabled': 'disabled a key',
  'key.enabled': 'enabled a key',
  'key.expiry_changed': 'changed the expiry of a key',
  'key.rotated': 'rotated a key',
  'key.deleted': 'deleted a key',
  'link.created': 'created a shared link',
  'link.revoked': 'revoked a shared link',
  'report.subscribed': 'asked for a report by email',
  'report.changed': 'changed when a report is sent',
  'report.confirmed': 'confirmed a report by email',
  'report.ended': 'stopped a report by email',
} as const satisfies Record<string, string>

type AuditedAction = keyof typeof auditedActions

export interface AuditEntry {
  /** Null if it concerns no account. */
  accountId: string | null
  /** The email of a user, `command line`, or `somebody` who is not signed in. */
  actor: string
  action: AuditedAction
  /** The target of the action: a domain, the name of a key or a shared link, an email. */
  subject: string
  details?: string
  /** Truncated; empty for the command line. */
  address?: string
  /** The key that the action created. */
  newKeyId?: string
}

/** Who makes a change, and from where. */
export type Actor = Pick<AuditEntry, 'actor' | 'address'>

export const commandLine: Actor = { actor: 'command line' }

export interface RecordedAction {
  id: string
  at: Date
  actor: string
  action: AuditedAction
  subject: string
  details: string
  address: string
}

/** The entries of an account, newest first. `before` is the id of the last entry of the previous page. */
export const recordedActions = (
  postgres: Postgres,
  accountId: string,
  { before, limit }: { before?: string; limit: number },
): Promise<RecordedAction[]> => postgres<RecordedAction[]>`
  SELECT id::text, at, actor, action, subject, details, address FROM audit_log
  WHERE account_id = ${accountId} AND (${before ?? null}::bigint IS NULL OR id < ${before ?? null}::bigint)
  ORDER BY audit_log.id DESC LIMIT ${limit}`

/** Attempts with the current password of a user and a wrong code, of the last 30 days. */
export async function wrongCodesOf(
  postgres: Postgres,
  email: string,
): Promise<Pick<RecordedAction, 'at' | 'address'>[]> {
  // The log of each account of the user has the same entries.
  const entries = await postgres<Pick<RecordedAction, 'at' | 'action' | 'address'>[]>`
    SELECT DISTINCT at, action, address FROM audit_log
    WHERE account_id IN (SELECT account_id FROM members JOIN users ON users.id = user_id WHERE email = ${email})
      AND subject = ${email} AND action IN ('user.wrong_code', 'user.password_changed', 'user.password_reset') AND at > now() - interval '30 days'
    ORDER BY at DESC LIMIT 100`
  const changed = entries.findIndex(({ action }) => action !== 'user.wrong_code')
  return changed < 0 ? entries : entries.slice(0, changed)
}

/** Records a change of a user's sign-in in the log of each of their accounts. Call it in the transaction of the change. */
export const recordOfUser = (
  postgres: Postgres,
  { actor, address = '' }: Actor,
  { id, email }: UserReference,
  action: AuditedAction,
  details = '',
) => postgres`
  INSERT INTO audit_log (account_id, actor, action, subject, details, address)
  SELECT account_id, ${actor}, ${action}, ${email}, ${details}, ${address} FROM members WHERE user_id = ${id}`

/**
 * Call it in the transaction of the change, so that neither happens without the other. Returns false if the log already has the entry of
 * the new key (decision D-212).
 */
export async function recordAction(postgres: Postgres, entry: AuditEntry): Promise<boolean> {
  const { count } = await postgres`
    INSERT INTO audit_log (account_id, actor, action, subject, details, address, new_key_id)
    VALUES (${entry.accountId}, ${entry.actor}, ${entry.action}, ${entry.subject}, ${entry.details ?? ''},
            ${entry.address ?? ''}, ${entry.newKeyId ?? null})
    ON CONFLICT (new_key_id) WHERE new_key_id IS NOT NULL DO NOTHING`
  return count > 0
}
