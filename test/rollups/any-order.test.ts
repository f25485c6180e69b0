// Steps in any order: moves to other zones, clocks that are hours off, complete and partial rollup runs, rebuilds, sweeps, counts of today
// and late events. Afterwards every rollup equals its events, and every response equals the one from events alone (decisions D-73, D-74
// and D-81).
import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import type { DayRange } from '../../src/calendar/days.ts'
import { lastClosedDay } from '../../src/calendar/days.ts'
import { forgetRollups, invalidateDays, type SiteDay } from '../../src/rollups/invalidation.ts'
import { rebuildSite, rollUpSite } from '../../src/rollups/roll-up.ts'
import { publishRun, type Run } from '../../src/rollups/runs.ts'
import { rollUpToday } from '../../src/rollups/today.ts'
import { verifySite } from '../../src/rollups/verify.ts'
import type { TrafficEvent } from '../../src/traffic/event.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { openStores } from '../support/stores.ts'
import { makeWorld } from '../support/world.ts'
import { begunRun, writeDays } from './run-steps.ts'

// Thirty times as many with FOOTFALL_FULL=1 (npm run check:rollup).
const numRuns = process.env.FOOTFALL_FULL ? 120 : 4
const hourMs = 3_600_000
/** The start of a month, so that months are rolled up too. */
const start = Date.parse('2026-03-01T09:00:00Z')
const zones = ['Pacific/Auckland', 'Pacific/Kiritimati', 'UTC', 'Asia/Kathmandu', 'America/Los_Angeles', 'Pacific/Niue']
const paths = ['/', '/a', '/b']

type Step =
  | { do: 'move'; zone: string }
  | { do: 'wait'; hours: number }
  /** Seen by a collector whose clock is `skew` hours off. Its day is invalidated at once, or together with that of the next hit. */
  | { do: 'hit'; skew: number; path: number; visitor: number; isNoted: boolean }
  | { do: 'rollup' | 'rebuild' | 'count' | 'sweep' | 'begin' | 'write' | 'commit' }
  | { do: 'together'; skew: number }

const skew = fc.oneof(fc.integer({ min: -40, max: 3 }), fc.constant(0))
const hit = fc.record({
  do: fc.constant('hit' as const),
  skew,
  path: fc.nat(2),
  visitor: fc.nat(2),
  isNoted: fc.boolean(),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: hit },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('move' as const), zone: fc.constantFrom(...zones) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 30 }) }) },
  {
    weight: 7,
    arbitrary: fc.constantFrom(
      { do: 'rollup' as const },
      { do: 'rollup' as const },
      { do: 'rebuild' as const },
      { do: 'count' as const },
      { do: 'sweep' as const },
      { do: 'begin' as const },
      { do: 'write' as const },
      { do: 'commit' as const },
    ),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('together' as const), skew }) },
)

