// Imported days at the edges of periods, in rates of goals, and on sites that have none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGoal } from '../../src/accounts/goals.ts'
import { periodsOf } from '../../src/calendar/periods.ts'
import type { Coverage } from '../../src/rollups/coverage.ts'
import { prepareQuery, reports } from '../../src/stats/reports.ts'
import { recordingStore } from '../house/scope-rules.ts'
import { custom, pageview } from '../support/events.ts'
import { importDailySums, visitorsOfDays } from '../support/imported-sums.ts'
import { openWorld, type World } from '../support/world.ts'

async function importDays(world: World, visitors: Record<string, number>, now: string): Promise<void> {
  await importDailySums(world.stores, world.siteId, visitorsOfDays(visitors), Date.parse(now))
  world.api.directory.forget(world.siteId)
}

const now = '2026-03-15T12:00:00Z'

test('a day of which a period has only a part is left out, and named with the reason', async (t) => {
  const world = await openWorld(t, { now })
  await importDays(world, { '2026-03-01': 1, '2026-03-02': 10, '2026-03-08': 100, '2026-03-14': 1_000 }, now)
  const { json, headers } = await world.get('/stats/overview', { range: '7d' })
  // 2 March, 00:00, until 8 March, 12:00.
  assert.deepEqual([json.data.current.visitors, json.data.previous.visitors], [1_000, 10])
  assert.equal(
    headers.get('stats-warning'),
    '2026-03-02, 2026-03-14 are imported as daily sums of another product, which counts in its own way; 2026-03-08 is left out, because the period covers only a part of the day, and a daily sum cannot be divided',
  )
  const hours = await world.get('/stats/timeseries', { range: '24h' })
  assert.deepEqual(
    hours.json.data.map(({ visitors }: { visitors: number }) => visitors),
    [0, 0],
  )
  assert.match(
    String(hours.headers.get('stats-warning')),
    /^2026-03-14 is left out, because the period covers only a part/,
  )
})

test('days that are not over are never imported', async (t) => {
  const world = await openWorld(t, { now, zone: 'Pacific/Auckland' })
  // There it is 16 March already.
  const files = visitorsOfDays({ '2026-03-15': 1, '2026-03-16': 1 })
  const { days, leftOut } = await importDailySums(world.stores, world.siteId, files, Date.parse(now))
  assert.deepEqual([days, leftOut], [1, { 'days that are not over': 1 }])
})

test('the rate of a goal divides by visitors whose visits are known', async (t) => {
  const world = await openWorld(t, { now })
  await createGoal(world.stores.postgres, world.siteId, {
    name: 'Signup',
    condition: { kind: 'event', event: 'Signup' },
  })
  await world.record(
    pageview({ at: '2026-03-14T10:00:00Z', visitor: '1' }),
    custom('Signup', { at: '2026-03-14T10:00:00Z', visitor: '2' }),
  )
  await importDays(world, { '2026-03-10': 98 }, now)
  const { json } = await world.ask('breakdown', { range: '7d', by: 'goal', metrics: 'conversions,conversion_rate' })
  assert.deepEqual(json.data, [{ goal: 'Signup', conversions: 1, conversion_rate: 50 }])
  const totals = await world.ask('totals', { range: '7d', goal: 'Signup', metrics: 'visitors,conversion_rate' })
  assert.deepEqual(totals.json.data, { visitors: 2, conversion_rate: 50 })
  assert.match(String(totals.headers.get('stats-warning')), /^2026-03-10 is left out/)
})

test('a site without imported days, or with others, has the statements that it had', async () => {
  const coverage: Coverage = {
    versions: [{ version: 4711, layout: 2, days: [['2026-01-20', '2026-03-07']], months: [] }],
    today: null,
    settledThrough: '2026-03-07',
    invalidations: 0,
    eventsFrom: '1970-01-01',
    imported: [],
  }
  const imported = { list: 'total', metrics: ['visitors', 'pageviews'], version: '1' }
  const site = { id: 'site_x', timeZone: 'UTC', excludedCountries: [], goals: [], shard: 1 }
  const parameters = { range: { name: '30d' }, filters: {}, limit: 10 } as const
  const statements = async (days: Coverage['imported']) => {
    const texts: string[] = []
    for (const report of Object.values(reports)) {
      const store = recordingStore([])
      const given = { ...site, coverage: { ...coverage, imported: days } }
      const { query } = prepareQuery(report, given, parameters, Date.parse(now), undefined)
      await report.read(store, query)
      texts.push(...store.statements.map((statement) => JSON.stringify(statement)))
    }
    return texts
  }
  const before = await statements([])
  assert.ok(before.length >= 9 && before.every((text) => !text.includes('imported')))
  assert.deepEqual(await statements([{ ...imported, days: [['2020-01-01', '2020-12-31']] }]), before)
  const { current } = periodsOf(parameters.range, Temporal.Instant.from(now).toZonedDateTimeISO('UTC'))
  const inside = await statements([{ ...imported, days: [[String(current.firstDay), String(current.firstDay)]] }])
  assert.equal(inside.filter((text) => text.includes('imported_sums')).length, 2) // overview and timeseries
})
