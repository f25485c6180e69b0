// Deleting old events changes no response, wherever the process stops (decisions D-79 and D-80).
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { findSite, type Site } from '../../src/accounts/sites.ts'
import { readClocks } from '../../src/cluster/clocks.ts'
import { clusterOf } from '../../src/cluster/cluster.ts'
import { eraseUnknownSite } from '../../src/erasure/deleted-sites.ts'
import { csv } from '../../src/importing/formats/own.ts'
import { importFiles } from '../../src/importing/job.ts'
import { invalidateDays } from '../../src/rollups/invalidation.ts'
import { retentionRound, rollUpRound } from '../../src/rollups/loop.ts'
import {
  declareRetention,
  dropOldEvents,
  dropRolledUpMonths,
  firstRetainedDay,
  rollUpBeforeDropping,
} from '../../src/rollups/retention.ts'
import { rebuildSite, rollUpSite } from '../../src/rollups/roll-up.ts'
import { publishRun } from '../../src/rollups/runs.ts'
import { verifySite } from '../../src/rollups/verify.ts'
import { reports } from '../../src/stats/reports.ts'
import type { ClickHouse } from '../../src/stores/clickhouse.ts'
import { sql } from '../../src/stores/clickhouse-sql.ts'
import { eventOf, pageview } from '../support/events.ts'
import { withReplicaAway } from '../support/second-replica.ts'
import { connect, createStores, disconnect, type Stores } from '../support/stores.ts'
import { makeWorld, type World } from '../support/world.ts'
import { begunRun, coverageOf, writeDays } from './run-steps.ts'

const now = '2026-03-15T12:00:00Z'
const clocksAt =
  (own: string, postgres = own, clickhouse = own) =>
  async () => ({
    own: Date.parse(own),
    postgres: Date.parse(postgres),
    clickhouse: [Date.parse(clickhouse)],
  })
const retention = { months: 25, readClocks: clocksAt(now) }
const eventsFrom = '2024-02-01'
const days = ['2023-12-05', '2024-01-10', '2024-01-31', '2024-02-01', '2026-03-10']

/** A large, a small and a new site in separate stores, because retention applies to all sites of a store. */
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
  await large.rollUp('2026-03-14')
  return { large, small, fresh, stores }
}

/** Every report for the whole time, and for a window that begins in a month to be deleted. */
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

const monthsOf = async ({ stores }: World, table = sql`events`) =>
  (
    await stores.clickhouse.rows<{ month: number; rows: number }>(
      sql`SELECT toYYYYMM(day) AS month, count() AS rows FROM ${table} GROUP BY month ORDER BY month`,
    )
  ).map(({ month, rows }) => [month, rows])

const all = [
  [202312, 4],
  [202401, 8],
  [202402, 4],
  [202603, 5],
]
const left = all.slice(2)

/** Drops all months at once, as after an operator's confirmation, without the wait of twenty minutes. */
async function dropConfirmed(stores: Stores): Promise<string[]> {
  await declareRetention(stores.postgres, eventsFrom)
  const { months, held } = await dropOldEvents(stores, { ...retention, patience: '0 seconds' })
  assert.equal(held, undefined)
  return months
}

/** Acts as if twenty minutes had passed. */
const wait = ({ stores }: World) =>
  stores.postgres`UPDATE retention SET rolled_up_at = rolled_up_at - interval '20 minutes'`

test('retention keeps the month that many months back as a whole, by the earliest date on earth', () => {
  const first = (months: number, iso: string) => firstRetainedDay(months, Date.parse(iso))
  assert.equal(first(25, '2026-11-15T12:00:00Z'), '2024-10-01')
  assert.equal(first(25, '2026-11-01T11:59:59Z'), '2024-09-01')
  assert.equal(first(25, '2026-11-01T12:00:00Z'), '2024-10-01')
  assert.equal(first(25, '2026-03-31T23:00:00Z'), '2024-02-01')
  assert.equal(first(36, '2026-01-31T23:00:00Z'), '2023-01-01')
})

