// Any number of folds of one site at once: each makes readable what it wrote itself, and nothing else (decision D-73).
import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { deleteSite, findSite } from '../../src/accounts/sites.ts'
import { eraseRows } from '../../src/folding/erasures.ts'
import { foldSite, refoldSite, sweep } from '../../src/folding/fold.ts'
import { beginFold, commitFold, isAlive } from '../../src/folding/ledger.ts'
import { verifySite } from '../../src/folding/verify.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import type { DayRange } from '../../src/traffic/folds.ts'
import { forgetFolds, noteLateDays } from '../../src/traffic/late-days.ts'
import { pageview } from '../support/events.ts'
import { begunFold, writeDays } from '../support/folds.ts'
import { openWorld, type World } from '../support/world.ts'

const now = '2026-03-15T12:00:00Z'
const firstWeek: DayRange[] = [['2026-03-01', '2026-03-07']]
const secondWeek: DayRange[] = [['2026-03-08', '2026-03-14']]
const both = { range: 'custom', start: '2026-03-01', end: '2026-03-14' }
const foldsOf = async ({ stores, siteId }: World) => (await findSite(stores.postgres, siteId))?.folds
const viewsOf = async (world: World) => {
  world.api.directory.forget(world.siteId)
  return (await world.data('/stats/overview', both)).current.pageviews
}
const visits = (day: string, count: number, name = 'v') =>
  Array.from({ length: count }, (_, index) => pageview({ at: `${day}T10:00:00Z`, visitor: `${name}${index}` }))

/** As if nobody had heard of the site's runs for so long. */
const silence = ({ stores, siteId }: World) =>
  stores.postgres`UPDATE fold_runs SET alive_at = now() - interval '16 minutes' WHERE site_id = ${siteId}`

test('a fold that commits while another one has not written yet does not make the days of that one readable', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres } = world.stores
  await world.record(...visits('2026-03-04', 10), ...visits('2026-03-10', 21))
  const one = await begunFold(postgres, world.siteId, 'day', firstWeek)
  await writeDays(world.stores, world.siteId, one, firstWeek)
  const other = await begunFold(postgres, world.siteId, 'day', secondWeek)
  assert.equal(one.version, other.version, 'days that differ may share a version')
  assert.equal(await commitFold(postgres, one), true)
  assert.deepEqual(await foldsOf(world), [{ version: 1, days: firstWeek, months: [] }])
  assert.equal(await viewsOf(world), 31)
  await writeDays(world.stores, world.siteId, other, secondWeek)
  assert.equal(await commitFold(postgres, other), true)
  assert.deepEqual(await foldsOf(world), [{ version: 1, days: [['2026-03-01', '2026-03-14']], months: [] }])
  assert.equal(await viewsOf(world), 31)
})

test('two folds of the same days write under versions of their own, and a late event takes its day out of both', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres } = world.stores
  await world.record(...visits('2026-03-04', 10))
  const one = await begunFold(postgres, world.siteId, 'day', firstWeek)
  const other = await begunFold(postgres, world.siteId, 'day', firstWeek)
  assert.notEqual(one.version, other.version)
  for (const run of [one, other]) await writeDays(world.stores, world.siteId, run, firstWeek)
  await world.record(...visits('2026-03-04', 3, 'late'))
  for (const run of [one, other]) assert.equal(await commitFold(postgres, run), true)
  const days = [
    ['2026-03-01', '2026-03-03'],
    ['2026-03-05', '2026-03-07'],
  ]
  assert.deepEqual(await foldsOf(world), [{ version: other.version, days, months: [] }])
  assert.equal(await viewsOf(world), 13)
  assert.equal(await commitFold(postgres, one), false, 'and each commits once')
})

test('a month that is being written is not published after one of its days was folded again or forgotten', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres } = world.stores
  const february: DayRange[] = [['2026-02-01', '2026-02-28']]
  for (const meanwhile of [
    async () => {
      const run = await begunFold(postgres, world.siteId, 'day', [['2026-02-10', '2026-02-10']])
      await commitFold(postgres, run)
    },
    () => noteLateDays(postgres, [{ siteId: world.siteId, day: '2026-02-10' }]),
    () => forgetFolds(postgres, world.siteId),
  ]) {
    await commitFold(postgres, await begunFold(postgres, world.siteId, 'day', february))
    const month = await begunFold(postgres, world.siteId, 'month', february)
    await meanwhile()
    assert.equal(await commitFold(postgres, month), true)
    assert.deepEqual(
      (await foldsOf(world))?.flatMap(({ months }) => months),
      [],
    )
  }
})

