// Tells PostgreSQL that this collector exists, and learns which sites move (decision D-203).
import { hostname } from 'node:os'
import { type Placement, placementsOf, reportCollector } from '../../moving/collectors.ts'
import type { Postgres } from '../../stores/postgres.ts'
import type { Batches } from './batches.ts'
import type { Placements } from './placements.ts'

export interface Reporting {
  /** Sends a report and returns whether that worked. Calls share a report that is under way. */
  report(): Promise<boolean>
  /** Call it between two batches of the shard. */
  confirmHolds(shard: number): void
  /** Resolves when no report is under way. */
  idle(): Promise<unknown>
}

interface ReportingOptions {
  placements: Placements
  batches: Batches
  /** The number of shards. */
  shards: number
  ask<Value>(work: (postgres: Postgres) => Promise<Value>): Promise<Value>
  /** Called after a report that failed. */
  reconnect(): void
  /** PostgreSQL belongs to another installation or epoch than before. If this process ships, it ends, and the next one begins anew. */
  onOtherInstallation(): void
}

export function createReporting(options: ReportingOptions): Reporting {
  const { placements, batches, shards, ask, reconnect, onOtherInstallation } = options
  /** The holds that this process obeys, by site. Each was added while no batch of its shard was under way. */
  const confirmed = new Map<string, string>()
  let reportedAt: string | undefined
  /** Identifies the database and its last start. */
  let knownStart: string | undefined
  let reporting: Promise<boolean> | undefined

  async function reportOnce(): Promise<boolean> {
    try {
      const own = { id: placements.id, host: hostname(), shards, holds: [...confirmed.values()], since: reportedAt }
      const { placements: changed, asOf, installation, start } = await ask((postgres) => reportCollector(postgres, own))
      if (installation !== placements.installation || (start !== knownStart && (await isOfAnotherMoment())))
        await changeInstallation(installation)
      knownStart = start
      placements.take([...changed, ...(await heldNow(changed))])
      for (const [siteId, hold] of confirmed)
        if (!placements.held().some((held) => held.siteId === siteId && held.hold === hold)) confirmed.delete(siteId)
      reportedAt = asOf
      return true
    } catch {
      reconnect() // the delivery of notes reports that PostgreSQL is down
      return false
    }
  }

  /**
   * Both databases may have been restored to the same earlier moment. Then they agree and no epoch begins, but sites that moved since are on
   * their shards of before.
   */
  async function isOfAnotherMoment(): Promise<boolean> {
    if (placements.size === 0) return false
    const current = await ask((postgres) => placementsOf(postgres, placements.siteIds()))
    return current.some(({ siteId, shard }) => placements.of(siteId) !== null && placements.of(siteId) !== shard)
  }

  /** Sites of the spool may be on other shards now, and events that were sent may be missing in ClickHouse. */
  async function changeInstallation(installation: string): Promise<void> {
    const isNew = placements.installation === undefined
    if (!isNew) onOtherInstallation()
    // Those known so far, too: hits that are accepted right now may carry their shard of before.
    const siteIds = [...new Set([...placements.siteIds(), ...batches.siteIds()])]
    const all = isNew ? [] : await ask((postgres) => placementsOf(postgres, siteIds))
    if (!isNew) batches.forgetPlans()
    placements.changeInstallation(installation, all)
  }

  /** A restored PostgreSQL does not report the end of a hold that it never knew. So this reads the placement of each held site. */
  async function heldNow(changed: readonly Placement[]): Promise<Placement[]> {
    const held = placements.held().filter(({ siteId }) => !changed.some((one) => one.siteId === siteId))
    if (held.length === 0) return []
    const siteIds = held.map(({ siteId }) => siteId)
    const current = await ask((postgres) => placementsOf(postgres, siteIds))
    return held.map(
      ({ siteId, shard }) => current.find((one) => one.siteId === siteId) ?? { siteId, shard, hold: null },
    )
  }

  function report(): Promise<boolean> {
    reporting ??= reportOnce().finally(() => {
      reporting = undefined
    })
    return reporting
  }

  return {
    report,
    confirmHolds(shard) {
      const unconfirmed = placements.held(shard).filter(({ siteId, hold }) => confirmed.get(siteId) !== hold)
      if (unconfirmed.length === 0 || !batches.isIdle(shard)) return
      for (const { siteId, hold } of unconfirmed) confirmed.set(siteId, hold)
      void report()
    },
    idle: async () => reporting,
  }
}
