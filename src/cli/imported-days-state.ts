import { byShard } from '../cluster/stores.ts'
import { daysCountedTwice, importsWithoutRows } from '../importing/sums/doubts.ts'
import type { Context } from './command.ts'

/** For `footfall doctor`: imported days that also have events, and imports whose rows are gone (decision D-244). */
export async function importedDaysState(
  context: Context,
): Promise<{ state: 'ok' | 'warning' | 'failed'; found: string; advice?: string }> {
  const stores = byShard(context)
  const [lost] = (await Promise.all(stores.map(importsWithoutRows))).flat()
  if (lost)
    return {
      state: 'failed',
      found: `ClickHouse has no rows of the import ${lost.importId} into ${lost.domain}: it was restored from an older copy`,
      advice: `Import its files again: footfall import undo ${lost.domain} ${lost.importId}, then footfall import ${lost.domain} <file>…`,
    }
  const twice = (await Promise.all(stores.map(daysCountedTwice))).flat()
  const [first] = twice
  if (!first) return { state: 'ok', found: 'none of them has events besides' }
  const shown = twice.slice(0, 5).map(({ domain, day }) => `${domain} ${day}`)
  const more = twice.length - shown.length
  return {
    state: 'warning',
    found: `events and imported sums of the same day both count: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    advice: `If visitors count twice there, undo the import and end it earlier with --until: footfall import list ${first.domain}`,
  }
}
