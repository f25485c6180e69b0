// Erases the data of sites that were deleted or moved (decision D-145). Each step is recorded before the next begins, and each may run twice.

import { tablesIgnoringMutations } from '../cluster/restored-tables.ts'
import type { Stores } from '../cluster/stores.ts'
import { within } from '../stores/deadline.ts'
import { dropLeftClones } from '../traffic/snapshot.ts'
import {
  eraseAgain,
  listDeletedSites,
  markErasure,
  rewriteEvery,
  sitesToErase,
  sitesToPurge,
  sitesToRewrite,
} from './deleted-sites.ts'
import { eraseSites, hasFilesOf, rewriteWithout, sitesWithRows } from './rows.ts'

/** Runs the steps that are due for the sites of one shard. Throws when they must be tried again. */
export async function eraseDeletedSites(stores: Stores, wait = rewriteEvery): Promise<void> {
  await eraseRows(stores)
  const { postgres, clickhouse } = stores
  if ((await sitesToRewrite(postgres, clickhouse.shard, wait)).length > 0) {
    // While PostgreSQL is down, a writer can write rows of a deleted site without reporting them. This finds such rows.
    const deleted = await listDeletedSites(postgres)
    await eraseAgain(postgres, await sitesWithRows(clickhouse, idsOf(deleted)))
    await eraseRows(stores)
    const due = await sitesToRewrite(postgres, clickhouse.shard, wait)
    const at = await rewriteWithout(clickhouse, idsOf(due))
    await markErasure(postgres, clickhouse.shard, 'rewritten_at', due, at)
  }
  const rewritten = await sitesToPurge(postgres, clickhouse.shard)
  const latest = rewritten.map(({ rewrittenAt }) => rewrittenAt).sort((a, b) => b.getTime() - a.getTime())[0]
  // In this order, because a clone has hard links to the same files.
  const areClonesGone = await dropLeftClones(stores)
  if (!latest || !areClonesGone || (await hasFilesOf(clickhouse, latest))) return
  await markErasure(postgres, clickhouse.shard, 'purged_at', rewritten)
}

/** The first step: afterwards no statement finds a row of a deleted site. */
export async function eraseRows({ postgres, clickhouse }: Stores, withinMs?: number): Promise<void> {
  const open = await sitesToErase(postgres, clickhouse.shard)
  if (open.length === 0) return
  await eraseSites(clickhouse, async () => idsOf(await sitesToErase(postgres, clickhouse.shard)), withinMs)
  const unrepaired = clickhouse.replicas ? [] : await tablesIgnoringMutations(clickhouse)
  if (unrepaired.length > 0) {
    throw new Error(
      `ClickHouse deletes no rows of ${unrepaired.join(', ')}, because it was restored from a backup. Run \`footfall migrate\`.`,
    )
  }
  await markErasure(postgres, clickhouse.shard, 'erased_at', open)
}

/**
 * Runs the first step right after a deletion, with a time limit. The deletion is recorded: if ClickHouse hangs, the rollup process tries
 * again. Returns whether the rows are erased.
 */
export const tryToEraseRows = (stores: Stores, timeoutMs: number): Promise<boolean> =>
  within(timeoutMs, 'ClickHouse', eraseRows(stores)).then(
    () => true,
    () => false,
  )

const idsOf = (erasures: readonly { id: string }[]): string[] => erasures.map(({ id }) => id)
