// A rollup run in single steps, so that a test can act between two of them.
import assert from 'node:assert/strict'
import { findSite } from '../../src/accounts/sites.ts'
import type { DayRange } from '../../src/calendar/days.ts'
import { beginRun, type Run, type RunSpan } from '../../src/rollups/runs.ts'
import { rollupStatements } from '../../src/rollups/statements.ts'
import type { Postgres } from '../../src/stores/postgres.ts'
import type { Stores } from '../support/stores.ts'
import type { World } from '../support/world.ts'

/** Of a site that is there. */
export async function begunRun(
  postgres: Postgres,
  siteId: string,
  span: RunSpan,
  ranges: readonly DayRange[],
): Promise<Run> {
  const run = await beginRun(postgres, siteId, 1, span, ranges)
  assert.ok(run)
  return run
}

/** Writes the rows of days for a run that has begun. */
export async function writeDays(
  { clickhouse }: Pick<Stores, 'clickhouse'>,
  siteId: string,
  { version }: Run,
  days: readonly DayRange[],
): Promise<void> {
  for (const statement of rollupStatements({ siteIds: [siteId], version, days }, { atOnce: true }))
    await clickhouse.run(statement)
}

/** Which days and months of a site are readable, and under which versions. */
export const coverageOf = async ({ stores, siteId }: Pick<World, 'stores' | 'siteId'>) =>
  (await findSite(stores.postgres, siteId))?.coverage.versions