test('rounds drop old months once they are rolled up and nobody reads them, and no response changes', async (t) => {
  const { large, small, fresh, stores } = await openOldWorlds(t)
  const before = await answers(large, small, fresh)
  const round = async (months?: number) => {
    await rollUpRound(stores, { now: Date.parse(now), minYearEvents: 10 })
    return months === undefined ? undefined : retentionRound(stores, { months, readClocks: clocksAt(now) })
  }

  await round()
  assert.deepEqual([await monthsOf(large), await coverageOf(small)], [all, []], 'without retention nothing happens')
  const held = await round(25)
  assert.match(held?.held ?? '', /more than one month.*rollup retention.*--confirm/)
  assert.deepEqual([await monthsOf(large), await coverageOf(small)], [all, []], 'dropping two months needs consent')
  await declareRetention(stores.postgres, eventsFrom) // footfall rollup retention --confirm
  assert.deepEqual([await round(25), await round(25)], [{ months: [] }, { months: [] }])
  assert.deepEqual(await monthsOf(large), all, 'readers may still use them')
  assert.deepEqual(await answers(large, small, fresh), before)
  assert.deepEqual(await coverageOf(small), [
    { version: 1, layout: 2, days: [['2023-12-01', '2024-01-31']], months: [['2023-12-01', '2024-01-31']] },
  ])

  await wait(large)
  const months = async () => (await monthsOf(large, sql`sessions`)).map(([month]) => month)
  assert.deepEqual(await months(), [202312, 202401, 202402, 202603])
  assert.deepEqual(await round(25), { months: ['202312', '202401'] })
  assert.deepEqual(await monthsOf(large), left)
  assert.deepEqual(await months(), [202402, 202603])
  assert.deepEqual(await answers(large, small, fresh), before)
  assert.deepEqual(await round(25), { months: [] })

  // The small site stays small: none of its later days are rolled up.
  await stores.postgres`UPDATE rollup_state SET considered_at = NULL, considered_through = NULL`
  await round(25)
  assert.deepEqual(
    (await coverageOf(small))?.flatMap((version) => version.days),
    [['2023-12-01', '2024-01-31']],
  )
  // A longer retention restores nothing.
  await round(60)
  assert.equal((await findSite(stores.postgres, large.siteId))?.coverage.eventsFrom, eventsFrom)
})

test('while a replica is away nothing is rolled up for good, and nothing is dropped', async (t) => {
  const { large, small, stores } = await openOldWorlds(t)
  const away = { ...stores, cluster: clusterOf([withReplicaAway(stores.clickhouse)]) }
  const reported: string[] = []
  const drop = (which: typeof stores) =>
    dropOldEvents(which, { ...retention, patience: '0 seconds', onError: ({ message }) => reported.push(message) })
  await declareRetention(stores.postgres, eventsFrom)
  assert.deepEqual(await drop(away), { months: [] })
  assert.deepEqual([await monthsOf(large), await coverageOf(small)], [all, []])
  assert.deepEqual(reported, ['Replica 2 is away.'])
  await rollUpBeforeDropping(stores, {})
  assert.deepEqual(await drop(away), { months: [] })
  assert.deepEqual(await monthsOf(large), all)
  assert.deepEqual(await drop(stores), { months: ['202312', '202401'] })
})

test('one wrong clock drops nothing, and clocks that are wrong by years drop no more than a month', async (t) => {
  const { large, stores } = await openOldWorlds(t)
  const drop = (months: number, ...clocks: [string, string?, string?]) =>
    dropOldEvents(stores, { months, readClocks: clocksAt(...clocks), patience: '0 seconds' })
  const declared = async () => (await stores.postgres`SELECT events_from::text FROM retention`)[0]?.events_from
  // Each of the three clocks, forward or back, by 61 seconds or by ten years. Retention of 26 months drops only December.
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

  // All three are ten years ahead: every month would be dropped.
  assert.match((await drop(26, wrong)).held ?? '', /more than one month/)
  assert.deepEqual([await declared(), await monthsOf(large)], ['1970-01-01', all])

  // PostgreSQL's clock decides: by it, March has begun everywhere on earth; by the other clocks it has not.
  const eve = '2026-03-01T11:59:30Z'
  assert.deepEqual(await drop(26, eve, '2026-03-01T12:00:00Z', eve), { months: ['202312'] })
  assert.deepEqual([await declared(), await monthsOf(large)], ['2024-01-01', all.slice(1)])
  // One month later the next one is dropped.
  assert.deepEqual(await drop(26, '2026-04-15T12:00:00Z'), { months: ['202401'] })
  assert.deepEqual([await declared(), await monthsOf(large)], [eventsFrom, left])
})

test('the clocks of this machine, PostgreSQL and ClickHouse are read and agree', async (t) => {
  const { large, stores } = await openOldWorlds(t)
  const before = Date.now()
  const { clickhouse, ...others } = await readClocks(stores)
  for (const [name, time] of Object.entries({ ...others, ClickHouse: clickhouse[0] as number }))
    assert.ok(time >= before - 1_000 && time <= Date.now() + 1_000, `${name} says ${new Date(time).toISOString()}`)
  // The events are from 2023 to 2026, so a retention of twenty years drops nothing.
  assert.deepEqual(await dropOldEvents(stores, { months: 240 }), { months: [] })
  assert.deepEqual(await monthsOf(large), all)
})

