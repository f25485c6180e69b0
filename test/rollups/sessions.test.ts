// The rows of `sessions` live and die with the rollups of their days (D-237).
import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { DayRange } from '../../src/calendar/days.ts'
import { currentLayout } from '../../src/rollups/coverage.ts'
import { rollUpRound } from '../../src/rollups/loop.ts'
import { type RolledUpAgain, rollUpOlderLayouts } from '../../src/rollups/older-layouts.ts'
import { declareRetention } from '../../src/rollups/retention.ts'
import { claimLeftovers, type Leftover, publishRun } from '../../src/rollups/runs.ts'
import { verifySite } from '../../src/rollups/verify.ts'
import { dimensions } from '../../src/stats/questions/dimensions.ts'
import { sql, text, uint } from '../../src/stores/clickhouse-sql.ts'
import { custom, everyDetail, pageview } from '../support/events.ts'
import { openWorld, type World } from '../support/world.ts'
import { coverageOf, writeDays } from './run-steps.ts'

const now = '2026-03-15T12:00:00Z'
const whole: DayRange = ['2026-02-01', '2026-03-14']

async function openVisitedWorld(t: TestContext): Promise<World> {
  const world = await openWorld(t, { now })
  await world.record(
    ...['2026-02-03', '2026-03-04', '2026-03-05'].flatMap((day) => [
      pageview({ at: `${day}T10:00:00Z`, visitor: 'a', session: '1', pathname: '/a', ...everyDetail }),
      custom('Signup', { at: `${day}T10:01:00Z`, visitor: 'a', session: '1', pathname: '/a', ...everyDetail }),
      pageview({ at: `${day}T18:00:00Z`, visitor: 'a', session: '2', pathname: '/b', ...everyDetail }),
      pageview({ at: `${day}T10:00:00Z`, visitor: 'b', pathname: '/a' }),
    ]),
  )
  return world
}

/** How many rows there are of each version and day. */
async function rowsOf({ stores, siteId }: World): Promise<string[]> {
  const rows = await stores.clickhouse.rows<{ row: string }>(sql`
    SELECT concat('version ', toString(version), ', ', toString(day), ': ', toString(count())) AS row
    FROM sessions WHERE site_id = ${text(siteId)} GROUP BY version, day ORDER BY version, day`)
  return rows.map(({ row }) => row)
}

/** Makes all days look as if a process of the version before sessions had rolled them up. */
async function forgetSessions({ stores, siteId }: World): Promise<void> {
  await stores.postgres`UPDATE rollup_coverage SET layout = 1 WHERE site_id = ${siteId}`
  await stores.clickhouse.run(sql`DELETE FROM sessions WHERE site_id = ${text(siteId)}`, {
    lightweight_deletes_sync: '2',
  })
}

test('a day has one row per session, and loses them when it is rolled up again', async (t) => {
  const world = await openVisitedWorld(t)
  await world.rollUp(whole[1])
  const days = ['2026-02-03: 3', '2026-03-04: 3', '2026-03-05: 3']
  assert.deepEqual(
    await rowsOf(world),
    days.map((day) => `version 1, ${day}`),
  )
  await world.invalidate('2026-03-04')
  await world.rollUp(whole[1])
  await world.sweep()
  assert.deepEqual(await rowsOf(world), [
    'version 1, 2026-02-03: 3',
    'version 1, 2026-03-05: 3',
    'version 2, 2026-03-04: 3',
  ])
})

test('verify finds sessions that are missing or have another page, count or visitor', async (t) => {
  const world = await openVisitedWorld(t)
  const { clickhouse } = world.stores
  const verdict = async () => (await verifySite(world.stores, world.siteId)).wrong.map(({ day }) => day)
  await world.rollUp(whole[1])
  assert.deepEqual(await verdict(), [])
  const site = sql`site_id = ${text(world.siteId)}`
  const faults = [
    sql`DELETE FROM sessions WHERE ${site} AND day = '2026-03-04' AND entry_page = '/b'`,
    sql`ALTER TABLE sessions UPDATE os = 'Another' WHERE ${site} AND day = '2026-03-04' AND entry_page = '/b'`,
    sql`ALTER TABLE sessions UPDATE exit_page = '/c' WHERE ${site} AND day = '2026-03-04' AND exit_page = '/b'`,
    sql`ALTER TABLE sessions UPDATE visitor = 0 WHERE ${site} AND day = '2026-03-04'`,
    sql`ALTER TABLE sessions UPDATE \`hits.count\` = arrayMap(n -> n + 1, \`hits.count\`) WHERE ${site} AND day = '2026-03-04'`,
  ]
  for (const fault of faults) {
    await clickhouse.run(fault, { lightweight_deletes_sync: '2', mutations_sync: '2' })
    assert.deepEqual(await verdict(), ['2026-03-04'])
    await world.rebuild(whole[1])
  }
  assert.deepEqual(await verdict(), [])
})

