// Any number of concurrent rollup runs of one site: each makes only the days readable that it wrote itself (decision D-73).
import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { deleteSite } from '../../src/accounts/sites.ts'
import type { DayRange } from '../../src/calendar/days.ts'
import { eraseRows } from '../../src/erasure/job.ts'
import { forgetRollups, invalidateDays } from '../../src/rollups/invalidation.ts'
import { rebuildSite, rollUpSite } from '../../src/rollups/roll-up.ts'
import { areAlive, beginRun, publishRun } from '../../src/rollups/runs.ts'
import { sweep } from '../../src/rollups/sweep.ts'
import { verifySite } from '../../src/rollups/verify.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { pageview } from '../support/events.ts'
import { openWorld, type World } from '../support/world.ts'
import { begunRun, coverageOf, writeDays } from './run-steps.ts'

const now = '2026-03-15T12:00:00Z'
const firstWeek: DayRange[] = [['2026-03-01', '2026-03-07']]
const secondWeek: DayRange[] = [['2026-03-08', '2026-03-14']]
const both = { range: 'custom', start: '2026-03-01', end: '2026-03-14' }
const viewsOf = async (world: World) => {
  world.api.directory.forget(world.siteId)
  return (await world.data('/stats/overview', both)).current.pageviews
}
const visits = (day: string, count: number, name = 'v') =>
  Array.from({ length: count }, (_, index) => pageview({ at: `${day}T10:00:00Z`, visitor: `${name}${index}` }))

/** A site with ten visits on a day of the first week. */
async function openVisitedWorld(t: TestContext): Promise<World> {
  const world = await openWorld(t, { now })
  await world.record(...visits('2026-03-04', 10))
  return world
}

/** Does something else before each statement. */
const interrupted = (clickhouse: ClickHouse, meanwhile: () => Promise<void>): ClickHouse => ({
  ...clickhouse,
  async run(...given) {
    await meanwhile()
    return clickhouse.run(...given)
  },
})

/** Makes the site's runs look abandoned. */
const silence = ({ stores, siteId }: World) =>
  stores.postgres`UPDATE rollup_runs SET alive_at = now() - interval '16 minutes' WHERE site_id = ${siteId}`

test('a rollup run that commits does not make days readable that another run has not written yet', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres } = world.stores
  await world.record(...visits('2026-03-04', 10), ...visits('2026-03-10', 21))
  const one = await begunRun(postgres, world.siteId, 'day', firstWeek)
  await writeDays(world.stores, world.siteId, one, firstWeek)
  const other = await begunRun(postgres, world.siteId, 'day', secondWeek)
  assert.equal(one.version, other.version, 'runs of different days may share a version')
  assert.equal(await publishRun(postgres, one), true)
  assert.deepEqual(await coverageOf(world), [{ version: 1, layout: 2, days: firstWeek, months: [] }])
  assert.equal(await viewsOf(world), 31)
  await writeDays(world.stores, world.siteId, other, secondWeek)
  assert.equal(await publishRun(postgres, other), true)
  assert.deepEqual(await coverageOf(world), [
    { version: 1, layout: 2, days: [['2026-03-01', '2026-03-14']], months: [] },
  ])
  assert.equal(await viewsOf(world), 31)
})

test('two rollup runs of the same days use different versions, and a late event invalidates its day in both', async (t) => {
  const world = await openVisitedWorld(t)
  const { postgres } = world.stores
  const one = await begunRun(postgres, world.siteId, 'day', firstWeek)
  const other = await begunRun(postgres, world.siteId, 'day', firstWeek)
  assert.notEqual(one.version, other.version)
  for (const run of [one, other]) await writeDays(world.stores, world.siteId, run, firstWeek)
  await world.record(...visits('2026-03-04', 3, 'late'))
  for (const run of [one, other]) assert.equal(await publishRun(postgres, run), true)
  const days = [
    ['2026-03-01', '2026-03-03'],
    ['2026-03-05', '2026-03-07'],
  ]
  assert.deepEqual(await coverageOf(world), [{ version: other.version, layout: 2, days, months: [] }])
  assert.equal(await viewsOf(world), 13)
  assert.equal(await publishRun(postgres, one), false, 'each run commits once')
})

test('a month being written is not published after one of its days was rolled up again or forgotten', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres } = world.stores
  const february: DayRange[] = [['2026-02-01', '2026-02-28']]
  for (const meanwhile of [
    async () => {
      const run = await begunRun(postgres, world.siteId, 'day', [['2026-02-10', '2026-02-10']])
      await publishRun(postgres, run)
    },
    () => invalidateDays(postgres, [{ siteId: world.siteId, day: '2026-02-10' }]),
    () => forgetRollups(postgres, world.siteId),
  ]) {
    await publishRun(postgres, await begunRun(postgres, world.siteId, 'day', february))
    const month = await begunRun(postgres, world.siteId, 'month', february)
    await meanwhile()
    assert.equal(await publishRun(postgres, month), true)
    assert.deepEqual(
      (await coverageOf(world))?.flatMap(({ months }) => months),
      [],
    )
  }
})