test('after a failure at any step responses stay the same and the next round continues', async (t) => {
  const { large, small, fresh, stores } = await openOldWorlds(t)
  const before = await answers(large, small, fresh)
  const same = async (when: string) => assert.deepEqual(await answers(large, small, fresh), before, when)

  await declareRetention(stores.postgres, eventsFrom)
  assert.deepEqual(await dropRolledUpMonths(stores, '0 seconds'), [], 'nothing is dropped before it is rolled up')
  await same('after retention was declared')

  // The rollup of the small site fails. The large one is already rolled up.
  const broken = new Error('ClickHouse is down')
  const failing: ClickHouse = { ...stores.clickhouse, run: () => Promise.reject(broken) }
  const faults: string[] = []
  await rollUpBeforeDropping(
    { ...stores, cluster: clusterOf([failing]) },
    { onError: (error, domain) => faults.push(domain, error.message) },
  )
  assert.deepEqual(faults, [small.domain, broken.message])
  assert.deepEqual(await dropRolledUpMonths(stores, '0 seconds'), [])
  await same('after a rollup run failed')

  await rollUpBeforeDropping(stores, {})
  assert.deepEqual(await dropRolledUpMonths(stores), [], 'readers have twenty minutes')
  await same('after everything was rolled up')

  let dropped = 0
  const dying: ClickHouse = {
    ...stores.clickhouse,
    run: (...given) => (dropped++ < 2 ? stores.clickhouse.run(...given) : Promise.reject(broken)),
  }
  await assert.rejects(dropRolledUpMonths({ ...stores, cluster: clusterOf([dying]) }, '0 seconds'), broken)
  assert.deepEqual(await monthsOf(large), all.slice(1))
  await same('after one of two months was dropped')
  assert.deepEqual(await dropRolledUpMonths(stores, '0 seconds'), ['202401'])
  assert.deepEqual(await monthsOf(large), left)
  await same('after both months were dropped')
})

test('events of a deleted site do not prevent dropping a month', async (t) => {
  const { large, small, stores } = await openOldWorlds(t)
  await stores.postgres`DELETE FROM sites WHERE id = ${small.siteId}`
  assert.deepEqual(await dropConfirmed(stores), ['202312', '202401'])
  assert.deepEqual(await monthsOf(large), left)
})

test('events of a site that PostgreSQL does not know are not dropped until somebody deletes the site', async (t) => {
  const { large, small, stores } = await openOldWorlds(t)
  const unknown = 'site_aaaaaaaaaaaaaaaa'
  await large.recordEvents([eventOf({ at: '2023-12-05T10:00:00Z' }, unknown, 'UTC')])
  const expected = await answers(large, small)
  await declareRetention(stores.postgres, eventsFrom)
  const round = () => dropOldEvents(stores, { ...retention, patience: '0 seconds' })
  const { months, held } = await round()
  assert.deepEqual([months, await monthsOf(large)], [[], [[202312, 5], ...all.slice(1)]])
  assert.match(held ?? '', /sites that PostgreSQL does not know.*footfall doctor/)
  assert.deepEqual(await answers(large, small), expected)

  await eraseUnknownSite(stores.postgres, unknown)
  assert.deepEqual(await round(), { months: ['202312', '202401'] })
  assert.deepEqual([await monthsOf(large), await answers(large, small)], [left, expected])
})

test('a day with a late event is rolled up again before its month is dropped', async (t) => {
  const { large, stores } = await openOldWorlds(t)
  await large.record(pageview({ at: '2024-01-10T12:00:00Z', visitor: 'late' }))
  const before = await answers(large)
  await dropConfirmed(stores)
  assert.deepEqual(await monthsOf(large), left)
  assert.deepEqual(await answers(large), before)
})

