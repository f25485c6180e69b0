// Old events are dropped and no answer changes, wherever the process ends (decisions D-79 and D-80).
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { importFile } from '../../src/collector/import/job.ts'
import { foldSite, refoldSite } from '../../src/folding/fold.ts'
import { commitFold } from '../../src/folding/ledger.ts'
import { foldRound } from '../../src/folding/loop.ts'
import { declareKept, dropFolded, dropOldEvents, firstKeptDay, foldWhatGoes } from '../../src/folding/retention.ts'
import { verifySite } from '../../src/folding/verify.ts'
import { reports } from '../../src/stats/reports.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'
import { readClocks } from '../../src/stores/clocks.ts'
import { noteLateDays } from '../../src/traffic/late-days.ts'
import { pageview } from '../support/events.ts'
import { begunFold, writeDays } from '../support/folds.ts'
import { connect, createStores, disconnect, type Stores } from '../support/stores.ts'
import { makeWorld, type World } from '../support/world.ts'

const now = '2026-03-15T12:00:00Z'
const clocksAt =
  (own: string, postgres = own, clickhouse = own) =>
  async () => ({
    own: Date.parse(own),
    postgres: Date.parse(postgres),
    clickhouse: Date.parse(clickhouse),
  })
const retention = { months: 25, readClocks: clocksAt(now) }
const keptFrom = '2024-02-01'
const days = ['2023-12-05', '2024-01-10', '2024-01-31', '2024-02-01', '2026-03-10']

/** Stores of their own, since what is kept holds for all sites of them: a large site, a small one, and one that is new. */
async function openOldWorlds(t: TestContext) {
  const created = await createStores()
  const stores = connect(created.addresses)
  const [large, small, fresh] = [
    await makeWorld(stores, { now }),
    await makeWorld(stores, { now, zone: 'Asia/Kathmandu' }),
    await makeWorld(stores, { now }),
  ]
  t.after(async () => {
    await Promise.all([large.close(), small.close(), fresh.close()])
    await disconnect(stores)
    await created.remove()
  })
  const visits = (visitors: string[]) =>
    days.flatMap((day) => visitors.map((visitor) => pageview({ at: `${day}T10:00:00Z`, visitor, pathname: `/${day}` })))
  await large.record(...visits(['a', 'b', 'c']))
  await small.record(...visits(['a']))
  await fresh.record(pageview({ at: '2026-03-10T10:00:00Z' }))
  await large.fold('2026-03-14')
  return { large, small, fresh, stores }
}

/** Of every report about the whole time, and about a window that begins in a month that goes. */
async function answers(...worlds: World[]): Promise<unknown[]> {
  const found: unknown[] = []
  for (const world of worlds) {
    world.api.directory.forget(world.siteId)
    for (const name of Object.keys(reports))
      found.push(await world.data(`/stats/${name}`, 'range=custom&start=2023-11-01&end=2026-03-14'))
    found.push(await world.data('/stats/overview', 'range=custom&start=2024-01-10&end=2024-02-01'))
  }
  return found
}

const monthsOf = async ({ stores }: World) =>
  (
    await stores.clickhouse.rows<{ month: number; events: number }>(
      sql`SELECT toYYYYMM(day) AS month, count() AS events FROM events GROUP BY month ORDER BY month`,
    )
  ).map(({ month, events }) => [month, events])

const all = [
  [202312, 4],
  [202401, 8],
  [202402, 4],
  [202603, 5],
]
const left = all.slice(2)

const foldsOf = async ({ stores, siteId }: World) => (await findSite(stores.postgres, siteId))?.folds

/** All months at once, as an operator has confirmed; without the wait of twenty minutes. */
async function dropConfirmed(stores: Stores): Promise<string[]> {
  await declareKept(stores.postgres, keptFrom)
  const { months, held } = await dropOldEvents(stores, { ...retention, patience: '0 seconds' })
  assert.equal(held, undefined)
  return months
}

/** As if twenty minutes had passed. */
const wait = ({ stores }: World) => stores.postgres`UPDATE retention SET folded_at = folded_at - interval '20 minutes'`

