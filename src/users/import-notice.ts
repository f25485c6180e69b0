import type { Site } from '../accounts/sites.ts'
import { type Outbox, queueMessage } from '../mail/outbox.ts'
import type { Postgres } from '../stores/postgres.ts'
import { importLetter } from './letters.ts'
import { ownersOf } from './members.ts'

/** Tells the owners of the account. Call it in the transaction that marks the import as finished. */
export async function queueImportFinished(
  transaction: Postgres,
  outbox: Outbox | undefined,
  { accountId, domain }: Pick<Site, 'accountId' | 'domain'>,
  imported: { events: number; days: number },
): Promise<void> {
  if (!outbox) return
  const letter = importLetter(outbox, { domain, ...imported })
  for (const recipient of await ownersOf(transaction, accountId)) {
    await queueMessage(transaction, outbox, { kind: 'import finished', recipient, accountId, letter })
  }
}