test('an event for a day outside the retention changes no response and is dropped in the next round', async (t) => {
  const { large, small, fresh, stores } = await openOldWorlds(t)
  const before = await answers(large, small)
  await dropConfirmed(stores)
  for (const world of [large, small, fresh])
    await world.record(pageview({ at: '2024-01-10T12:00:00Z', visitor: 'too late', pathname: '/late' }))
  assert.deepEqual(await answers(large, small), before)
  for (const world of [large, fresh]) await world.rollUp('2026-03-14')
  assert.deepEqual((await coverageOf(fresh))?.[0]?.days, [['2026-03-01', '2026-03-14']])
  assert.deepEqual(await answers(large, small), before)
  assert.deepEqual(await dropConfirmed(stores), ['202401'])
  assert.deepEqual(await answers(large, small), before)
  // The first retained day is like any other.
  await large.record(pageview({ at: '2024-02-01T12:00:00Z', visitor: 'late', pathname: '/late' }))
  assert.notDeepEqual(await answers(large), before.slice(0, before.length / 2))
})

test('an import skips days outside the retention, even when retention is declared while it writes', async (t) => {
  const { large, stores } = await openOldWorlds(t)
  const folder = mkdtempSync(join(tmpdir(), 'footfall-retention-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const site = (await findSite(stores.postgres, large.siteId)) as Site
  const context = { site, countries: { countryOf: () => 'ZZ' as const }, now: Date.parse(now), onProgress() {} }
  const bring = (name: string, clickhouse: ClickHouse, ...times: string[]) => {
    const path = join(folder, name)
    const lines = times.map((time) => `${time},https://${site.domain}/${name},v1`)
    writeFileSync(path, ['time,url,visitor', ...lines, ''].join('\n'))
    return importFiles([{ path, name: 'visits.csv', format: csv }], { ...context, ...stores, clickhouse })
  }
  const meanwhile: ClickHouse = {
    ...stores.clickhouse,
    async insert(...given) {
      await declareRetention(stores.postgres, eventsFrom)
      return stores.clickhouse.insert(...given)
    },
  }
  const rollupVersions = await coverageOf(large)
  assert.equal((await bring('declared.csv', meanwhile, '2024-01-10T12:00:00Z')).tooOld, 1)
  assert.deepEqual(await coverageOf(large), rollupVersions)

  await dropConfirmed(stores)
  const both = await bring('both.csv', stores.clickhouse, '2024-01-31T23:59:59Z', '2024-02-01T00:00:00Z')
  assert.deepEqual([both.tooOld, both.events, both.days], [1, 1, 1])
  assert.deepEqual(await monthsOf(large), [[202402, 4 + 1], ...left.slice(1)])
})

test('an invalidation that runs while retention is declared invalidates no day of that month', async (t) => {
  const { large, stores } = await openOldWorlds(t)
  const { postgres } = stores
  const rollupVersions = await coverageOf(large)
  let statements = 0
  // The first statement has found the day rolled up. Retention is declared before the second one invalidates it.
  const interrupted = new Proxy(postgres, {
    async apply(target, self, given) {
      if (++statements === 2) await declareRetention(postgres, eventsFrom)
      return Reflect.apply(target, self, given)
    },
  })
  await invalidateDays(interrupted, [{ siteId: large.siteId, day: '2024-01-10' }])
  assert.equal(statements, 2)
  assert.deepEqual(await coverageOf(large), rollupVersions)
})

test('a rollup run that read events while they were dropped replaces nothing', async (t) => {
  const { large, small, stores } = await openOldWorlds(t)
  const { postgres } = stores
  const before = await answers(large, small)
  const january = [['2024-01-01', '2024-02-03']] as const
  const run = await begunRun(postgres, large.siteId, 'day', january)
  await dropConfirmed(stores)
  await writeDays(stores, large.siteId, run, january)
  assert.equal(await publishRun(postgres, run), true)
  assert.deepEqual(await answers(large, small), before)
  assert.deepEqual(
    (await coverageOf(large))?.find((version) => version.version === run.version)?.days,
    [['2024-02-01', '2024-02-03']],
    'the retained days are rolled up again',
  )
  await large.sweep()
  assert.deepEqual(await answers(large, small), before)
})

test('rollup, rebuild and verify skip days that cannot be counted again', async (t) => {
  const { large, small, stores } = await openOldWorlds(t)
  const before = await answers(large, small)
  await dropConfirmed(stores)
  // From 2024-02-01 to 2026-03-14: 29 days of February 2024, 306 to the end of that year, 365 of 2025, 73 of 2026.
  assert.equal(await rebuildSite(stores, large.siteId, '2026-03-14'), 773)
  await rollUpSite(stores, small.siteId, '2026-03-14')
  await large.sweep()
  assert.deepEqual(await answers(large, small), before)
  // 31 days of December and 31 of January.
  assert.deepEqual(await verifySite(stores, large.siteId), { days: 773, notRetained: 62, missingDays: [], wrong: [] })
})