test('the month that lies so many months back is kept whole, counted where the date is earliest', () => {
  const first = (months: number, iso: string) => firstKeptDay(months, Date.parse(iso))
  assert.equal(first(25, '2026-11-15T12:00:00Z'), '2024-10-01')
  assert.equal(first(25, '2026-11-01T11:59:59Z'), '2024-09-01')
  assert.equal(first(25, '2026-11-01T12:00:00Z'), '2024-10-01')
  assert.equal(first(25, '2026-03-31T23:00:00Z'), '2024-02-01')
  assert.equal(first(36, '2026-01-31T23:00:00Z'), '2023-01-01')
})

test('rounds drop old months once they are folded and nobody reads them, and every answer stays', async (t) => {
  const { large, small, fresh, stores } = await openOldWorlds(t)
  const before = await answers(large, small, fresh)
  const round = (retentionMonths?: number) =>
    foldRound(stores, { now: Date.parse(now), least: 10, retentionMonths, readClocks: clocksAt(now) })

  await round()
  assert.deepEqual([await monthsOf(large), await foldsOf(small)], [all, []], 'without a retention nothing happens')
  const held = await round(25)
  assert.match(held?.held ?? '', /more than one month.*fold retention.*--confirm/)
  assert.deepEqual([await monthsOf(large), await foldsOf(small)], [all, []], 'two months are too much at once')
  await declareKept(stores.postgres, keptFrom) // fold retention --confirm
  assert.deepEqual([(await round(25))?.held, (await round(25))?.dropped], [undefined, undefined])
  assert.deepEqual(await monthsOf(large), all, 'somebody may still be reading them')
  assert.deepEqual(await answers(large, small, fresh), before)
  assert.deepEqual(await foldsOf(small), [
    { version: 1, days: [['2023-12-01', '2024-01-31']], months: [['2023-12-01', '2024-01-31']] },
  ])

  await wait(large)
  assert.deepEqual((await round(25))?.dropped, ['202312', '202401'])
  assert.deepEqual(await monthsOf(large), left)
  assert.deepEqual(await answers(large, small, fresh), before)
  assert.equal((await round(25))?.dropped, undefined)

  // A small site stays one: of what comes later nothing is folded.
  await stores.postgres`UPDATE site_folding SET considered_at = NULL, considered_through = NULL`
  await round(25)
  assert.deepEqual(
    (await foldsOf(small))?.flatMap((fold) => fold.days),
    [['2023-12-01', '2024-01-31']],
  )
  // A longer retention brings nothing back.
  await round(60)
  assert.equal((await findSite(stores.postgres, large.siteId))?.eventsFrom, keptFrom)
})

test('one wrong clock drops nothing, and none that is wrong by years drops more than a month', async (t) => {
  const { large, stores } = await openOldWorlds(t)
  const drop = (months: number, ...clocks: [string, string?, string?]) =>
    dropOldEvents(stores, { months, readClocks: clocksAt(...clocks), patience: '0 seconds' })
  const declared = async () => (await stores.postgres`SELECT kept_from::text FROM retention`)[0]?.kept_from
  // Any of the three, forward or back, by 61 seconds or by ten years; 26 months drop December alone.
  const wrong = '2036-03-15T12:00:00Z'
  const apart = '2026-03-15T12:01:01Z'
  for (const clocks of [
    [wrong, now, now],
    [now, wrong, now],
    [now, now, wrong],
    [now, apart, now],
    [apart, now, now],
  ])
    assert.match((await drop(26, ...(clocks as [string]))).held ?? '', /clocks .* differ/)
  assert.deepEqual([await declared(), await monthsOf(large)], ['1970-01-01', all])

  // All of them ten years ahead: every month would go.
  assert.match((await drop(26, wrong)).held ?? '', /more than one month/)
  assert.deepEqual([await declared(), await monthsOf(large)], ['1970-01-01', all])

  // Judged by PostgreSQL's: by its clock it is March on the whole earth, by the others' not yet.
  const eve = '2026-03-01T11:59:30Z'
  assert.deepEqual(await drop(26, eve, '2026-03-01T12:00:00Z', eve), { months: ['202312'] })
  assert.deepEqual([await declared(), await monthsOf(large)], ['2024-01-01', all.slice(1)])
  // And one month later the next one.
  assert.deepEqual(await drop(26, '2026-04-15T12:00:00Z'), { months: ['202401'] })
  assert.deepEqual([await declared(), await monthsOf(large)], [keptFrom, left])
})

