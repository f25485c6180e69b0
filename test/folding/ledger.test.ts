import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { findSite } from '../../src/accounts/sites.ts'
import { foldSite } from '../../src/folding/fold.ts'
import { commitFold } from '../../src/folding/ledger.ts'
import { foldStatements } from '../../src/folding/statements.ts'
import type { DayRange } from '../../src/traffic/folds.ts'
import { forgetFolds, noteLateDays } from '../../src/traffic/late-days.ts'
import { pageview } from '../support/events.ts'
import { begunFold } from '../support/folds.ts'
import { openWorld, type World } from '../support/world.ts'

const now = '2026-03-15T12:00:00Z'
const week: DayRange = ['2026-03-01', '2026-03-07']
const foldsOf = async ({ stores, siteId }: World) => (await findSite(stores.postgres, siteId))?.folds

test('a day is readable after its fold is committed, not before', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres } = world.stores
  const run = await begunFold(postgres, world.siteId, 'day', [week])
  assert.deepEqual(await foldsOf(world), [])
  assert.equal(await commitFold(postgres, run), true)
  assert.deepEqual(await foldsOf(world), [{ version: 1, days: [week], months: [] }])
})

test('an event that comes while its day is being folded keeps that day, and no other, from being readable', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres } = world.stores
  const run = await begunFold(postgres, world.siteId, 'day', [week])
  await noteLateDays(postgres, [{ siteId: world.siteId, day: '2026-03-04' }])
  await commitFold(postgres, run)
  const days = [
    ['2026-03-01', '2026-03-03'],
    ['2026-03-05', '2026-03-07'],
  ]
  assert.deepEqual(await foldsOf(world), [{ version: 1, days, months: [] }])
})

test('rows of a fold that did not finish are never read', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres, clickhouse } = world.stores
  await world.record(pageview({ at: '2026-03-04T10:00:00Z' }))
  const days: DayRange[] = [['2026-03-04', '2026-03-04']]
  const { version } = await begunFold(postgres, world.siteId, 'day', days)
  for (const statement of foldStatements({ siteId: world.siteId, version, days }, { atOnce: true }))
    await clickhouse.run(statement)
  // The process dies here. The next fold begins again, under another version.
  await world.fold('2026-03-14')
  const folds = await foldsOf(world)
  assert.ok(folds?.every((fold) => fold.version !== version))
  const april = { range: 'custom', start: '2026-03-01', end: '2026-03-14' }
  assert.equal((await world.data('/stats/overview', april)).current.pageviews, 1)
})

test('a late day takes its month with it; the other days stay', async (t) => {
  const world = await openWorld(t, { now })
  await world.record(pageview({ at: '2026-01-31T10:00:00Z' }), pageview({ at: '2026-03-01T10:00:00Z' }))
  await world.fold('2026-03-14')
  assert.deepEqual(await foldsOf(world), [
    { version: 1, days: [['2026-01-01', '2026-03-14']], months: [['2026-01-01', '2026-02-28']] },
  ])
  await world.unfold('2026-02-10')
  const days = [
    ['2026-01-01', '2026-02-09'],
    ['2026-02-11', '2026-03-14'],
  ]
  assert.deepEqual(await foldsOf(world), [{ version: 1, days, months: [['2026-01-01', '2026-01-31']] }])
  await world.fold('2026-03-14')
  assert.deepEqual(await foldsOf(world), [
    { version: 1, days, months: [['2026-01-01', '2026-01-31']] },
    { version: 2, days: [['2026-02-10', '2026-02-10']], months: [['2026-02-01', '2026-02-28']] },
  ])
})

test('a day that is taken out just before its month is folded keeps the month from being readable', async (t) => {
  const world = await openWorld(t, { now })
  await world.record(pageview({ at: '2026-01-31T10:00:00Z' }), pageview({ at: '2026-03-01T10:00:00Z' }))
  const { postgres, clickhouse } = world.stores
  let reads = 0
  // The first event is looked for, then events are counted by day, then rows by month: right before the months are begun.
  const interrupted = new Proxy(clickhouse, {
    get: (engine, name) => {
      if (name !== 'rowsPatiently') return Reflect.get(engine, name)
      return async (...given: Parameters<typeof clickhouse.rowsPatiently>) => {
        const rows = await engine.rowsPatiently(...given)
        if (++reads === 3) await noteLateDays(postgres, [{ siteId: world.siteId, day: '2026-02-10' }])
        return rows
      }
    },
  })
  await foldSite({ postgres, clickhouse: interrupted }, world.siteId, '2026-03-14')
  assert.equal(reads, 3)
  assert.deepEqual((await foldsOf(world))?.[0]?.months, [])
  await world.fold('2026-03-14')
  assert.deepEqual(
    (await foldsOf(world))?.flatMap((fold) => fold.months),
    [['2026-01-01', '2026-02-28']],
  )
})

test('what is swept may be written again under its old version, and answers stay', async (t) => {
  const world = await openWorld(t, { now })
  await world.record(pageview({ at: '2026-03-04T10:00:00Z' }))
  await world.fold('2026-03-14')
  await world.unfold('2026-03-04')
  assert.ok((await world.sweep()) > 0)
  await world.fold('2026-03-14')
  assert.deepEqual(await foldsOf(world), [{ version: 1, days: [['2026-03-01', '2026-03-14']], months: [] }])
  const march = { range: 'custom', start: '2026-03-01', end: '2026-03-14' }
  assert.equal((await world.data('/stats/overview', march)).current.pageviews, 1)
  assert.deepEqual(await world.data('/stats/pages', march), [{ pathname: '/', title: '', views: 1, visitors: 1 }])
})

test('a note about a day that nobody folded changes nothing; forgetting takes everything out', async (t) => {
  const world = await openWorld(t, { now })
  const { postgres } = world.stores
  await world.record(pageview({ at: '2026-03-04T10:00:00Z' }))
  await world.fold('2026-03-14')
  const folds = await foldsOf(world)
  const counter = async () => (await postgres`SELECT changed_at FROM site_folds WHERE site_id = ${world.siteId}`)[0]
  const before = await counter()
  await noteLateDays(postgres, [
    { siteId: world.siteId, day: '2026-03-15' },
    { siteId: 'site_aaaaaaaaaaaaaaaa', day: '2026-03-04' },
  ])
  assert.deepEqual([await foldsOf(world), await counter()], [folds, before])
  await forgetFolds(postgres, world.siteId)
  assert.deepEqual(await foldsOf(world), [])
})

test('another process reads a late event within a second', async (t) => {
  const world = await openWorld(t, { now })
  const other = await openWorld(t, { now })
  await world.record(pageview({ at: '2026-03-04T10:00:00Z' }))
  await world.fold('2026-03-14')
  const ask = async () => {
    const headers = { Authorization: `Bearer ${world.key.text}` }
    const query = 'range=custom&start=2026-03-01&end=2026-03-14'
    return (await other.api.fetch(`/api/v1/stats/overview?${query}`, { headers })).json.data.current.pageviews
  }
  assert.equal(await ask(), 1)
  await world.record(pageview({ at: '2026-03-04T11:00:00Z' }))
  const noted = performance.now()
  while ((await ask()) !== 2) assert.ok(performance.now() - noted < 5_000, 'it never saw the event') // a busy machine's second
})
