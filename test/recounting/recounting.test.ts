// Answers are recounted from events: broken rollups are found, kept and repaired; late events are none of that; and every day has its turn.
import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import { findSite } from '../../src/accounts/sites.ts'
import { keptDifferences } from '../../src/recounting/differences.ts'
import { type RecountOptions, recountOnce, watchAnswers } from '../../src/recounting/loop.ts'
import { daysLeftOut, recountedInstallation, recountedSite } from '../../src/recounting/rounds.ts'
import { visitDay } from '../../src/recounting/visit.ts'
import { date, type Sql, sql, text } from '../../src/stores/clickhouse-sql.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { custom, eventOf, pageview } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { importDailySums, visitorsOfDays } from '../support/imported-sums.ts'
import { openWorld, type World } from '../support/world.ts'

const noon = '2026-03-15T12:00:00Z'
const days = ['2026-03-11', '2026-03-12', '2026-03-13', '2026-03-14']
const options = {
  now: () => Date.parse(noon),
  signal: new AbortController().signal,
  settleMs: 10,
}

/** Visitors with several hosts, sources, pages and visits a day. */
async function openBusyWorld(t: Parameters<typeof openWorld>[0], settings = {}): Promise<World> {
  const world = await openWorld(t, { now: noon, zone: 'Asia/Kathmandu', ...settings })
  const people = [
    { visitor: 'a', country: 'DE', device: 'Desktop', browser: 'Firefox', os: 'Linux' },
    { visitor: 'b', country: 'DE', device: 'Mobile', browser: 'Safari', os: 'iOS' },
    { visitor: 'c', country: 'US', device: 'Desktop', browser: 'Chrome', os: 'Windows' },
    { visitor: 'd', country: 'US', device: 'Unknown', browser: 'Chrome', os: 'Android' },
  ] as const
  const hits = days.flatMap((day) =>
    people.flatMap((person, number) => {
      const campaign = { medium: 'email', campaign: 'may', content: 'hero', term: 'shoes' }
      const morning = {
        ...{ ...person, session: 'morning', utmSource: 'mail', referrer: 'mail.example', campaign },
        channel: 'Email' as const,
      }
      const later = { ...person, session: 'later', ...(number % 2 === 0 && { utmSource: 'ads' }) }
      return [
        pageview({ ...morning, at: `${day}T01:00:00Z`, pathname: '/', hostname: 'example.com' }),
        pageview({ ...morning, at: `${day}T01:05:30Z`, pathname: '/offer', hostname: 'shop.example.com' }),
        custom('signup', { ...morning, at: `${day}T01:06:00Z`, hostname: 'shop.example.com' }),
        pageview({ ...later, at: `${day}T05:00:00Z`, pathname: `/${number}`, hostname: 'example.com' }),
        custom('click', { ...later, at: `${day}T05:00:30Z`, pathname: `/${number}`, hostname: 'example.com' }),
        custom('only an event', { ...person, session: 'third', at: `${day}T07:00:00Z`, pathname: '/silent' }),
      ]
    }),
  )
  await world.record(...hits)
  await world.rollUp('2026-03-14')
  return world
}

const visit = (world: World, day: string, more: Partial<RecountOptions> = {}) =>
  visitDay(world.stores, world.siteId, day, { ...options, ...more })

/** Rows of a day as they are read now. */
async function keyOf(world: World, day: string): Promise<Sql> {
  const site = await findSite(world.stores.postgres, world.siteId)
  const version = site?.coverage.versions.find(({ days }) => days.some(([from, to]) => from <= day && day <= to))
  assert.ok(version, 'the day is rolled up')
  return sql`site_id = ${text(world.siteId)} AND day = ${date(day)} AND startsWith(rollup_key, ${text(`day ${version.version} `)})`
}

test('answers of a day that are right differ nowhere, with an exclusion, too', async (t) => {
  const world = await openBusyWorld(t)
  // 14 questions are always asked, and 2 × 9 reports with filters and 3 more lists while there is time.
  const found = await visit(world, '2026-03-13')
  assert.equal(found?.differences, 0)
  assert.ok(found && found.answers >= 14 && found.answers <= 35, String(found?.answers))
  await world.excludeCountries(['US'])
  assert.equal((await visit(world, '2026-03-13'))?.differences, 0)
})

