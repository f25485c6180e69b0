// Erases what is left of deleted sites (decision D-145). Each step is recorded before the next begins, and each may be done twice.
import {
  eraseAgain,
  listDeletedSites,
  markErasure,
  rewriteEvery,
  sitesToErase,
  sitesToPurge,
  sitesToRewrite,
} from '../accounts/deleted-sites.ts'
import { eraseSites, hasFilesOf, rewriteWithout, sitesWithRows } from '../traffic/erasure.ts'
import { dropLeftClones } from '../traffic/snapshot.ts'
import type { Stores } from './fold.ts'

/** Does what is due; throws when it has to be tried again. */
export async function eraseDeletedSites(stores: Stores, wait = rewriteEvery): Promise<void> {
  await eraseRows(stores)
  const { postgres, clickhouse } = stores
  if ((await sitesToRewrite(postgres, wait)).length > 0) {
    // What a writer has written that could not say so, with PostgreSQL away, is found here at the latest.
    const deleted = (await listDeletedSites(postgres)).map(({ id }) => id)
    await eraseAgain(postgres, await sitesWithRows(clickhouse, deleted))
    await eraseRows(stores)
    const due = await sitesToRewrite(postgres, wait)
    const at = await rewriteWithout(clickhouse, idsOf(due))
    await markErasure(postgres, 'rewritten_at', due, at)
  }
  const rewritten = await sitesToPurge(postgres)
  const latest = rewritten.map(({ rewrittenAt }) => rewrittenAt).sort((a, b) => b.getTime() - a.getTime())[0]
  // Looked for in this order: a clone has links to the same files.
  const areClonesGone = await dropLeftClones(stores)
  if (!latest || !areClonesGone || (await hasFilesOf(clickhouse, latest))) return
  await markErasure(postgres, 'purged_at', rewritten)
}

/** The first step alone: from then on no statement finds a row of a deleted site. */
export async function eraseRows({ postgres, clickhouse }: Stores): Promise<void> {
  const open = await sitesToErase(postgres)
  if (open.length === 0) return
  await eraseSites(clickhouse, idsOf(open))
  await markErasure(postgres, 'erased_at', open)
}

const idsOf = (erasures: readonly { id: string }[]): string[] => erasures.map(({ id }) => id)
