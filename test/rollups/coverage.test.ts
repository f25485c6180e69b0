import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import type { DayRange } from '../../src/calendar/days.ts'
import { forgetRollups, invalidateDays } from '../../src/rollups/invalidation.ts'
import { rollUpSite } from '../../src/rollups/roll-up.ts'
import { publishRun } from '../../src/rollups/runs.ts'
import { rollupStatements } from '../../src/rollups/statements.ts'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'
import { begunRun, coverageOf } from './run-steps.ts'

const now = '2026-03-15T12:00:00Z'
const week: DayRange = ['2026-03-01', '2026-03-07']

test('a day is readable after its rollup run is committed, not before', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres } = world.stores
  const run = await begunRun(postgres, world.siteId, 'day', [week])
  assert.deepEqual(await coverageOf(world), [])
  assert.equal(await publishRun(postgres, run), true)
  assert.deepEqual(await coverageOf(world), [{ version: 1, layout: 2, days: [week], months: [] }])
})

test('an event that arrives while its day is being rolled up keeps only that day from becoming readable', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres } = world.stores
  const run = await begunRun(postgres, world.siteId, 'day', [week])
  await invalidateDays(postgres, [{ siteId: world.siteId, day: '2026-03-04' }])
  await publishRun(postgres, run)
  const days = [
    ['2026-03-01', '2026-03-03'],
    ['2026-03-05', '2026-03-07'],
  ]
  assert.deepEqual(await coverageOf(world), [{ version: 1, layout: 2, days, months: [] }])
})

test('rows of an unfinished rollup run are never read', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres, clickhouse } = world.stores
  await world.record(pageview({ at: '2026-03-04T10:00:00Z' }))
  const days: DayRange[] = [['2026-03-04', '2026-03-04']]
  const { version } = await begunRun(postgres, world.siteId, 'day', days)
  for (const statement of rollupStatements({ siteIds: [world.siteId], version, days }, { atOnce: true }))
    await clickhouse.run(statement)
  // The process dies here. The next rollup run starts over with another version.
  await world.rollUp('2026-03-14')
  const rollupVersions = await coverageOf(world)
  assert.ok(rollupVersions?.every((readable) => readable.version !== version))
  const april = { range: 'custom', start: '2026-03-01', end: '2026-03-14' }
  assert.equal((await world.data('/stats/overview', april)).current.pageviews, 1)
})

test('invalidating a day invalidates its month; the other days stay readable', async (t) => {
  const world = await openWorld(t, { now })
  await world.record(pageview({ at: '2026-01-31T10:00:00Z' }), pageview({ at: '2026-03-01T10:00:00Z' }))
  await world.rollUp('2026-03-14')
  assert.deepEqual(await coverageOf(world), [
    { version: 1, layout: 2, days: [['2026-01-01', '2026-03-14']], months: [['2026-01-01', '2026-02-28']] },
  ])
  await world.invalidate('2026-02-10')
  const days = [
    ['2026-01-01', '2026-02-09'],
    ['2026-02-11', '2026-03-14'],
  ]
  assert.deepEqual(await coverageOf(world), [{ version: 1, layout: 2, days, months: [['2026-01-01', '2026-01-31']] }])
  await world.rollUp('2026-03-14')
  assert.deepEqual(await coverageOf(world), [
    { version: 1, layout: 2, days, months: [['2026-01-01', '2026-01-31']] },
    { version: 2, layout: 2, days: [['2026-02-10', '2026-02-10']], months: [['2026-02-01', '2026-02-28']] },
  ])
})

test('a day invalidated just before its month is rolled up keeps the month from becoming readable', async (t) => {
  const world = await openWorld(t, { now })
  await world.record(pageview({ at: '2026-01-31T10:00:00Z' }), pageview({ at: '2026-03-01T10:00:00Z' }))
  const { postgres, clickhouse } = world.stores
  let reads = 0
  // The run finds the first event, counts events per day, then rows per month. This interrupts it right before the months begin.
  const interrupted = new Proxy(clickhouse, {
    get: (clickhouseServer, name) => {
      if (name !== 'rowsPatiently') return Reflect.get(clickhouseServer, name)
      return async (...given: Parameters<typeof clickhouse.rowsPatiently>) => {
        const rows = await clickhouseServer.rowsPatiently(...given)
        if (++reads === 3) await invalidateDays(postgres, [{ siteId: world.siteId, day: '2026-02-10' }])
        return rows
      }
    },
  })
  await rollUpSite({ postgres, clickhouse: interrupted }, world.siteId, '2026-03-14')
  assert.equal(reads, 3)
  assert.deepEqual((await coverageOf(world))?.[0]?.months, [])
  await world.rollUp('2026-03-14')
  assert.deepEqual(
    (await coverageOf(world))?.flatMap((version) => version.months),
    [['2026-01-01', '2026-02-28']],
  )
})

test('swept days may be written again with their old version, and responses stay the same', async (t) => {
  const world = await openWorld(t, { now })
  await world.record(pageview({ at: '2026-03-04T10:00:00Z' }))
  await world.rollUp('2026-03-14')
  await world.invalidate('2026-03-04')
  assert.ok((await world.sweep()) > 0)
  await world.rollUp('2026-03-14')
  assert.deepEqual(await coverageOf(world), [
    { version: 1, layout: 2, days: [['2026-03-01', '2026-03-14']], months: [] },
  ])
  const march = { range: 'custom', start: '2026-03-01', end: '2026-03-14' }
  assert.equal((await world.data('/stats/overview', march)).current.pageviews, 1)
  assert.deepEqual(await world.data('/stats/pages', march), [{ pathname: '/', title: '', views: 1, visitors: 1 }])
})

test('invalidating a day without rollups changes nothing; forgetting a site makes none of its days readable', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres } = world.stores
  await world.record(pageview({ at: '2026-03-04T10:00:00Z' }))
  await world.rollUp('2026-03-14')
  const rollupVersions = await coverageOf(world)
  const counter = async () =>
    (await postgres`SELECT changed_at FROM rollup_coverage WHERE site_id = ${world.siteId}`)[0]
  const before = await counter()
  await invalidateDays(postgres, [
    { siteId: world.siteId, day: '2026-03-15' },
    { siteId: 'site_aaaaaaaaaaaaaaaa', day: '2026-03-04' },
  ])
  assert.deepEqual([await coverageOf(world), await counter()], [rollupVersions, before])
  await forgetRollups(postgres, world.siteId)
  assert.deepEqual(await coverageOf(world), [])
})

test('another process reads a late event within a second', async (t) => {
  const world = await openWorld(t, { now })
  const other = await openWorld(t, { now })
  await world.record(pageview({ at: '2026-03-04T10:00:00Z' }))
  await world.rollUp('2026-03-14')
  const ask = async () => {
    const headers = { Authorization: `Bearer ${world.key.text}` }
    const query = 'range=custom&start=2026-03-01&end=2026-03-14'
    return (await other.api.fetch(`/api/v1/stats/overview?${query}`, { headers })).json.data.current.pageviews
  }
  assert.equal(await ask(), 1)
  await world.record(pageview({ at: '2026-03-04T11:00:00Z' }))
  const noted = performance.now()
  while ((await ask()) !== 2) assert.ok(performance.now() - noted < 5_000, 'the other process never saw the event') // one second, plus room for a busy machine
})