/** What somebody may do to the rows of a day. */
const damages: Record<string, (world: World, key: Sql) => Promise<unknown>> = {
  'a wrong count': async (world, key) => {
    await world.stores.clickhouse.run(sql`
      INSERT INTO short_rollups SELECT * REPLACE (toInt64(0) AS views, toInt64(0) AS sessions, toInt64(0) AS duration, toInt64(0) AS bounces)
      FROM short_rollups WHERE ${key} AND dimension = 'total' AND grouping_set = 0`)
  },
  'a page that is missing': (world, key) =>
    world.stores.clickhouse.run(
      sql`DELETE FROM long_rollups WHERE ${key} AND dimension = 'page' AND value = '/offer'`,
      {
        lightweight_deletes_sync: '2',
      },
    ),
  'a referrer too many': (world, key) =>
    world.stores.clickhouse.run(sql`
      INSERT INTO long_rollups SELECT * REPLACE ('nobody.example' AS value) FROM long_rollups
      WHERE ${key} AND dimension = 'referrer' AND grouping_set = 0`),
  'a country with another number': (world, key) =>
    world.stores.clickhouse.run(sql`
      INSERT INTO short_rollups SELECT * REPLACE (toInt64(1) AS visitors) FROM short_rollups
      WHERE ${key} AND dimension = 'country' AND grouping_set = 0 AND value = 'DE'`),
  'a session that is missing': (world) =>
    world.stores.clickhouse.run(
      sql`DELETE FROM sessions WHERE site_id = ${text(world.siteId)} AND day = '2026-03-13' AND country = 'DE' AND entry_page = '/'`,
      { lightweight_deletes_sync: '2' },
    ),
  'a session too many': (world) =>
    world.stores.clickhouse.run(sql`
      INSERT INTO sessions SELECT * FROM sessions
      WHERE site_id = ${text(world.siteId)} AND day = '2026-03-13' AND entry_page = '/1'`),
  'a hit of a session on another page': (world) =>
    world.stores.clickhouse.run(sql`
      INSERT INTO sessions SELECT * REPLACE (arrayMap(path -> '/elsewhere', hits.pathname) AS "hits.pathname", toUInt32(0) AS pageviews)
      FROM sessions WHERE site_id = ${text(world.siteId)} AND day = '2026-03-13' AND entry_page = '/1'`),
}

for (const [damage, make] of Object.entries(damages)) {
  test(`${damage} is found, kept with both statements, and repaired`, async (t) => {
    const world = await openBusyWorld(t)
    await make(world, await keyOf(world, '2026-03-13'))
    const told: string[] = []
    const found = await visit(world, '2026-03-13', {
      onDifference: (_, day, { request }) => told.push(`${day} ${request}`),
    })
    assert.ok(found && found.differences > 0, 'it is found')
    const kept = await keptDifferences(world.stores.postgres, world.siteId)
    assert.equal(kept.length, found.differences)
    assert.equal(told.length, kept.length)
    for (const { request, recounted, answered, differing, repairedAt, day } of kept) {
      assert.equal(day, '2026-03-13')
      assert.match(request, /^\/api\/v[12]\/stats\/\w+\?range=custom&start=2026-03-13&end=2026-03-13/)
      assert.match(recounted, /FROM events/)
      assert.match(answered, /(short_rollups|long_rollups|sessions)/)
      assert.ok(differing.length > 0)
      assert.ok(repairedAt, 'it is repaired')
    }
    assert.equal((await visit(world, '2026-03-13'))?.differences, 0)
  })
}

