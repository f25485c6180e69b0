// Stores that an alert began or is over, and queues the messages about it. Both happen in one transaction: a process that is killed has done
// both or neither, and of two processes that find the same change, one stores it (decision D-243).

import { mayQueue } from '../mail/limits.ts'
import { type Outbox, queueMessage } from '../mail/outbox.ts'
import { inTransaction, type Postgres } from '../stores/postgres.ts'
import { queueWebhooks } from '../webhooks/deliveries.ts'
import { isQuiet, sentenceOf } from './alert.ts'
import type { WatchedAlert } from './alerts.ts'
import type { Change, Numbers } from './judging.ts'
import { alertLetter, dashboardUrl, type Told } from './letters.ts'

/** Whoever sets alerts of many sites off must not fill the mailboxes of the other members. Further ones are only in the console and webhooks. */
const mostPerHour = 60

/** A backup knows nothing of the messages that were sent after it was made (decision D-221). */
const doubtful = 'it is about a time before the database was restored, and may have been sent then'

export interface Telling {
  /** Undefined: there is no mail server, so no mail is sent. */
  outbox: Outbox | undefined
  publicUrl: string
}

/**
 * Call it when something has changed, and also without a change: what happened during quiet hours is told when they are over, unless it is
 * past by then. False: nothing was noted, because somebody has changed the alert or another process was first.
 */
export async function noteChange(
  postgres: Postgres,
  telling: Telling,
  alert: WatchedAlert,
  { change, now, localHour }: { change: Change | undefined; now: number; localHour: number },
): Promise<boolean> {
  const isOn = change ? change.change === 'began' : alert.isOn
  const isTold = isQuiet(alert.quiet, localHour) ? alert.isTold : isOn
  if (!change && isTold === alert.isTold) return false
  return inTransaction(postgres, async (transaction) => {
    const at = new Date(now)
    const numbers = JSON.stringify(change?.numbers ?? {})
    const noted =
      change?.change === 'began'
        ? transaction`, began_at = ${at}, began_with = ${numbers}::text::jsonb`
        : change
          ? transaction`, over_at = ${at}, over_with = ${numbers}::text::jsonb`
          : transaction``
    const [row] = await transaction<
      { beganAt: Date; overAt: Date | null; beganWith: string; overWith: string | null; isDoubtful: boolean }[]
    >`
      UPDATE alerts SET is_on = ${isOn}, is_told = ${isTold} ${noted}
      WHERE id = ${alert.id} AND version = ${alert.version} AND is_on = ${alert.isOn} AND is_told = ${alert.isTold}
      RETURNING began_at AS "beganAt", over_at AS "overAt", began_with::text AS "beganWith", over_with::text AS "overWith",
        greatest(created_at, ${new Date(change?.at ?? now)}) < (SELECT began_at FROM ledger) AS "isDoubtful"`
    if (!row) return false
    if (isTold === alert.isTold) return true
    const told: Told = {
      alert,
      change: isTold ? 'began' : 'over',
      at: isTold ? row.beganAt : (row.overAt as Date),
      beganAt: row.beganAt,
      numbers: JSON.parse((isTold ? row.beganWith : row.overWith) ?? '{}') as Numbers,
    }
    await tell(transaction, telling, told, row.isDoubtful ? doubtful : undefined)
    return true
  })
}

async function tell(
  transaction: Postgres,
  { outbox, publicUrl }: Telling,
  told: Told,
  doubt: string | undefined,
): Promise<void> {
  const { accountId, mailTo, toWebhooks, siteId } = told.alert
  if (outbox && mailTo !== 'nobody') {
    const letter = alertLetter(publicUrl, told)
    const kind = 'alert'
    // In the order of addresses, as transactions lock them (mail/limits.ts).
    for (const recipient of await recipientsOf(transaction, accountId, mailTo === 'owners')) {
      if (!(await mayQueue(transaction, { kinds: [kind], recipient, accountId: null, mostPerHour }))) continue
      await queueMessage(transaction, outbox, { kind, recipient, accountId, letter, doubt })
    }
  }
  if (toWebhooks)
    await queueWebhooks(transaction, { siteId, type: `alert.${told.change}`, data: messageOf(publicUrl, told), doubt })
}

async function recipientsOf(transaction: Postgres, accountId: string, onlyOwners: boolean): Promise<string[]> {
  const rows = await transaction<{ email: string }[]>`
    SELECT email FROM members JOIN users ON users.id = user_id
    WHERE account_id = ${accountId} AND (role = 'owner' OR NOT ${onlyOwners})`
  return rows.map(({ email }) => email).sort()
}

/** What webhooks get (docs/alerts.md). */
function messageOf(publicUrl: string, told: Told) {
  const { alert, beganAt, change, at, numbers } = told
  const instant = (milliseconds: number | undefined) =>
    milliseconds === undefined ? undefined : new Date(milliseconds).toISOString()
  return {
    alert: alert.id,
    site: alert.domain,
    kind: alert.condition.kind,
    sentence: sentenceOf(alert.condition),
    began_at: beganAt.toISOString(),
    ...(change === 'over' && { over_at: at.toISOString() }),
    hour: instant(numbers.hour),
    visitors: numbers.visitors,
    usual: numbers.usual,
    since: instant(numbers.since),
    url: dashboardUrl(publicUrl, told),
  }
}
