// A shipper on a spool of its own, for tests that go step by step.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { eraseAgain } from '../../src/accounts/deleted-sites.ts'
import type { Taken } from '../../src/collector/intake.ts'
import { openBatches } from '../../src/collector/shipper/batches.ts'
import { openDeadLetters } from '../../src/collector/shipper/dead-letters.ts'
import { deliverNotes } from '../../src/collector/shipper/notes.ts'
import { openShipped } from '../../src/collector/shipper/shipped.ts'
import { shipNext } from '../../src/collector/shipper/shipper.ts'
import { openSpoolFile } from '../../src/collector/spool-file.ts'
import { eraseRows } from '../../src/folding/erasures.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import type { SiteDay } from '../../src/traffic/late-days.ts'
import { eventOf, type Hit } from '../support/events.ts'
import { openStores } from '../support/stores.ts'

export const today = '2026-11-15'
export const now = Date.parse(`${today}T12:00:00Z`)

export async function openShipper(t: TestContext) {
  const { clickhouse, postgres } = await openStores()
  const folder = mkdtempSync(join(tmpdir(), 'footfall-spool-'))
  const siteId = `site_${randomUUID()}`
  const deadLetters = openDeadLetters(folder)
  const noted: { day: string; isStored: boolean }[] = []
  const fault = { noteLateDays: false, eraseDeleted: false, eventsKeptFrom: false, keep: false, remove: false }
  const kept = { from: '1970-01-01' }
  const openFiles = () => ({ batches: openBatches(folder), shipped: openShipped(folder, () => now) })
  let open = openFiles()
  const closeFiles = () => {
    open.batches.close()
    open.shipped.close()
  }
  t.after(() => {
    closeFiles()
    deadLetters.close()
    rmSync(folder, { recursive: true })
  })
  const taken = (hit: Hit, isRepeatable = true): Taken => ({ event: eventOf(hit, siteId, 'UTC'), isRepeatable })
  const stored = () =>
    clickhouse.rows<{ event_id: string; day: string; batch_id: string; name: string }>(sql`
      SELECT event_id, toString(day) AS day, batch_id, name FROM events
      WHERE site_id = ${text(siteId)} ORDER BY day, time`)

  const batches = {
    close: () => {},
    next() {
      const batch = open.batches.next()
      if (!batch || !fault.remove) return batch
      return {
        ...batch,
        remove() {
          throw new Error('The process ends here')
        },
      }
    },
  }

  return {
    clickhouse,
    postgres,
    folder,
    stored,
    siteId,
    deadLetters,
    taken,
    /** As the collector stores it: one group in the newest file. */
    store(group: readonly Taken[], number = 1): void {
      const file = openSpoolFile(folder, number)
      const lines = group.map((one) => JSON.stringify(one)).join('\n')
      file.prepare('INSERT INTO groups (events, lines) VALUES (?, ?)').run(group.length, lines)
      file.close()
    },
    ship: (engine: ClickHouse = clickhouse, isRetry = false) =>
      shipNext(
        {
          clickhouse: engine,
          async eventsKeptFrom() {
            if (fault.eventsKeptFrom) throw new Error('PostgreSQL is away')
            return kept.from
          },
          deadLetters,
          now: () => now,
          batches,
          shipped: {
            ...open.shipped,
            keep(...words) {
              if (fault.keep) throw new Error('The process ends here')
              open.shipped.keep(...words)
            },
          },
        },
        isRetry,
      ),
    /** As the process does it beside the shipping. */
    deliver: (meanwhile: () => Promise<unknown> = async () => {}) =>
      deliverNotes(open.shipped, {
        async noteLateDays(days: readonly SiteDay[]) {
          if (fault.noteLateDays) throw new Error('PostgreSQL is away')
          const rows = await stored()
          for (const { day } of days) noted.push({ day, isStored: rows.some((row) => row.day === day) })
          await meanwhile()
        },
        async eraseDeleted(ids) {
          if (fault.eraseDeleted) throw new Error('PostgreSQL is away')
          const deleted = await eraseAgain(postgres, ids)
          await eraseRows({ postgres, clickhouse })
          return deleted
        },
      }),
    waiting: () => open.shipped.notes().map(({ day, events }) => ({ day, events })),
    noted,
    fault,
    kept,
    /** As after kill -9: nothing is left but the files. */
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
export const ids = (taken: readonly Taken[]) => taken.map(({ event }) => event.eventId).sort()

export const pick = (shipment: { events: number; repeated: number } | undefined) => ({
  events: shipment?.events,
  repeated: shipment?.repeated,
})
