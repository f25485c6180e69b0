// A busy site's rollup of today: the numbers at the time of the count, never older than a minute (decision D-81).
import assert from 'node:assert/strict'
import test from 'node:test'
import { rollUpRound } from '../../src/rollups/loop.ts'
import { rollUpTodayOfBusySites } from '../../src/rollups/today.ts'
import { reports } from '../../src/stats/reports.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { custom, pageview } from '../support/events.ts'
import { connect, createStores, disconnect } from '../support/stores.ts'
import { makeWorld, openWorld, type World } from '../support/world.ts'

const noon = '2026-03-15T12:00:00Z'

async function openBusyWorld(t: Parameters<typeof openWorld>[0], zone = 'UTC'): Promise<World> {
  const world = await openWorld(t, { now: noon, zone })
  const people = [
    { visitor: 'a', country: 'DE', device: 'Desktop', utmSource: 'mail' },
    { visitor: 'b', country: 'US', device: 'Mobile' },
  ] as const
  await world.record(
    ...['2026-03-07', '2026-03-08', '2026-03-14', '2026-03-15'].flatMap((day) =>
      people.flatMap((person) => [
        pageview({ ...person, at: `${day}T09:00:00Z`, pathname: '/' }),
        pageview({ ...person, at: `${day}T09:10:00Z`, pathname: `/${person.visitor}`, hostname: 'shop.example.com' }),
        custom('signup', { ...person, at: `${day}T11:59:59.999Z` }),
      ]),
    ),
  )
  await world.rollUp('2026-03-14')
  return world
}

const ranges = ['24h', '7d', '12m']
const filters = [{}, { country: 'DE' }, { device: 'mobile' }, { hostname: 'shop.example.com' }, { utm_source: 'mail' }]

async function answers(world: World): Promise<Map<string, unknown>> {
  const all = new Map<string, unknown>()
  for (const range of ranges) {
    // A week is asked for with every filter, the other ranges with two of them. With FOOTFALL_FULL=1, all ranges with every filter.
    const every = [...filters, { country: 'DE', hostname: 'shop.example.com' }]
    for (const filter of range === '7d' || process.env.FOOTFALL_FULL ? every : [every[0], every[4]]) {
      for (const name of Object.keys(reports)) {
        const parameters = { range, ...filter } as Record<string, string>
        all.set(`${name} ${new URLSearchParams(parameters)}`, await world.data(`/stats/${name}`, parameters))
      }
    }
  }
  return all
}

test('every report and filter returns the same from a count of today as from its events', async (t) => {
  const world = await openBusyWorld(t)
  const before = await answers(world)
  await world.rollUpToday()
  assert.deepEqual(await answers(world), before)
  await world.excludeCountries(['DE'])
  const { current, previous } = await world.data('/stats/overview', { range: '7d' })
  // One of two visitors is left, with two pages on each of two days: 14 and 15 March, against 7 March and 8 March until noon.
  assert.deepEqual([current.visitors, current.pageviews, current.sessions], [2, 4, 2])
  assert.deepEqual([previous.visitors, previous.pageviews], [2, 4])

  // The numbers do come from the count: doubled rows count twice.
  await world.excludeCountries([])
  await world.stores.clickhouse.run(sql`
    INSERT INTO today_rollups SELECT * FROM today_rollups WHERE site_id = ${text(world.siteId)}`)
  const twice = await world.data('/stats/overview', { range: '7d' })
  assert.deepEqual([twice.current.visitors, twice.current.pageviews], [2 + 2 * 2, 4 + 2 * 4])
  assert.deepEqual([twice.previous.visitors, twice.previous.pageviews], [2 + 2 * 2, 4 + 2 * 4])
})

test('the partial day at the end of the previous window has the hits before its end and the whole sessions that began before it', async (t) => {
  const world = await openWorld(t, { now: noon })
  await world.record(
    pageview({ at: '2026-03-08T11:00:00Z', visitor: 'a' }),
    pageview({ at: '2026-03-08T12:30:00Z', visitor: 'a', hostname: 'shop.example.com' }),
    pageview({ at: '2026-03-08T12:00:00Z', visitor: 'b' }),
    pageview({ at: '2026-03-15T10:00:00Z', visitor: 'a', hostname: 'shop.example.com' }),
  )
  await world.rollUp('2026-03-14')
  const previous = async (filter: Record<string, string> = {}) =>
    Object.values((await world.data('/stats/overview', { range: '7d', ...filter })).previous)
  const expected = [1, 1, 1, 0, 90 * 60]
  const check = async () => {
    assert.deepEqual(await previous(), expected)
    assert.deepEqual(await previous({ country: 'DE' }), expected)
    assert.deepEqual(await previous({ hostname: 'shop.example.com' }), [0, 0, 0, 0, 0])
  }
  await check()
  await world.rollUpToday()
  await check()

  const doubled = sql`
    INSERT INTO today_rollups SELECT * FROM today_rollups
    WHERE site_id = ${text(world.siteId)} AND startsWith(rollup_key, 'part ')`
  await world.stores.clickhouse.run(doubled)
  assert.deepEqual(await previous(), [2, 2, 2, 0, 90 * 60])
  // A late event counts at once, and still counts when its day is rolled up again while the count is recent.
  await world.record(pageview({ at: '2026-03-08T09:00:00Z', visitor: 'late' }))
  assert.deepEqual((await previous()).slice(0, 3), [2, 2, 2])
  await world.record(pageview({ at: '2026-03-08T09:30:00Z', visitor: 'later' }))
  assert.deepEqual((await previous()).slice(0, 3), [3, 3, 3])
  await world.rollUp('2026-03-14')
  assert.deepEqual((await previous()).slice(0, 3), [3, 3, 3])
})