test('the clocks of this machine, its PostgreSQL and its ClickHouse are read, and agree', async (t) => {
  const { large, stores } = await openOldWorlds(t)
  const before = Date.now()
  const clocks = await readClocks(stores)
  for (const [name, time] of Object.entries(clocks))
    assert.ok(time >= before - 1_000 && time <= Date.now() + 1_000, `${name} says ${new Date(time).toISOString()}`)
  // Of a world of 2023 to 2026, twenty years of retention drop nothing.
  assert.deepEqual(await dropOldEvents(stores, { months: 240 }), { months: [] })
  assert.deepEqual(await monthsOf(large), all)
})

test('wherever it ends, answers stay and the next round goes on', async (t) => {
  const { large, small, fresh, stores } = await openOldWorlds(t)
  const before = await answers(large, small, fresh)
  const same = async (when: string) => assert.deepEqual(await answers(large, small, fresh), before, when)

  await declareKept(stores.postgres, keptFrom)
  assert.deepEqual(await dropFolded(stores, '0 seconds'), [], 'nothing is dropped before it is folded')
  await same('after it was declared')

  // The small site cannot be folded; the large one is already.
  const broken = new Error('the engine is away')
  const failing: ClickHouse = { ...stores.clickhouse, run: () => Promise.reject(broken) }
  const faults: string[] = []
  await foldWhatGoes(
    { ...stores, clickhouse: failing },
    { onError: (error, domain) => faults.push(domain, error.message) },
  )
  assert.deepEqual(faults, [small.domain, broken.message])
  assert.deepEqual(await dropFolded(stores, '0 seconds'), [])
  await same('after a fold failed')

  await foldWhatGoes(stores, {})
  assert.deepEqual(await dropFolded(stores), [], 'readers have twenty minutes')
  await same('after all was folded')

  let dropped = 0
  const dying: ClickHouse = {
    ...stores.clickhouse,
    run: (...given) => (dropped++ === 0 ? stores.clickhouse.run(...given) : Promise.reject(broken)),
  }
  await assert.rejects(dropFolded({ ...stores, clickhouse: dying }, '0 seconds'), broken)
  assert.deepEqual(await monthsOf(large), all.slice(1))
  await same('after one of two months was dropped')
  assert.deepEqual(await dropFolded(stores, '0 seconds'), ['202401'])
  assert.deepEqual(await monthsOf(large), left)
  await same('after all was dropped')
})

test('events of a site that was deleted keep nobody from dropping a month', async (t) => {
  const { large, small, stores } = await openOldWorlds(t)
  await stores.postgres`DELETE FROM sites WHERE id = ${small.siteId}`
  assert.deepEqual(await dropConfirmed(stores), ['202312', '202401'])
  assert.deepEqual(await monthsOf(large), left)
})

test('a day with a late event is folded again before its month is dropped', async (t) => {
  const { large, stores } = await openOldWorlds(t)
  await large.record(pageview({ at: '2024-01-10T12:00:00Z', visitor: 'late' }))
  const before = await answers(large)
  await dropConfirmed(stores)
  assert.deepEqual(await monthsOf(large), left)
  assert.deepEqual(await answers(large), before)
})

test('an event for a day that is not kept any more changes no answer, and goes with the next round', async (t) => {
  const { large, small, fresh, stores } = await openOldWorlds(t)
  const before = await answers(large, small)
  await dropConfirmed(stores)
  for (const world of [large, small, fresh])
    await world.record(pageview({ at: '2024-01-10T12:00:00Z', visitor: 'too late', pathname: '/late' }))
  assert.deepEqual(await answers(large, small), before)
  for (const world of [large, fresh]) await world.fold('2026-03-14')
  assert.deepEqual((await foldsOf(fresh))?.[0]?.days, [['2026-03-01', '2026-03-14']])
  assert.deepEqual(await answers(large, small), before)
  assert.deepEqual(await dropConfirmed(stores), ['202401'])
  assert.deepEqual(await answers(large, small), before)
  // The first day that is kept is like any other.
  await large.record(pageview({ at: '2024-02-01T12:00:00Z', visitor: 'late', pathname: '/late' }))
  assert.notDeepEqual(await answers(large), before.slice(0, before.length / 2))
})

