import { byShard } from '../cluster/stores.ts'
import { compareLedger, unknownSites } from '../rollups/ledger.ts'
import type { Context } from './command.ts'

/** For `footfall doctor`: whether both databases are of the same moment (decision D-205). */
export async function ledgerState(
  context: Context,
): Promise<{ state: 'ok' | 'warning' | 'failed'; found: string; advice?: string }> {
  const [{ epoch, began }] = await context.postgres<[{ epoch: number; began: string }]>`
      SELECT epoch, to_char(began_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS began FROM ledger`
  const older = (await Promise.all(byShard(context).map(compareLedger))).find((one) => one !== undefined)
  if (older) {
    return {
      state: 'failed',
      found: `${older} is an older copy: it was restored, or lost its last changes`,
      advice:
        'The process that rolls up (footfall serve, or footfall rollup run) finds out which days to read from events.',
    }
  }
  if (epoch === 0) return { state: 'ok', found: 'PostgreSQL and ClickHouse are of the same moment' }
  const unknown = await unknownSites(context)
  if (unknown.length > 0) {
    return {
      state: 'warning',
      found: `${unknown.length} sites have traffic, but PostgreSQL does not know them: it was restored from a copy from before they were created (${unknown.slice(0, 3).join(', ')})`,
      advice: `If you have a newer copy of PostgreSQL, restore that one. Otherwise, nobody can read this traffic, and no old events are dropped while it is there: footfall site delete ${unknown[0]} --yes`,
    }
  }
  return {
    state: 'ok',
    found: `epoch ${epoch} since ${began} UTC, when one of the databases was an older copy; both are of the same moment now`,
  }
}
