// Moves a site to another shard while it is read and written (decision D-203):
//   copying   its rows are copied, and copied again where they have changed
//   holding   collectors hold back its events, and nobody writes its rollups. The rest is copied, until both copies are equal.
//   moved     one transaction changes `sites.shard`. When every process has heard of it, the collectors ship what they held back.
// The old copy is erased when no reader can be using it any more (erasure/job.ts). A process that is killed at any step leaves a site that is
// complete where it is; the same call continues the move, and `cancelMove` gives it up.
import { setTimeout as pause } from 'node:timers/promises'
import { withLease } from '../cluster/lease.ts'
import type { AllStores } from '../cluster/stores.ts'
import { hourMs, minuteMs } from '../durations.ts'
import { eraseAgain } from '../erasure/deleted-sites.ts'
import { noteInClickHouse, noteKeptDays } from '../rollups/ledger.ts'
import { stalestReader } from '../rollups/runs.ts'
import type { ClickHouse } from '../stores/clickhouse.ts'
import type { Postgres } from '../stores/postgres.ts'
import { CannotMove } from './cannot-move.ts'
import { unconfirmedCollectors } from './collectors.ts'
import { copyDifferences, refuseRunningUploads } from './copy.ts'
import { beginMove, changeShard, endHold, holdSite, leaseOf, type Refusal } from './moves.ts'
import { withoutWriters } from './writing.ts'

export type Step = 'copying' | 'holding' | 'comparing' | 'changing' | 'moved' | 'released'

export interface MoveOptions {
  siteId: string
  shard: number
  /** Called before each step. */
  onStep?: (step: Step) => Promise<void> | void
  onProgress?: (rows: number, total: number) => void
  /** How long to wait for collectors and imports. */
  confirmMs?: number
  /** How long to wait for a copy without differences. */
  compareMs?: number
  /** How long to wait until every process knows the new shard. */
  heardMs?: number
}

/** When this few rows are left, the rest is copied while new events are held back. */
const fewRows = 500_000
const maxRounds = 10
/** Collectors report every second. */
const maxConfirmMs = minuteMs
const maxCompareMs = 5 * minuteMs
const betweenRoundsMs = 200
/** Every process that PostgreSQL reaches hears of a change within a second (accounts/directory.ts). */
const surelyHeardMs = 3_000

/** Returns undefined if another process is moving the site. */
export const moveSite = (stores: AllStores, options: MoveOptions): Promise<Refusal | 'moved' | undefined> =>
  withLease(stores.postgres, leaseOf(options.siteId), () => moveWithLease(stores, options))

async function moveWithLease({ postgres, cluster }: AllStores, options: MoveOptions): Promise<Refusal | 'moved'> {
  const { siteId, shard, onStep = () => {}, onProgress } = options
  const { confirmMs = maxConfirmMs, compareMs = maxCompareMs, heardMs = surelyHeardMs } = options
  const refusal = await beginMove(postgres, siteId, shard)
  if (refusal) return refusal
  const source = cluster.of({ shard: await shardOf(postgres, siteId) })
  const target = cluster.of({ shard })
  const copy = {
    siteId,
    source,
    target,
    ...(onProgress && { onProgress }),
    mayGoOn: () => refuseIfGone(postgres, siteId),
  }
  for (const one of [source, target]) await refuseIfBehind(one)
  await onStep('copying')
  await copyMost(copy)
  await onStep('holding')
  const hold = await holdSite(postgres, siteId)
  if (hold === undefined) throw new CannotMove('The move was cancelled.')
  try {
    await untilConfirmed(postgres, hold, confirmMs)
    await withoutWriters(postgres, siteId, confirmMs, async () => {
      await onStep('comparing')
      await copyRest(copy, compareMs)
      await refuseIfBehind(target)
      await onStep('changing')
      await noteKeptDays({ postgres, clickhouse: target }, { siteId })
      if (!(await changeShard(postgres, siteId, hold, stalestReader))) {
        await eraseAgain(postgres, [siteId]) // it may have been deleted, and rows were written since
        throw new CannotMove('The site was deleted, or its events were held back for too long.')
      }
      for (const clickhouse of [source, target]) await noteInClickHouse({ postgres, clickhouse })
    })
    await onStep('moved')
    await pause(heardMs)
  } finally {
    await endHold(postgres, siteId, hold)
  }
  await onStep('released')
  return 'moved'
}

/** Copies most rows while new ones arrive. Leaves out the events of this hour. */
async function copyMost(copy: Parameters<typeof copyDifferences>[0]): Promise<void> {
  for (let round = 0; round < maxRounds; round++) {
    const before = Math.floor(Date.now() / hourMs) * hourMs
    const rows = await copyDifferences({ ...copy, before })
    if (rows === undefined || rows < fewRows) return
  }
}

/** Statements that were running when the hold began may still write, so this takes several rounds. */
async function copyRest(copy: Parameters<typeof copyDifferences>[0], timeoutMs: number): Promise<void> {
  const until = Date.now() + timeoutMs
  for (; Date.now() < until; await pause(betweenRoundsMs)) {
    if ((await copyDifferences(copy)) !== undefined) continue
    await refuseRunningUploads(copy.target, copy.siteId)
    if ((await copyDifferences(copy)) === undefined) return
  }
  throw new CannotMove('The copy still differs from the site. Nothing was changed; repeat the command to continue.')
}

async function untilConfirmed(postgres: Postgres, hold: string, timeoutMs: number): Promise<void> {
  const until = Date.now() + timeoutMs
  for (;;) {
    const missing = await unconfirmedCollectors(postgres, hold)
    if (missing.length === 0) return
    if (Date.now() > until) {
      const names = missing.map(({ id, host, seenAt }) => `${id} on ${host}, last seen ${seenAt.toISOString()}`)
      throw new CannotMove(
        `Collectors have not confirmed that they hold back events: ${names.join('; ')}. Start them and repeat the command, or, if a spool is lost for good: footfall collector forget <id>`,
      )
    }
    await pause(200)
  }
}

/** Readers must find every row on every replica, and no row may depend on one disk. */
async function refuseIfBehind({ replicas }: ClickHouse): Promise<void> {
  const cause = await replicas?.incomplete()
  if (cause) throw new CannotMove(`${cause} Repeat the command when every replica is back.`)
}

async function shardOf(postgres: Postgres, siteId: string): Promise<number> {
  const [row] = await postgres<{ shard: number }[]>`SELECT shard FROM sites WHERE id = ${siteId}`
  if (!row) throw new CannotMove('The site was deleted.')
  return row.shard
}

/** If the site was deleted, the rows that were copied since then are erased, too. */
async function refuseIfGone(postgres: Postgres, siteId: string): Promise<void> {
  if ((await eraseAgain(postgres, [siteId])).length > 0) throw new CannotMove('The site was deleted.')
}
