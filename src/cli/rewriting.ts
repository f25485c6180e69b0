// What an operator reads about columns that are rewritten (cluster/column-rewrites.ts).
import { leftToRewrite, type Obstacle, type Rewriting } from '../cluster/column-rewrites.ts'
import { columnsOf, pendingClickHouseMigrations } from '../cluster/migrate.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import { size } from './size.ts'

/** A column of a million rows takes 0.15 s of CPU time, and about twice that on a machine that serves meanwhile (decision D-217). */
const secondsPerRow = 0.3e-6

const percent = (share: number): string => `${Math.round(100 * share)} %`

function duration(rows: number): string {
  const seconds = Math.max(1, Math.round(rows * secondsPerRow))
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}

export const namesOf = ({ columns }: Rewriting): string => columns.join(', ')

export const planOf = (rewriting: Rewriting): string =>
  `${namesOf(rewriting)}: rewriting ${size(rewriting.bytes)}, about ${duration(rewriting.rows)}; the disk will be ${percent(rewriting.fullness)} full`

export const leftOf = (rewriting: Rewriting): string =>
  rewriting.parts === 0
    ? 'nothing is left to rewrite, but a migration is not recorded'
    : `${namesOf(rewriting)}: ${size(rewriting.bytes)} in ${rewriting.parts.toLocaleString('en')} part${rewriting.parts === 1 ? '' : 's'} to rewrite`

export function whyNot({ fits, fullness }: Rewriting, obstacle: Obstacle): { message: string; hint: string } {
  if (obstacle === 'busy')
    return {
      message: 'A replica is still rewriting another column.',
      hint: 'Run: footfall migrate. Everything works meanwhile.',
    }
  return {
    message: fits
      ? `The disk would be ${percent(fullness)} full, and 85 % is the limit.`
      : 'The disk has no room for a copy of the largest part, without which ClickHouse does not begin.',
    hint: 'Free or add disk, then run: footfall migrate. Everything works meanwhile.',
  }
}

/** What `footfall doctor` finds on one server. */
export async function upgradeOf(
  clickhouse: ClickHouse,
): Promise<{ state: 'ok' | 'warning'; found: string; advice?: string }> {
  const waiting = columnsOf(await pendingClickHouseMigrations(clickhouse))
  const left = await leftToRewrite(clickhouse, waiting)
  if (left.parts === 0 && waiting.length === 0) return { state: 'ok', found: 'no column is left to rewrite' }
  for (const columns of [[], ...waiting.map((column) => [column])]) {
    const step = await leftToRewrite(clickhouse, columns)
    if (columns.length === 0 ? step.fits : !step.isTooFull) continue
    const { message, hint } = whyNot(step, 'no room')
    return { state: 'warning', found: `${leftOf(left)}. ${message}`, advice: hint }
  }
  const advice =
    waiting.length > 0
      ? 'Run: footfall migrate. Everything works meanwhile.'
      : 'ClickHouse is working on it; footfall migrate shows the progress.'
  return { state: 'warning', found: leftOf(left), advice }
}