test('a session of 20,000 hits fits into memory', async (t) => {
  const world = await openWorld(t, { now })
  const began = Date.parse('2026-03-04T10:00:00Z')
  await world.record(
    ...Array.from({ length: 20_000 }, (_, nth) =>
      pageview({ at: new Date(began + 1_000 * nth).toISOString(), pathname: `/${nth % 10_000}` }),
    ),
  )
  await world.rollUp(whole[1])
  const { json, headers } = await world.ask(
    'totals',
    'range=custom&start=2026-03-04&end=2026-03-04&filter=page:is:/7&metrics=visitors,pageviews',
  )
  assert.deepEqual([json.data, headers.get('stats-source')], [{ visitors: 1, pageviews: 2 }, 'sessions'])
  assert.deepEqual((await verifySite(world.stores, world.siteId)).wrong, [])
})

test('a chunk of days may have more than a hundred months', async (t) => {
  const world = await openWorld(t, { now })
  const months = Array.from({ length: 146 }, (_, nth) => Temporal.PlainDate.from('2014-01-01').add({ months: nth }))
  const hits = months.map((first) => pageview({ at: `${first}T10:00:00Z` }))
  await world.record(...hits.slice(0, 73))
  await world.record(...hits.slice(73))
  await world.rollUp(whole[1])
  assert.equal((await rowsOf(world)).length, 146)
})

test('days without sessions are rolled up again, newest first, and months after them', async (t) => {
  const world = await openVisitedWorld(t)
  const { stores, siteId } = world
  await world.rollUp(whole[1])
  await forgetSessions(world)
  const question = 'range=custom&start=2026-02-01&end=2026-03-14&filter=page:is:/a&metrics=visitors,events'
  world.api.directory.forget(siteId)
  const ask = async () => {
    world.api.directory.forget(siteId)
    const { json, headers } = await world.ask('totals', question)
    return [json.data, headers.get('stats-source')]
  }
  assert.deepEqual(await ask(), [{ visitors: 6, events: 3 }, 'events'])
  const again = (forMs: number) => rollUpOlderLayouts(stores, { siteId, forMs })
  // A chunk is a month here. After the first one the time is over.
  assert.equal((await again(0)).days, 14)
  const march = { version: 2, layout: currentLayout, days: [['2026-03-01', '2026-03-14']], months: [] }
  assert.deepEqual(await coverageOf(world), [
    { version: 1, layout: 1, days: [['2026-02-01', '2026-02-28']], months: [['2026-02-01', '2026-02-28']] },
    march,
  ])
  assert.deepEqual(await ask(), [{ visitors: 6, events: 3 }, 'sessions'])
  const { held, days } = await again(60_000)
  assert.deepEqual([held, days], [undefined, 28])
  assert.deepEqual(await coverageOf(world), [{ ...march, days: [whole], months: [['2026-02-01', '2026-02-28']] }])
  assert.deepEqual(await ask(), [{ visitors: 6, events: 3 }, 'sessions'])
  assert.deepEqual((await verifySite(stores, siteId)).wrong, [])
})

test('a round rolls up days without sessions of a site that has nothing else to do, and reports it', async (t) => {
  const world = await openVisitedWorld(t)
  await world.rollUp(whole[1])
  await forgetSessions(world)
  const reports: RolledUpAgain[] = []
  await rollUpRound(world.stores, { now: Date.parse(now), siteId: world.siteId, onAgain: (one) => reports.push(one) })
  assert.deepEqual(reports, [{ days: 42, left: 0 }])
})

