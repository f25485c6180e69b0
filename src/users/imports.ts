// What happens in Footfall around an import: a note on the chart, an entry in the audit log, and mail to the owners.
import type { Site } from '../accounts/sites.ts'
import { mayQueue } from '../mail/limits.ts'
import { type Outbox, queueMessage } from '../mail/outbox.ts'
import type { Postgres } from '../stores/postgres.ts'
import { type Actor, recordAction } from './audit-log.ts'
import { importLetter } from './letters.ts'
import { ownersOf } from './members.ts'
import { noteImport, removeNoteOfImport } from './notes.ts'

export interface FinishedImport {
  id: string
  /** Undefined: it had daily sums. */
  events: number | undefined
  days: readonly string[]
}

/** Call it in the transaction that marks the import as finished. */
export async function importFinished(
  transaction: Postgres,
  actor: Actor,
  site: Pick<Site, 'id' | 'accountId' | 'domain'>,
  imported: FinishedImport,
  outbox: Outbox | undefined,
): Promise<void> {
  const { accountId, domain } = site
  await noteImport(transaction, actor, site, imported)
  const details = eventsText(imported.events, imported.days)
  await recordAction(transaction, { ...actor, accountId, action: 'import.finished', subject: domain, details })
  await queueImportFinished(transaction, outbox, site, { events: imported.events, days: imported.days.length })
}

/** Call it in the transaction that marks the import as undone. */
export async function importUndone(
  transaction: Postgres,
  actor: Actor,
  { id: siteId, accountId, domain }: Pick<Site, 'id' | 'accountId' | 'domain'>,
  { id, events, days }: FinishedImport,
): Promise<void> {
  await removeNoteOfImport(transaction, siteId, id)
  const details = eventsText(events, days)
  await recordAction(transaction, { ...actor, accountId, action: 'import.undone', subject: domain, details })
}

function eventsText(events: number | undefined, days: readonly string[]): string {
  const count =
    events === undefined ? 'daily sums' : `${events.toLocaleString('en')} ${events === 1 ? 'event' : 'events'}`
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined) return count
  return first === last ? `${count}, ${first}` : `${count}, ${first} to ${last}`
}

/** Whoever imports a file for each month of many years wants no mail about each. */
const mostPerHour = 10

/** Tells the owners of the account. */
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
