import type { Site } from '../accounts/sites.ts'
import { mayQueue } from '../mail/limits.ts'
import { type Outbox, queueMessage } from '../mail/outbox.ts'
import type { Postgres } from '../stores/postgres.ts'
import { importLetter } from './letters.ts'
import { ownersOf } from './members.ts'

/** Whoever imports a file for each month of many years wants no mail about each. */
const mostPerHour = 10

/** Tells the owners of the account. Call it in the transaction that marks the import as finished. */
export async function queueImportFinished(
  transaction: Postgres,
  outbox: Outbox | undefined,
  { accountId, domain }: Pick<Site, 'accountId' | 'domain'>,
  imported: { events: number | undefined; days: number },
): Promise<void> {
  if (!outbox) return
  const letter = importLetter(outbox, { domain, ...imported })
  const kind = 'import finished'
  // Two imports must lock owners of both accounts in the same order (mail/limits.ts).
  for (const recipient of (await ownersOf(transaction, accountId)).sort()) {
    if (!(await mayQueue(transaction, { kinds: [kind], recipient, accountId, mostPerHour }))) continue
    await queueMessage(transaction, outbox, { kind, recipient, accountId, letter })
  }
}
