import { byShard } from '../cluster/stores.ts'
import { type DeletedSite, listDeletedSites } from '../erasure/deleted-sites.ts'
import { eraseDeletedSites } from '../erasure/job.ts'
import { refuseOlder } from '../rollups/ledger.ts'
import { type Command, positionals } from './command.ts'
import type { Terminal } from './terminal.ts'

export const deletions: Command = {
  summary: 'Show deleted sites and the progress of their erasure',
  usage: '',
  async run(input, { postgres }) {
    positionals(input, [])
    const deleted = await listDeletedSites(postgres)
    return { data: deleted, show: (terminal) => showDeleted(deleted, terminal) }
  },
}

export const purge: Command = {
  summary: 'Rewrite the ClickHouse parts of deleted sites now, instead of waiting for the rewrite every 7 days',
  usage: '',
  async run(input, context) {
    positionals(input, [])
    await refuseOlder(context)
    for (const stores of byShard(context)) await eraseDeletedSites(stores, '0 seconds')
    const deleted = await listDeletedSites(context.postgres)
    return {
      data: deleted,
      show: (terminal) =>
        `${showDeleted(deleted, terminal)}\n\nClickHouse removes the old files about ten minutes after the rewrite.`,
    }
  },
}

function showDeleted(deleted: readonly DeletedSite[], terminal: Terminal): string {
  if (deleted.length === 0) return 'There are no deleted sites.'
  const on = (date: Date | null) => (date ? dayOf(date) : 'not yet')
  return terminal.table(
    ['DOMAIN', 'ID', 'DELETED', 'ERASED', 'REWRITTEN', 'GONE', 'GONE BY'],
    deleted.map(({ domain, id, deletedAt, erasedAt, rewrittenAt, purgedAt, goneBy }) => [
      domain ?? '',
      id,
      dayOf(deletedAt),
      on(erasedAt),
      on(rewrittenAt),
      on(purgedAt),
      dayOf(goneBy),
    ]),
  )
}

export const dayOf = (date: Date): string => date.toISOString().slice(0, 10)