test('an event that PostgreSQL does not know of yet is no difference', async (t) => {
  const world = await openBusyWorld(t)
  const late = eventOf(
    pageview({ at: '2026-03-13T08:00:00Z', visitor: 'late', pathname: '/late' }),
    world.siteId,
    'Asia/Kathmandu',
  )
  // As a collector does it: first ClickHouse, a moment later PostgreSQL.
  await recordBatch(world.stores.clickhouse, { id: randomUUID(), events: [late] })
  const invalidated = new Promise((resolve) => setTimeout(resolve, 4_000)).then(() => world.invalidate('2026-03-13'))
  const found = await visit(world, '2026-03-13', { settleMs: 8_000 })
  await invalidated
  assert.equal(found, undefined, 'nothing is concluded')
  assert.equal((await keptDifferences(world.stores.postgres, world.siteId)).length, 0)
})

test('a difference that a rebuild does not repair stays open and is looked at again', async (t) => {
  const world = await openBusyWorld(t)
  const { clickhouse, postgres } = world.stores
  await clickhouse.run(sql`
    INSERT INTO short_rollups SELECT * FROM short_rollups WHERE ${await keyOf(world, '2026-03-13')} AND dimension = 'channel' AND grouping_set = 0`)
  // Nothing can be rolled up: the site is held, as it is during a move.
  await postgres`INSERT INTO site_moves (site_id, from_shard, to_shard, hold) VALUES (${world.siteId}, 1, 1, 1)`
  await assert.rejects(visit(world, '2026-03-13'), /moves to another shard/)
  assert.equal((await recountedInstallation(postgres))?.open, undefined) // no shard was visited by the loop yet
  const [kept] = await keptDifferences(postgres, world.siteId)
  assert.equal(kept?.repairedAt, null)

  await postgres`DELETE FROM site_moves WHERE site_id = ${world.siteId}`
  await postgres`UPDATE recount_differences SET looked_at = now() - interval '2 hours'`
  const repaired = await recountOnce(world.stores, options)
  assert.equal(repaired?.differences, 0, 'it is counted once')
  assert.equal((await keptDifferences(postgres, world.siteId)).filter(({ repairedAt }) => !repairedAt).length, 0)
})

test('an open difference is over when its day is read from events, and never holds up the other days', async (t) => {
  const world = await openBusyWorld(t)
  const { postgres } = world.stores
  await postgres`DELETE FROM sites WHERE id <> ${world.siteId}`
  await postgres`DELETE FROM recount_shards`
  await postgres`
    INSERT INTO recount_differences (site_id, day, question, request, looked_at, differing, recounted, answered)
    VALUES (${world.siteId}, '2026-03-13', '{"by": "page"}', '/api/v2/stats/breakdown', '2026-01-01', '[]', '', '')`
  await world.invalidate('2026-03-13')
  assert.equal(await recountOnce(world.stores, options), undefined)
  assert.ok((await keptDifferences(postgres, world.siteId))[0]?.repairedAt)
  await postgres`UPDATE recount_shards SET due_at = now()`
  assert.notEqual((await recountOnce(world.stores, options))?.day, '2026-03-13')
})

test('every rolled-up day of all sites is visited once before one repeats, and days without events are counted apart', async (t) => {
  const worlds = [await openBusyWorld(t), await openBusyWorld(t)]
  const { stores } = worlds[0] as World
  const { postgres } = stores
  await postgres`DELETE FROM sites WHERE id <> ALL(${worlds.map(({ siteId }) => siteId)})`
  await postgres`DELETE FROM recount_shards`
  const once = async () => {
    await postgres`UPDATE recount_shards SET due_at = now()`
    const visited = await recountOnce(stores, options)
    assert.ok(visited)
    return visited
  }
  // 1 to 14 March of both sites: the month is rolled up from its first day on.
  const first: string[] = []
  for (let visits = 0; visits < 28; visits++) {
    const { siteId, day, isEmpty } = await once()
    assert.equal(isEmpty, !days.includes(day), day)
    first.push(`${siteId} ${day}`)
  }
  assert.equal(new Set(first).size, 28)
  const sitesInTurn = first.slice(0, 6).map((one) => one.split(' ')[0])
  assert.deepEqual(sitesInTurn.slice(2), sitesInTurn.slice(0, 4), 'sites take turns')
  const { siteId, day } = await once()
  assert.ok(first.includes(`${siteId} ${day}`), 'the second round has begun')

  const all = await recountedInstallation(postgres)
  assert.equal((all?.days ?? 0) + (all?.emptyDays ?? 0), 29)
  assert.ok(all && all.emptyDays >= 20)
  for (const world of worlds) {
    const site = await recountedSite(postgres, { id: world.siteId })
    assert.ok(site && site.answers >= 4 * 14)
    assert.deepEqual([site.differences, site.open], [0, 0])
  }
})

