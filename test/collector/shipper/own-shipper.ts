// A shipper with its own spool, for tests that go step by step.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openBatches } from '../../../src/collector/shipper/batches.ts'
import { openDeadLetters } from '../../../src/collector/shipper/dead-letters.ts'
import { deliverNotes } from '../../../src/collector/shipper/notes.ts'
import { openPlacements } from '../../../src/collector/shipper/placements.ts'
import { releaseKept, shipNextBatch } from '../../../src/collector/shipper/ship-batch.ts'
import { openShipped } from '../../../src/collector/shipper/shipped.ts'
import { openSpoolFile } from '../../../src/collector/spool/files.ts'
import type { SpooledEvent } from '../../../src/collector/spool/spooled-event.ts'
import { eraseAgain } from '../../../src/erasure/deleted-sites.ts'
import { eraseRows } from '../../../src/erasure/job.ts'
import type { SiteDay } from '../../../src/rollups/invalidation.ts'
import type { ClickHouse } from '../../../src/stores/clickhouse.ts'
import { sql, text } from '../../../src/stores/clickhouse-sql.ts'
import { storedId } from '../../../src/traffic/recording.ts'
import { eventOf, type Hit } from '../../support/events.ts'
import { openStores } from '../../support/stores.ts'

export const today = '2026-11-15'
export const now = Date.parse(`${today}T12:00:00Z`)

export async function openShipper(t: TestContext) {
  const { clickhouse, postgres } = await openStores()
  const folder = mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  const siteId = `site_${randomUUID()}`
  const deadLetters = openDeadLetters(folder)
  const noted: { day: string; isStored: boolean }[] = []
  const fault = { invalidateDays: false, eraseDeleted: false, retainedFrom: false, keep: false, remove: false }
  const kept = { from: '1970-01-01' }
  const openFiles = () => {
    const placements = openPlacements(folder)
    return { placements, batches: openBatches(folder, placements), shipped: openShipped(folder, () => now) }
  }
  let open = openFiles()
  const closeFiles = () => {
    open.placements.close()
    open.batches.close()
    open.shipped.close()
  }
  t.after(() => {
    closeFiles()
    deadLetters.close()
    rmSync(folder, { recursive: true })
  })
  const taken = (hit: Hit, isRepeatable = true): SpooledEvent => ({
    shard: 1,
    event: eventOf(hit, siteId, 'UTC'),
    isRepeatable,
  })
  const stored = () =>
    clickhouse.rows<{ event_id: string; day: string; name: string }>(sql`
      SELECT toString(event_id) AS event_id, toString(day) AS day, name FROM events
      WHERE site_id = ${text(siteId)} ORDER BY day, time`)

  const batches = {
    close: () => {},
    isIdle: (shard: number) => open.batches.isIdle(shard),
    isEmpty: () => open.batches.isEmpty(),
    kept: (shard: number) => open.batches.kept(shard),
    next(shard: number) {
      const batch = open.batches.next(shard)
      if (!batch || !fault.remove) return batch
      return {
        ...batch,
        remove() {
          throw new Error('The process ends here')
        },
      }
    },
  }

  const storesWith = (client: ClickHouse) => ({
    clickhouse: client,
    async retainedFrom() {
      if (fault.retainedFrom) throw new Error('PostgreSQL is down')
      return kept.from
    },
    deadLetters,
    now: () => now,
    batches,
    shipped: {
      ...open.shipped,
      keep(...words: Parameters<typeof open.shipped.keep>) {
        if (fault.keep) throw new Error('The process ends here')
        open.shipped.keep(...words)
      },
    },
  })

  return {
    clickhouse,
    postgres,
    folder,
    stored,
    siteId,
    deadLetters,
    taken,
    /** Stores one group in the newest file, as the collector does. */
    store(group: readonly SpooledEvent[], number = 1, shard = 1): void {
      const file = openSpoolFile(folder, number)
      const lines = group.map((one) => JSON.stringify(one)).join('\n')
      file.prepare('INSERT INTO groups (shard, events, lines) VALUES (?, ?, ?)').run(shard, group.length, lines)
      file.close()
    },
    ship: (client: ClickHouse = clickhouse, isRetry = false) => shipNextBatch(storesWith(client), isRetry),
    release: (client: ClickHouse) => releaseKept(storesWith(client)),
    /** Delivers the notes, as the process does beside the shipping. */
    deliver: (meanwhile: () => Promise<unknown> = async () => {}) =>
      deliverNotes(open.shipped, {
        async invalidateDays(days: readonly SiteDay[]) {
          if (fault.invalidateDays) throw new Error('PostgreSQL is down')
          const rows = await stored()
          for (const { day } of days) noted.push({ day, isStored: rows.some((row) => row.day === day) })
          await meanwhile()
        },
        async eraseDeleted(ids) {
          if (fault.eraseDeleted) throw new Error('PostgreSQL is down')
          const deleted = await eraseAgain(postgres, ids)
          await eraseRows({ postgres, clickhouse })
          return deleted
        },
      }),
    waiting: () => open.shipped.notes().map(({ day, events }) => ({ day, events })),
    /** What PostgreSQL reports about moved sites. */
    take: (...given: Parameters<typeof open.placements.take>) => open.placements.take(...given),
    isIdle: () => open.batches.isIdle(1),
    noted,
    fault,
    kept,
    /** Restarts as after kill -9: only the files are left. */
    restart(): void {
      closeFiles()
      open = openFiles()
    },
    titles: () =>
      clickhouse.rows<{ pathname: string; title: string }>(sql`
        SELECT pathname, max(latest).title AS title FROM titles WHERE site_id = ${text(siteId)} GROUP BY pathname`),
  }
}

export const at = (time: string, day = today) => `${day}T${time}Z`
export const ids = (taken: readonly SpooledEvent[]) => taken.map(({ event }) => storedId(event.eventId)).sort()

export const pick = (shipment: { events: number; repeated: number } | undefined) => ({
  events: shipment?.events,
  repeated: shipment?.repeated,
})
