// A rollup run that exceeds its memory limit is split into smaller statements, with the same result (decision D-159).
import assert from 'node:assert/strict'
import test from 'node:test'
import { rollUpSite } from '../../src/rollups/roll-up.ts'
import { reports } from '../../src/stats/reports.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { custom, pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'

test('a day that does not fit into memory at once is rolled up with one statement per dimension', async (t) => {
  const world = await openWorld(t, { now: '2026-03-15T12:00:00Z' })
  await world.record(
    pageview({ at: '2026-03-04T10:00:00Z', visitor: 'a', utmSource: 'letter', pathname: '/a' }),
    pageview({ at: '2026-03-04T10:05:00Z', visitor: 'b', referrer: 'news.example' }),
    custom('Sign up', { at: '2026-03-04T10:06:00Z', visitor: 'b', referrer: 'news.example' }),
  )
  const asked = { range: 'custom', start: '2026-03-01', end: '2026-03-14' }
  const answers = () => Promise.all(Object.keys(reports).map((name) => world.data(`/stats/${name}`, asked)))
  const raw = await answers()

  const { postgres, clickhouse } = world.stores
  let statements = 0
  // The second statement fails, so the first has already written rows.
  const small: ClickHouse = {
    ...clickhouse,
    run: (statement, settings) =>
      clickhouse.run(statement, ++statements === 2 ? { ...settings, max_memory_usage: '1000' } : { ...settings }),
  }
  await rollUpSite({ postgres, clickhouse: small }, world.siteId, '2026-03-14')
  assert.ok(statements > 2 + 8, `${statements} statements`)
  world.api.directory.forget(world.siteId)
  assert.deepEqual(await answers(), raw)

  // Other errors are thrown, and so is the error of a single statement that needs too much memory.
  const broken: ClickHouse = {
    ...clickhouse,
    run: (statement, settings) => clickhouse.run(statement, { ...settings, max_memory_usage: '1000' }),
  }
  await world.invalidate('2026-03-04')
  await assert.rejects(rollUpSite({ postgres, clickhouse: broken }, world.siteId, '2026-03-14'), { code: '241' })
  assert.deepEqual(await answers(), raw)
})