test('a new day is visited in the round that runs, and a site without days holds nobody up', async (t) => {
  const [world, empty] = [await openBusyWorld(t), await openBusyWorld(t)]
  const { postgres } = world.stores
  await postgres`DELETE FROM sites WHERE id <> ALL(${[world.siteId, empty.siteId]})`
  await postgres`DELETE FROM recount_shards`
  await empty.invalidate(...Array.from({ length: 14 }, (_, day) => `2026-03-${String(day + 1).padStart(2, '0')}`))
  await postgres`INSERT INTO recounts (site_id, round) VALUES (${empty.siteId}, 1)`
  await world.record(pageview({ at: '2026-03-15T03:00:00Z' }))
  const seen = new Set<string>()
  for (let visits = 0; visits < 15; visits++) {
    if (visits === 10) await world.rollUp('2026-03-15')
    await postgres`UPDATE recount_shards SET due_at = now()`
    const visited = await recountOnce(world.stores, { ...options, now: () => Date.parse('2026-03-16T12:00:00Z') })
    assert.equal(visited?.siteId, world.siteId)
    seen.add(visited.day)
  }
  assert.equal(seen.size, 15)
})

test('a day with sums of another product is not visited, and counted apart', async (t) => {
  const world = await openBusyWorld(t)
  const { postgres } = world.stores
  await postgres`DELETE FROM sites WHERE id <> ${world.siteId}`
  await postgres`DELETE FROM recount_shards`
  await importDailySums(world.stores, world.siteId, visitorsOfDays({ '2026-03-12': 5, '2026-03-13': 7 }), options.now())
  const seen = new Set<string>()
  // The other twelve days of March, and the first of them again.
  for (let visits = 0; visits < 13; visits++) {
    await postgres`UPDATE recount_shards SET due_at = now()`
    const visited = await recountOnce(world.stores, options)
    assert.equal(visited?.differences, 0)
    seen.add(visited.day)
  }
  assert.equal(seen.size, 12)
  assert.deepEqual(
    [...seen].filter((day) => day === '2026-03-12' || day === '2026-03-13'),
    [],
  )
  assert.deepEqual(await daysLeftOut(postgres), { dropped: 0, imported: 2 })
})

test('nobody visits a day before the pause is over', async (t) => {
  const world = await openBusyWorld(t)
  const { postgres } = world.stores
  await postgres`INSERT INTO recount_shards (shard, due_at) VALUES (1, now()) ON CONFLICT (shard) DO UPDATE SET due_at = now(), searched_at = '-infinity'`
  assert.ok(await recountOnce(world.stores, options))
  assert.equal(await recountOnce(world.stores, options), undefined)
  const [{ seconds }] = await postgres<[{ seconds: number }]>`
    SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM recount_shards`
  assert.ok(seconds > 4, `${seconds} s`)
})

test('a busy installation is left alone, and an error does not end the loop', async (t) => {
  const world = await openBusyWorld(t)
  const { postgres } = world.stores
  await postgres`DELETE FROM sites WHERE id <> ${world.siteId}`
  await postgres`DELETE FROM recount_shards`
  const ending = new AbortController()
  const errors: string[] = []
  let looks = 0
  const watching = watchAnswers(world.stores, {
    ...options,
    signal: ending.signal,
    lookEveryMs: 50,
    isBusy: async () => {
      looks++
      if (looks === 2) throw new Error('PostgreSQL is away')
      return looks < 5
    },
    onError: ({ message }) => errors.push(message),
  })
  const days = await eventually(async () => {
    const all = await recountedInstallation(postgres)
    assert.ok(all && all.days + all.emptyDays > 0)
    return all.days + all.emptyDays
  })
  ending.abort()
  await watching
  assert.deepEqual([days, errors], [1, ['PostgreSQL is away']])
  assert.ok(looks >= 5)
})