test('an abandoned run commits nothing, and its days are never written with its version again', async (t) => {
  const world = await openVisitedWorld(t)
  const { postgres, clickhouse } = world.stores
  const lost = await begunRun(postgres, world.siteId, 'day', firstWeek)
  await writeDays(world.stores, world.siteId, lost, firstWeek)
  const rows = async () => {
    const [row] = await clickhouse.rows<{ rows: number }>(sql`
      SELECT count() AS rows FROM short_rollups
      WHERE site_id = ${text(world.siteId)} AND startsWith(rollup_key, ${text(`day ${lost.version} `)})`)
    return row?.rows ?? 0
  }
  assert.ok((await rows()) > 0)
  await world.sweep()
  assert.ok((await rows()) > 0, 'the rows of a live run stay')
  assert.equal(await areAlive(postgres, [lost]), true)
  await silence(world)
  await world.sweep()
  assert.equal(await rows(), 0)
  assert.equal(await areAlive(postgres, [lost]), false)
  assert.equal(await publishRun(postgres, lost), false)
  assert.deepEqual(await coverageOf(world), [])

  // Rows that its statements write now have a version that nobody reads.
  await writeDays(world.stores, world.siteId, lost, firstWeek)
  await world.rollUp('2026-03-14')
  assert.ok((await coverageOf(world))?.every(({ version }) => version !== lost.version))
  assert.equal(await viewsOf(world), 10)
})

test('a rollup that finds its run abandoned while it writes reports it, and the next one rolls up its days', async (t) => {
  const world = await openVisitedWorld(t)
  const { postgres, clickhouse } = world.stores
  const givenUp = interrupted(clickhouse, async () => {
    await silence(world)
    await world.sweep()
  })
  await assert.rejects(rollUpSite({ postgres, clickhouse: givenUp }, world.siteId, '2026-03-14'), /given up/)
  assert.deepEqual(await coverageOf(world), [])
  await world.rollUp('2026-03-14')
  assert.deepEqual((await verifySite(world.stores, world.siteId)).wrong, [])
  assert.equal(await viewsOf(world), 10)
})

test('of two concurrent sweeps neither deletes rows that were written again after the other', async (t) => {
  const world = await openVisitedWorld(t)
  const { postgres, clickhouse } = world.stores
  await world.rollUp('2026-03-14')
  await world.invalidate('2026-03-04')
  let deletions = 0
  const slow = interrupted(clickhouse, async () => {
    // It has found the rows of the day; another one sweeps and the day is rolled up again before it deletes them.
    if (++deletions > 1) return
    await world.sweep()
    await world.rollUp('2026-03-14')
  })
  await sweep({ postgres, clickhouse: slow }, '0 seconds')
  assert.ok(deletions > 0)
  assert.deepEqual((await verifySite(world.stores, world.siteId)).wrong, [])
  assert.equal(await viewsOf(world), 10)
})

test('a site deleted during its rollup leaves no rollups, and no run begins for a deleted site', async (t) => {
  const world = await openVisitedWorld(t)
  const { postgres, clickhouse } = world.stores
  const deleted = interrupted(clickhouse, async () => {
    await deleteSite(postgres, world.siteId)
    await eraseRows(world.stores)
  })
  await rollUpSite({ postgres, clickhouse: deleted }, world.siteId, '2026-03-14')
  await eraseRows(world.stores) // as the next rollup round does
  const left = await clickhouse.rows(sql`SELECT day FROM short_rollups WHERE site_id = ${text(world.siteId)}`)
  assert.deepEqual(left, [])
  assert.equal(await beginRun(postgres, world.siteId, 1, 'day', firstWeek), undefined)
})

test('rollup runs, rebuilds, sweeps and late events at once leave what the events say', async (t) => {
  const world = await openWorld(t, { now })
  const { stores, siteId } = world
  await world.record(...visits('2026-02-03', 2), ...visits('2026-03-04', 3))
  const through = '2026-03-14'
  let views = 5
  for (let round = 0; round < 3; round++) {
    await Promise.all([
      rollUpSite(stores, siteId, through),
      rebuildSite(stores, siteId, through),
      rollUpSite(stores, siteId, '2026-03-05'),
      rebuildSite(stores, siteId, through),
      world.record(...visits('2026-02-03', 1, `a${round}`)),
      world.record(...visits('2026-03-04', 2, `b${round}`)),
      world.sweep(),
    ])
    views += 3
    assert.deepEqual((await verifySite(stores, siteId)).wrong, [], `round ${round}`)
    const all = await world.data('/stats/overview', { ...both, start: '2026-02-01' })
    assert.equal(all.current.pageviews, views, `round ${round}`)
  }
  await world.rollUp(through)
  assert.deepEqual(await verifySite(stores, siteId), { days: 42, notRetained: 0, missingDays: [], wrong: [] })
})