test('a response has the time of the count in generated_at, and after a minute it is computed from events', async (t) => {
  const world = await openBusyWorld(t)
  await world.rollUpToday()
  await world.record(pageview({ at: '2026-03-15T12:00:10Z', visitor: 'late' }))
  const seen = async (now: string) => {
    world.setNow(now)
    const { json, headers } = await world.get('/stats/overview', { range: '7d' })
    return [json.data.current.visitors, json.meta.generated_at, headers.get('Stats-Period')?.split('/')[1]]
  }
  const atTheCount = [4, '2026-03-15T12:00:00.000Z', '2026-03-15T12:00:00+00:00']
  assert.deepEqual(await seen('2026-03-15T12:00:20Z'), atTheCount)
  assert.deepEqual(await seen('2026-03-15T12:00:54Z'), atTheCount)
  assert.deepEqual(await seen('2026-03-15T12:00:54.001Z'), [
    5,
    '2026-03-15T12:00:54.001Z',
    '2026-03-15T12:00:54.001+00:00',
  ])
  await world.rollUpToday()
  assert.deepEqual((await seen('2026-03-15T12:01:30Z')).slice(0, 2), [5, '2026-03-15T12:00:54.001Z'])
})

test('until half an hour after midnight yesterday is counted too', async (t) => {
  const world = await openWorld(t, { now: '2026-03-14T18:30:00Z', zone: 'Asia/Kathmandu' }) // 00:15 of the 15th
  await world.record(
    pageview({ at: '2026-03-12T10:00:00Z' }),
    pageview({ at: '2026-03-14T10:00:00Z' }),
    pageview({ at: '2026-03-14T18:20:00Z' }),
  )
  await world.rollUp('2026-03-13')
  await world.rollUpToday()
  const days = await world.data('/stats/timeseries', { range: '7d' })
  const visited = days.filter((day: { visitors: number }) => day.visitors > 0)
  assert.deepEqual(
    visited.map((day: { date: string; pageviews: number }) => [day.date, day.pageviews]),
    [
      ['2026-03-12', 1],
      ['2026-03-14', 1],
      ['2026-03-15', 1],
    ],
  )
  await world.stores.clickhouse.run(
    sql`DELETE FROM today_rollups WHERE site_id = ${text(world.siteId)} AND day = '2026-03-14'`,
  )
  assert.equal((await world.data('/stats/overview', { range: '7d' })).current.pageviews, 2)
})

test('sites whose last closed day was busy are counted when their next count is due', async (t) => {
  const { addresses, remove } = await createStores()
  const stores = { ...connect(addresses), addresses }
  t.after(async () => {
    await disconnect(stores)
    await remove()
  })
  const world = await makeWorld(stores, { now: noon })
  t.after(() => world.close())
  await world.record(
    ...[1, 2, 3].map((hour) => pageview({ at: `2026-03-14T0${hour}:00:00Z` })),
    pageview({ at: '2026-03-15T01:00:00Z' }),
  )
  const at = (iso: string) => Date.parse(iso)
  await rollUpRound(stores, { now: at(noon), minYearEvents: 1 })
  const restUntil = new Map<string, number>()
  const onError = (error: Error) => assert.fail(error)
  const quick = { restUntil, onError, clock: () => 0 } // independent of the speed of this machine
  const count = (iso: string, minDayEvents: number) =>
    rollUpTodayOfBusySites(stores, { now: () => at(iso), minDayEvents, ...quick })
  assert.equal(await count(noon, 4), 0)
  assert.equal(await count(noon, 3), 1)
  assert.equal(await count('2026-03-15T12:00:39Z', 3), 0)
  assert.equal(await count('2026-03-15T12:00:40Z', 3), 1)

  // A count of five seconds on two threads: at a tenth of a core the next one is allowed a hundred seconds later.
  const times = [0, 5_000]
  const slowly = (iso: string) =>
    rollUpTodayOfBusySites(stores, {
      now: () => at(iso),
      minDayEvents: 3,
      restUntil,
      onError,
      clock: () => times.shift() ?? 0,
    })
  assert.equal(await slowly('2026-03-15T12:02:00Z'), 1)
  assert.equal(await count('2026-03-15T12:03:39Z', 3), 0)
  assert.equal(await count('2026-03-15T12:03:40Z', 3), 1)

  // A count that exceeds its memory limit is cancelled, reported, and not retried at once. The next site is still counted.
  const told: string[] = []
  const narrowly = (iso: string) =>
    rollUpTodayOfBusySites(stores, {
      now: () => at(iso),
      minDayEvents: 3,
      restUntil,
      maxBytes: 1000,
      clock: () => 0,
      onError: (error, domain) => told.push(`${domain} ${(error as Error & { code?: string }).code}`),
    })
  const other = await makeWorld(stores, { now: noon })
  t.after(() => other.close())
  await other.record(...[1, 2, 3].map((hour) => pageview({ at: `2026-03-14T0${hour}:00:00Z` })))
  await rollUpRound(stores, { now: at(noon), minYearEvents: 1, siteId: other.siteId })
  assert.equal(await narrowly('2026-03-15T12:05:00Z'), 0)
  assert.deepEqual(told.sort(), [`${world.domain} 241`, `${other.domain} 241`].sort())
  assert.equal(await count('2026-03-15T12:05:39Z', 3), 0)
  assert.equal(await count('2026-03-15T12:05:40Z', 3), 2)
  world.setNow('2026-03-15T12:05:39Z')
  assert.equal((await world.data('/stats/overview', { range: '7d' })).current.pageviews, 4)
})
