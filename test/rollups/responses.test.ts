// Responses are the same before and after a rollup, for every filter and every exclusion.
import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { monthStatements, rollupStatements } from '../../src/rollups/statements.ts'
import { reports } from '../../src/stats/reports.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { custom, pageview } from '../support/events.ts'
import { openWorld, type World } from '../support/world.ts'

const noon = '2026-03-15T12:00:00Z'

/** Visitors with several hosts, sources and sessions per day, whose counts must not be added up. */
async function openBusyWorld(t: Parameters<typeof openWorld>[0]): Promise<World> {
  const world = await openWorld(t, { now: noon, zone: 'Asia/Kathmandu' })
  const days = ['2026-01-31', '2026-02-01', '2026-02-28', '2026-03-13', '2026-03-14', '2026-03-15']
  const people = [
    { visitor: 'a', country: 'DE', device: 'Desktop' },
    { visitor: 'b', country: 'DE', device: 'Mobile' },
    { visitor: 'c', country: 'US', device: 'Desktop' },
    { visitor: 'd', country: 'US', device: 'Unknown' },
  ] as const
  const hits = days.flatMap((day) =>
    people.flatMap((person, number) => {
      const morning = {
        ...person,
        session: 'morning',
        utmSource: 'mail',
        referrer: 'mail.example',
        channel: 'Email' as const,
      }
      const later = { ...person, session: 'later', ...(number % 2 === 0 && { utmSource: 'ads' }) }
      return [
        pageview({ ...morning, at: `${day}T01:00:00Z`, pathname: '/', hostname: 'example.com' }),
        pageview({ ...morning, at: `${day}T01:05:30Z`, pathname: '/', hostname: 'shop.example.com' }),
        custom('signup', { ...morning, at: `${day}T01:06:00Z`, hostname: 'shop.example.com' }),
        pageview({ ...later, at: `${day}T05:00:00Z`, pathname: `/${number}`, hostname: 'example.com' }),
      ]
    }),
  )
  await world.record(...hits)
  return world
}

const filters = [{ country: 'DE' }, { device: 'desktop' }, { hostname: 'example.com' }, { utm_source: 'mail' }]
// Without a filter, with each of them, and with all four. Every night (FOOTFALL_FULL=1) all sixteen combinations.
const combinations = Array.from({ length: 16 }, (_, bits) => filters.filter((_filter, index) => bits & (1 << index)))
  .filter(({ length }) => process.env.FOOTFALL_FULL || length < 2 || length === filters.length)
  .map((some) => Object.assign({}, ...some)) as Record<string, string>[]

async function answers(world: World): Promise<Map<string, unknown>> {
  const all = new Map<string, unknown>()
  for (const range of [{ range: 'custom', start: '2026-02-01', end: '2026-03-15' }]) {
    for (const filter of combinations) {
      for (const name of Object.keys(reports)) {
        const parameters = { ...range, ...filter } as Record<string, string>
        all.set(`${name} ${new URLSearchParams(parameters)}`, await world.data(`/stats/${name}`, parameters))
      }
    }
  }
  return all
}

test('every report, filter combination and exclusion returns the same from rollups as from events', async (t) => {
  const world = await openBusyWorld(t)
  const before = await answers(world)
  await world.excludeCountries(['DE'])
  const without = await answers(world)
  assert.notDeepEqual(without, before)

  await world.rollUp('2026-03-14')
  assert.deepEqual(await answers(world), without)
  await world.excludeCountries([])
  assert.deepEqual(await answers(world), before)

  // The responses do come from rollups: doubling every rolled-up visitor doubles the days before today.
  const { clickhouse } = world.stores
  await clickhouse.run(sql`
    INSERT INTO short_rollups SELECT * FROM short_rollups WHERE site_id = ${text(world.siteId)} AND position(rollup_key, ' total ') > 0`)
  const { current } = await world.data('/stats/overview', { range: '12m' })
  assert.deepEqual([current.visitors, current.pageviews, current.sessions], [2 * 20 + 4, 2 * 60 + 12, 2 * 40 + 8])
})

test('a late event for a rolled-up day counts at once, and the day is rolled up again', async (t) => {
  const world = await openBusyWorld(t)
  await world.rollUp('2026-03-14')
  await world.record(pageview({ at: '2026-02-01T06:00:00Z', visitor: 'late', pathname: '/late' }))
  const february = { range: 'custom', start: '2026-02-01', end: '2026-02-28' }
  const pages = async () =>
    (await world.data('/stats/pages', february)).find((row: { pathname: string }) => row.pathname === '/late')
  assert.deepEqual(await pages(), { pathname: '/late', title: '', views: 1, visitors: 1 })
  assert.equal((await world.data('/stats/overview', february)).current.visitors, 9)
  await world.rollUp('2026-03-14')
  assert.deepEqual(await pages(), { pathname: '/late', title: '', views: 1, visitors: 1 })
  assert.equal((await world.data('/stats/overview', february)).current.visitors, 9)
  await world.sweep()
  assert.equal((await world.data('/stats/overview', february)).current.visitors, 9)
})

test('a rollup of much traffic in several pieces gives the same rows as one of little traffic in one piece', async (t) => {
  const world = await openBusyWorld(t)
  const { clickhouse } = world.stores
  const { siteId } = world
  const days = [['2026-02-01', '2026-02-28']] as const
  for (const [version, atOnce] of [true, false].entries()) {
    const batch = { siteId, siteIds: [siteId], version, days }
    for (const statement of rollupStatements(batch, { atOnce })) await clickhouse.run(statement)
    for (const statement of monthStatements(batch, [batch], { atOnce })) await clickhouse.run(statement)
  }
  const rows = async (version: number) => {
    const found = await clickhouse.rows(sql`
      SELECT splitByChar(' ', rollup_key, 3)[1] AS span, splitByChar(' ', rollup_key, 3)[3] AS subject, day, value, views, visitors,
        0 AS sessions, 0 AS bounces, 0 AS duration
      FROM long_rollups WHERE site_id = ${text(siteId)} AND splitByChar(' ', rollup_key)[2] = ${text(`${version}`)}
      UNION ALL
      SELECT splitByChar(' ', rollup_key, 3)[1] AS span, splitByChar(' ', rollup_key, 3)[3] AS subject, day, value,
        sum(views), sum(visitors), sum(sessions), sum(bounces), sum(duration)
      FROM short_rollups WHERE site_id = ${text(siteId)} AND splitByChar(' ', rollup_key)[2] = ${text(`${version}`)}
      GROUP BY span, subject, day, value`)
    return found.map((row) => JSON.stringify(row)).sort()
  }
  const atOnce = await rows(0)
  assert.ok(atOnce.length > 200, `${atOnce.length} rows`)
  assert.deepEqual(await rows(1), atOnce)
})