test('a process of the version before rolls up without sessions, and never under a version that has some', async (t) => {
  const world = await openVisitedWorld(t)
  const { postgres } = world.stores
  await world.rollUp('2026-03-03')
  const days: DayRange[] = [['2026-03-04', '2026-03-14']]
  const [run] = await postgres<{ id: string; version: number }[]>`
    SELECT run::text AS id, chosen AS version
    FROM begin_rollup_run(${world.siteId}, 1::smallint, 'day', '{[2026-03-04,2026-03-14]}'::datemultirange)`
  assert.ok(run)
  await writeDays(world.stores, world.siteId, run, days)
  await world.stores.clickhouse.run(
    sql`DELETE FROM sessions WHERE site_id = ${text(world.siteId)} AND version = ${uint(run.version)}`,
  )
  await publishRun(postgres, run)
  assert.deepEqual(
    (await coverageOf(world))?.map(({ version, layout }) => [version, layout]),
    [
      [1, currentLayout],
      [2, 1],
    ],
  )
  world.api.directory.forget(world.siteId)
  const { json } = await world.ask(
    'totals',
    'range=custom&start=2026-02-01&end=2026-03-14&filter=page:is:/a&metrics=events',
  )
  assert.deepEqual(json.data, { events: 3 })
})

test('a process of the version before does not claim the leftovers of a version with sessions, which it would leave', async (t) => {
  const world = await openVisitedWorld(t)
  const { postgres } = world.stores
  await world.rollUp(whole[1])
  await world.invalidate('2026-03-04')
  const spansOf = (claimed: readonly Pick<Leftover, 'siteId' | 'span'>[]) =>
    claimed.filter(({ siteId }) => siteId === world.siteId).map(({ span }) => span)
  const claimedBefore = await postgres<Leftover[]>`
    SELECT site_id AS "siteId", span FROM claim_leftovers(1::smallint, '0', 1000)`
  assert.deepEqual(spansOf(claimedBefore), [])
  assert.deepEqual(spansOf(await claimLeftovers(postgres, 1, 1_000, '0')), ['day'])
})

test('a site that cannot be rolled up again is left alone for an hour, and no other site waits', async (t) => {
  const failing = await openVisitedWorld(t)
  const { stores } = failing
  await failing.rollUp(whole[1])
  await forgetSessions(failing)
  await stores.clickhouse.command("ALTER TABLE sessions ADD CONSTRAINT impossible CHECK entry_page != '/b'")
  t.after(() => stores.clickhouse.command('ALTER TABLE sessions DROP CONSTRAINT impossible'))
  const restUntil = new Map<string, number>()
  const errors: string[] = []
  const onError = (_: Error, domain: string) => errors.push(domain)
  const again = () => rollUpOlderLayouts(stores, { siteId: failing.siteId, forMs: 60_000, restUntil, onError })
  assert.deepEqual(await again(), { days: 0, left: 42 })
  assert.deepEqual(await again(), { days: 0, left: 42 })
  assert.equal(errors.length, 1)
  const minutes = ((restUntil.get(failing.siteId) ?? 0) - performance.now()) / 60_000
  assert.ok(minutes > 55 && minutes <= 60, `rests for ${minutes} minutes`)
})

test('every dimension of a session or a visitor is a column of sessions', async (t) => {
  const { stores } = await openWorld(t)
  const columns = await stores.clickhouse.rows<{ name: string }>(
    sql`SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'sessions'`,
  )
  const names = columns.map(({ name }) => name)
  for (const { name, of } of dimensions) if (of !== 'hit') assert.ok(names.includes(name), `sessions has no ${name}`)
})

// The last test, because retention is one for all sites of these stores.
test('days whose events were dropped stay as they are', async (t) => {
  const world = await openVisitedWorld(t)
  await world.rollUp(whole[1])
  await forgetSessions(world)
  await declareRetention(world.stores.postgres, '2026-03-01')
  const { days } = await rollUpOlderLayouts(world.stores, { siteId: world.siteId, forMs: 60_000 })
  assert.equal(days, 14)
  const [kept] = (await coverageOf(world)) ?? []
  assert.deepEqual([kept?.layout, kept?.days], [1, [['2026-02-01', '2026-02-28']]])
})
