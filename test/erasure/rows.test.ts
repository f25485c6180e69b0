import assert from 'node:assert/strict'
import test from 'node:test'
import { eraseSites } from '../../src/erasure/rows.ts'
import { rollUpToday } from '../../src/rollups/today.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { pageview } from '../support/events.ts'
import { importDailySums, visitorsOfDays } from '../support/imported-sums.ts'
import { openWorld } from '../support/world.ts'

test('erasing a site leaves no row of it in any table with sites', async (t) => {
  const world = await openWorld(t, { now: '2026-03-15T12:00:00Z' })
  const { clickhouse } = world.stores
  const hits = ['2026-03-14', '2026-03-15'].map((day) =>
    pageview({ at: `${day}T10:00:00Z`, title: 'A', referrer: 'b.example' }),
  )
  await world.record(...hits)
  await world.rollUp('2026-03-14')
  await rollUpToday(world.stores, world.siteId, 'UTC', Date.parse('2026-03-15T12:00:00Z'))

  await importDailySums(world.stores, world.siteId, visitorsOfDays({ '2026-03-01': 3 }))
  await clickhouse.insert(
    'kept_days',
    [{ site_id: world.siteId, version: 1, first: '2020-01-01', last: '2020-01-01' }],
    world.siteId,
  )

  const tables = await clickhouse.rows<{ held: string }>(sql`
    SELECT table AS held FROM system.columns WHERE database = currentDatabase() AND name = 'site_id' ORDER BY held`)
  const rowsLeft = async () => {
    const left: [string, number][] = []
    for (const { held: name } of tables) {
      const [row] = await clickhouse.rows<{ rows: number }>(sql`
        SELECT count() AS rows FROM merge(currentDatabase(), ${text(`^${name}$`)}) WHERE site_id = ${text(world.siteId)}`)
      left.push([name, Math.sign(row?.rows ?? 0)])
    }
    return Object.fromEntries(left)
  }
  const names = [
    'events',
    'imported_sums',
    'kept_days',
    'long_rollups',
    'sessions',
    'short_rollups',
    'titles',
    'today_rollups',
  ]
  const all = Object.fromEntries(names.map((name) => [name, 1]))
  assert.deepEqual(await rowsLeft(), all)
  await eraseSites(clickhouse, async () => [world.siteId])
  assert.deepEqual(await rowsLeft(), Object.fromEntries(Object.keys(all).map((name) => [name, 0])))
})