async function walk(steps: readonly Step[], t: { after(work: () => unknown): void }) {
  const stores = await openStores()
  const { postgres, clickhouse } = stores
  let [zone, clock, countedAt] = ['UTC', start, 0]
  const world = await makeWorld(stores, {
    zone,
    now: new Date(clock).toISOString(),
    limiter: memoryLimiter(() => clock),
  })
  t.after(() => world.close())
  const { siteId } = world
  const events: TrafficEvent[] = []
  let unnoted: SiteDay[] = []
  const under: { run: Run; days: DayRange[]; isWritten: boolean }[] = []
  const closed = () => lastClosedDay(zone, clock)
  const wait = (ms: number) => {
    clock += ms
    world.setNow(new Date(clock).toISOString())
  }

  async function see(hours: number, path: number, visitor: number): Promise<TrafficEvent> {
    const at = new Date(clock + hours * hourMs).toISOString()
    const event = eventOf(
      pageview({ at, pathname: paths[path] as string, visitor: `${visitor}`, country: visitor ? 'DE' : 'US' }),
      siteId,
      zone,
    )
    await recordBatch(clickhouse, { id: randomUUID(), events: [event] })
    events.push(event)
    countedAt = 0 // events after a count are not in it
    return event
  }

  async function note(): Promise<void> {
    const days = unnoted
    unnoted = []
    await invalidateDays(postgres, days)
  }

  async function take(one: Step): Promise<void> {
    switch (one.do) {
      case 'move':
        zone = one.zone
        return world.moveTo(zone)
      case 'wait':
        return wait(one.hours * hourMs)
      case 'hit':
        unnoted.push(await see(one.skew, one.path, one.visitor))
        return one.isNoted ? note() : undefined
      case 'rollup':
        return void (await rollUpSite(stores, siteId, closed()))
      case 'rebuild':
        return void (await rebuildSite(stores, siteId, closed()))
      case 'count':
        countedAt = clock
        return rollUpToday(stores, siteId, zone, clock)
      case 'sweep':
        wait(20 * 60_000) // the time that readers get
        return void (await world.sweep())
      case 'begin': {
        const days: DayRange[] = [[`${closed().slice(0, 8)}01`, closed()]]
        under.push({ run: await begunRun(postgres, siteId, 'day', days), days, isWritten: false })
        return
      }
      case 'write': {
        const next = under.find(({ isWritten }) => !isWritten)
        if (!next) return
        next.isWritten = true
        return writeDays(stores, siteId, next.run, next.days)
      }
      case 'commit': {
        const next = under.findIndex(({ isWritten }) => isWritten)
        if (next >= 0) assert.ok(await publishRun(postgres, (under.splice(next, 1)[0] as { run: Run }).run))
        return
      }
      case 'together':
        await Promise.all([
          rollUpSite(stores, siteId, closed()),
          rebuildSite(stores, siteId, closed()),
          rollUpSite(stores, siteId, closed()),
          see(one.skew, 0, 2).then((event) => invalidateDays(postgres, [event])),
          world.sweep(),
        ])
    }
  }

  const answers = async () => {
    world.api.directory.forget(siteId)
    const all: unknown[] = []
    const days = { range: 'custom', start: '2026-01-01', end: '2026-12-31' }
    for (const [report, parameters] of [
      ['overview', { range: '24h' }],
      ['overview', { range: '7d' }],
      ['timeseries', days],
      ['pages', days],
      ['geo', { ...days, device: 'desktop' }],
      ['pages', { range: '7d', country: 'DE' }],
    ] as const) {
      all.push([report, parameters, await world.data(`/stats/${report}`, parameters)])
    }
    return all
  }

  // The first days of February are rolled up from the start.
  await take({ do: 'hit', skew: -24 * 25, path: 0, visitor: 0, isNoted: true })
  for (const one of steps) await take(one)
  for (const { isWritten } of [...under]) if (!isWritten) await take({ do: 'write' })
  for (let left = under.length; left > 0; left--) await take({ do: 'commit' })
  await note()
  if (clock !== countedAt) wait(60_000)
  assert.deepEqual((await verifySite(stores, siteId)).wrong, [])
  const rolledUp = await answers()
  await forgetRollups(postgres, siteId)
  const raw = await answers()
  assert.deepEqual(rolledUp, raw)
  // The responses from events are right: every day that is over has as many views as were recorded for it.
  const today = Temporal.Instant.fromEpochMilliseconds(clock).toZonedDateTimeISO(zone).toPlainDate().toString()
  const over = Map.groupBy(
    events.filter(({ day }) => day < today),
    ({ day }) => day,
  )
  const series = (raw[2] as [string, object, { date: string; pageviews: number }[]])[2]
  assert.deepEqual(
    series
      .filter(({ date, pageviews }) => date < today && pageviews > 0)
      .map(({ date, pageviews }) => [date, pageviews]),
    [...over].map(([day, some]) => [day, some.length]).sort(),
  )
}

test(`${numRuns} walks of random steps leave verify clean and rollups equal to events`, async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), (steps) => walk(steps, t)),
    { numRuns, endOnFailure: false },
  )
})
