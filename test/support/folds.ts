// A fold step by step, so that a test can do something between two of them.
import assert from 'node:assert/strict'
import { beginFold, type Run, type Span } from '../../src/folding/ledger.ts'
import { foldStatements } from '../../src/folding/statements.ts'
import type { Postgres } from '../../src/stores/postgres.ts'
import type { DayRange } from '../../src/traffic/folds.ts'
import type { Stores } from './stores.ts'

/** Of a site that is there. */
export async function begunFold(
  postgres: Postgres,
  siteId: string,
  span: Span,
  ranges: readonly DayRange[],
): Promise<Run> {
  const run = await beginFold(postgres, siteId, span, ranges)
  assert.ok(run)
  return run
}

/** Writes the rows of days whose fold has begun. */
export async function writeDays(
  { clickhouse }: Pick<Stores, 'clickhouse'>,
  siteId: string,
  { version }: Run,
  days: readonly DayRange[],
): Promise<void> {
  for (const statement of foldStatements({ siteId, version, days }, { atOnce: true })) await clickhouse.run(statement)
}
