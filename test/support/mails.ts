import assert from 'node:assert/strict'
import { type ClaimedMessage, letterOf } from '../../src/mail/outbox.ts'
import type { Postgres } from '../../src/stores/postgres.ts'
import { keySecrets } from './stores.ts'

export interface Mail {
  kind: string
  accountId: string | null
  /** How long its link works, in hours. */
  expiresAfterHours: number | null
  subject: string
  text: string
  html: string
}

/** What waits in the outbox for an address, the oldest first. */
export async function mailsTo(postgres: Postgres, recipient: string): Promise<Mail[]> {
  const rows = await postgres<(ClaimedMessage & Pick<Mail, 'accountId' | 'expiresAfterHours'>)[]>`
    SELECT id, kind, content, account_id AS "accountId",
      extract(epoch FROM expires_at - queued_at)::int / 3600 AS "expiresAfterHours"
    FROM outbox WHERE recipient = ${recipient} ORDER BY queued_at, id`
  return rows.map((row) => {
    const letter = letterOf({ secrets: keySecrets }, row)
    assert.ok(letter, 'the content can be decrypted')
    return { kind: row.kind, accountId: row.accountId, expiresAfterHours: row.expiresAfterHours, ...letter }
  })
}

/** The address below the text of the button, in the text part. */
export function linkIn({ text }: Mail): string {
  const [link = ''] = /^https?:\S+$/m.exec(text) ?? []
  return link
}
