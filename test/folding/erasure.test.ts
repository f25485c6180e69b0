import assert from 'node:assert/strict'
import test from 'node:test'
import { foldOpenDay } from '../../src/folding/open-days.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { eraseSites } from '../../src/traffic/erasure.ts'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'

test('a site that is erased leaves no row in any table that holds sites', async (t) => {
  const world = await openWorld(t, { now: '2026-03-15T12:00:00Z' })
  const { clickhouse } = world.stores
  const hits = ['2026-03-14', '2026-03-15'].map((day) =>
    pageview({ at: `${day}T10:00:00Z`, title: 'A', referrer: 'b.example' }),
  )
  await world.record(...hits)
  await world.fold('2026-03-14')
  await foldOpenDay(world.stores, world.siteId, 'UTC', Date.parse('2026-03-15T12:00:00Z'))

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
  const all = { events: 1, long_tallies: 1, open_tallies: 1, short_tallies: 1, titles: 1 }
  assert.deepEqual(await rowsLeft(), all)
  await eraseSites(clickhouse, [world.siteId])
  assert.deepEqual(await rowsLeft(), Object.fromEntries(Object.keys(all).map((name) => [name, 0])))
})