test('a run that was given up commits nothing, and its days are never written under its version again', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres, clickhouse } = world.stores
  await world.record(...visits('2026-03-04', 10))
  const lost = await begunFold(postgres, world.siteId, 'day', firstWeek)
  await writeDays(world.stores, world.siteId, lost, firstWeek)
  const rows = async () => {
    const [row] = await clickhouse.rows<{ rows: number }>(sql`
      SELECT count() AS rows FROM short_tallies
      WHERE site_id = ${text(world.siteId)} AND startsWith(place, ${text(`day ${lost.version} `)})`)
    return row?.rows ?? 0
  }
  assert.ok((await rows()) > 0)
  await world.sweep()
  assert.ok((await rows()) > 0, 'while it is alive its rows stay')
  assert.equal(await isAlive(postgres, lost), true)
  await silence(world)
  await world.sweep()
  assert.equal(await rows(), 0)
  assert.equal(await isAlive(postgres, lost), false)
  assert.equal(await commitFold(postgres, lost), false)
  assert.deepEqual(await foldsOf(world), [])

  // What a statement of it writes now is found under no version that is read.
  await writeDays(world.stores, world.siteId, lost, firstWeek)
  await world.fold('2026-03-14')
  assert.ok((await foldsOf(world))?.every(({ version }) => version !== lost.version))
  assert.equal(await viewsOf(world), 10)
})

test('a fold whose run is given up while it writes says so, and the next one folds its days', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres, clickhouse } = world.stores
  await world.record(...visits('2026-03-04', 10))
  const interrupted: ClickHouse = {
    ...clickhouse,
    async run(...given) {
      await silence(world)
      await world.sweep()
      return clickhouse.run(...given)
    },
  }
  await assert.rejects(foldSite({ postgres, clickhouse: interrupted }, world.siteId, '2026-03-14'), /given up/)
  assert.deepEqual(await foldsOf(world), [])
  await world.fold('2026-03-14')
  assert.deepEqual((await verifySite(world.stores, world.siteId)).wrong, [])
  assert.equal(await viewsOf(world), 10)
})

test('of two who sweep at once none deletes what was written again after the other', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres, clickhouse } = world.stores
  await world.record(...visits('2026-03-04', 10))
  await world.fold('2026-03-14')
  await world.unfold('2026-03-04')
  let deletions = 0
  const slow: ClickHouse = {
    ...clickhouse,
    async run(...given) {
      // It has found the rows of the day; another one sweeps and the day is folded again before it deletes them.
      if (++deletions === 1) {
        await world.sweep()
        await world.fold('2026-03-14')
      }
      return clickhouse.run(...given)
    },
  }
  await sweep({ postgres, clickhouse: slow }, '0 seconds')
  assert.ok(deletions > 0)
  assert.deepEqual((await verifySite(world.stores, world.siteId)).wrong, [])
  assert.equal(await viewsOf(world), 10)
})

test('a site that is deleted while it is folded leaves no tallies, and nothing is begun for one that is gone', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres, clickhouse } = world.stores
  await world.record(...visits('2026-03-04', 10))
  const interrupted: ClickHouse = {
    ...clickhouse,
    async run(...given) {
      await deleteSite(postgres, world.siteId)
      await eraseRows(world.stores)
      await clickhouse.run(...given)
    },
  }
  await foldSite({ postgres, clickhouse: interrupted }, world.siteId, '2026-03-14')
  await eraseRows(world.stores) // the next round of whoever folds
  const left = await clickhouse.rows(sql`SELECT day FROM short_tallies WHERE site_id = ${text(world.siteId)}`)
  assert.deepEqual(left, [])
  assert.equal(await beginFold(postgres, world.siteId, 'day', firstWeek), undefined)
})

test('folders, rebuilders, sweepers and late events at once leave what the events say', async (t) => {
  const world = await openWorld(t, { now })
  const { stores, siteId } = world
  await world.record(...visits('2026-02-03', 2), ...visits('2026-03-04', 3))
  const through = '2026-03-14'
  let views = 5
  for (let round = 0; round < 3; round++) {
    await Promise.all([
      foldSite(stores, siteId, through),
      refoldSite(stores, siteId, through),
      foldSite(stores, siteId, '2026-03-05'),
      refoldSite(stores, siteId, through),
      world.record(...visits('2026-02-03', 1, `a${round}`)),
      world.record(...visits('2026-03-04', 2, `b${round}`)),
      world.sweep(),
    ])
    views += 3
    assert.deepEqual((await verifySite(stores, siteId)).wrong, [], `round ${round}`)
    const all = await world.data('/stats/overview', { ...both, start: '2026-02-01' })
    assert.equal(all.current.pageviews, views, `round ${round}`)
  }
  await world.fold(through)
  assert.deepEqual(await verifySite(stores, siteId), { days: 42, notKept: 0, unfolded: [], wrong: [] })
})