test('an import leaves out what is not kept any more, also when that is declared while it writes', async (t) => {
  const { large, stores } = await openOldWorlds(t)
  const folder = mkdtempSync(join(tmpdir(), 'footfall-retention-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const site = (await findSite(stores.postgres, large.siteId)) as Site
  const context = { site, countries: { countryOf: () => 'ZZ' as const }, now: Date.parse(now), onProgress() {} }
  const bring = (name: string, clickhouse: ClickHouse, ...times: string[]) => {
    const path = join(folder, name)
    const lines = times.map((time) => `${time},https://${site.domain}/${name},v1`)
    writeFileSync(path, ['time,url,visitor', ...lines, ''].join('\n'))
    return importFile({ path, format: 'csv' }, { ...context, ...stores, clickhouse })
  }
  const meanwhile: ClickHouse = {
    ...stores.clickhouse,
    async insert(...given) {
      await declareKept(stores.postgres, keptFrom)
      return stores.clickhouse.insert(...given)
    },
  }
  const folds = await foldsOf(large)
  assert.equal((await bring('declared.csv', meanwhile, '2024-01-10T12:00:00Z')).tooOld, 1)
  assert.deepEqual(await foldsOf(large), folds)

  await dropConfirmed(stores)
  const both = await bring('both.csv', stores.clickhouse, '2024-01-31T23:59:59Z', '2024-02-01T00:00:00Z')
  assert.deepEqual([both.tooOld, both.events, both.days], [1, 1, 1])
  assert.deepEqual(await monthsOf(large), [[202402, 4 + 1], ...left.slice(1)])
})

test('a note under way while the month is declared takes no day out of it', async (t) => {
  const { large, stores } = await openOldWorlds(t)
  const { postgres } = stores
  const folds = await foldsOf(large)
  let statements = 0
  // The first one has found the day folded; before the second takes it out, the month is declared.
  const interrupted = new Proxy(postgres, {
    async apply(target, self, given) {
      if (++statements === 2) await declareKept(postgres, keptFrom)
      return Reflect.apply(target, self, given)
    },
  })
  await noteLateDays(interrupted, [{ siteId: large.siteId, day: '2024-01-10' }])
  assert.equal(statements, 2)
  assert.deepEqual(await foldsOf(large), folds)
})

test('a fold that read the events while they were dropped replaces nothing', async (t) => {
  const { large, small, stores } = await openOldWorlds(t)
  const { postgres } = stores
  const before = await answers(large, small)
  const january = [['2024-01-01', '2024-02-03']] as const
  const run = await begunFold(postgres, large.siteId, 'day', january)
  await dropConfirmed(stores)
  await writeDays(stores, large.siteId, run, january)
  assert.equal(await commitFold(postgres, run), true)
  assert.deepEqual(await answers(large, small), before)
  assert.deepEqual(
    (await foldsOf(large))?.find((fold) => fold.version === run.version)?.days,
    [['2024-02-01', '2024-02-03']],
    'what is kept is folded again',
  )
  await large.sweep()
  assert.deepEqual(await answers(large, small), before)
})

test('folding, folding again and verifying leave alone what cannot be counted again', async (t) => {
  const { large, small, stores } = await openOldWorlds(t)
  const before = await answers(large, small)
  await dropConfirmed(stores)
  // From 2024-02-01 to 2026-03-14: 29 days of February 2024, 306 to the end of that year, 365 of 2025, 73 of 2026.
  assert.equal(await refoldSite(stores, large.siteId, '2026-03-14'), 773)
  await foldSite(stores, small.siteId, '2026-03-14')
  await large.sweep()
  assert.deepEqual(await answers(large, small), before)
  // 31 days of December and 31 of January.
  assert.deepEqual(await verifySite(stores, large.siteId), { days: 773, notKept: 62, unfolded: [], wrong: [] })
})
