// Any order of moves to other zones, clocks that are hours off, folds whole and in pieces, rebuilds, sweeps, counts of today and late events
// leaves every folded number what the events say, and every answer what it is without folds (decisions D-73, D-74 and D-81).
import '../support/unshared-stores.ts'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import { memoryLimiter } from '../../src/api/rate-limit.ts'
import { lastClosedDay } from '../../src/folding/calendar.ts'
import { foldSite, refoldSite } from '../../src/folding/fold.ts'
import { commitFold, type Run } from '../../src/folding/ledger.ts'
import { foldOpenDay } from '../../src/folding/open-days.ts'
import { verifySite } from '../../src/folding/verify.ts'
import type { TrafficEvent } from '../../src/traffic/event.ts'
import type { DayRange } from '../../src/traffic/folds.ts'
import { forgetFolds, noteLateDays, type SiteDay } from '../../src/traffic/late-days.ts'
import { recordBatch } from '../../src/traffic/recording.ts'
import { eventOf, pageview } from '../support/events.ts'
import { begunFold, writeDays } from '../support/folds.ts'
import { openStores } from '../support/stores.ts'
import { makeWorld } from '../support/world.ts'

// Fifteen times as many with FOOTFALL_FULL=1.
const numRuns = process.env.FOOTFALL_FULL ? 120 : 8
const hourMs = 3_600_000
/** At the turn of a month, so that months are folded too. */
const start = Date.parse('2026-03-01T09:00:00Z')
const zones = ['Pacific/Auckland', 'Pacific/Kiritimati', 'UTC', 'Asia/Kathmandu', 'America/Los_Angeles', 'Pacific/Niue']
const paths = ['/', '/a', '/b']

type Step =
  | { do: 'move'; zone: string }
  | { do: 'wait'; hours: number }
  /** Seen by a collector whose clock is so many hours off; noted at once, or when the next one is. */
  | { do: 'hit'; skew: number; path: number; visitor: number; isNoted: boolean }
  | { do: 'fold' | 'refold' | 'count' | 'sweep' | 'begin' | 'write' | 'commit' }
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
      { do: 'fold' as const },
      { do: 'fold' as const },
      { do: 'refold' as const },
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
    countedAt = 0 // what comes after a count is not in it
    return event
  }

  async function note(): Promise<void> {
    const days = unnoted
    unnoted = []
    await noteLateDays(postgres, days)
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
      case 'fold':
        return void (await foldSite(stores, siteId, closed()))
      case 'refold':
        return void (await refoldSite(stores, siteId, closed()))
      case 'count':
        countedAt = clock
        return foldOpenDay(stores, siteId, zone, clock)
      case 'sweep':
        wait(20 * 60_000) // readers are given as long
        return void (await world.sweep())
      case 'begin': {
        const days: DayRange[] = [[`${closed().slice(0, 8)}01`, closed()]]
        under.push({ run: await begunFold(postgres, siteId, 'day', days), days, isWritten: false })
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
        if (next >= 0) assert.ok(await commitFold(postgres, (under.splice(next, 1)[0] as { run: Run }).run))
        return
      }
      case 'together':
        await Promise.all([
          foldSite(stores, siteId, closed()),
          refoldSite(stores, siteId, closed()),
          foldSite(stores, siteId, closed()),
          see(one.skew, 0, 2).then((event) => noteLateDays(postgres, [event])),
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

  // The first days of February are folded from the start.
  await take({ do: 'hit', skew: -24 * 25, path: 0, visitor: 0, isNoted: true })
  for (const one of steps) await take(one)
  for (const { isWritten } of [...under]) if (!isWritten) await take({ do: 'write' })
  for (let left = under.length; left > 0; left--) await take({ do: 'commit' })
  await note()
  if (clock !== countedAt) wait(60_000)
  assert.deepEqual((await verifySite(stores, siteId)).wrong, [])
  const folded = await answers()
  await forgetFolds(postgres, siteId)
  const raw = await answers()
  assert.deepEqual(folded, raw)
  // And raw is right: every day that is over has as many views as were recorded for it.
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

test(`${numRuns} walks of any steps leave verify clean and raw equal to folded`, async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), (steps) => walk(steps, t)),
    { numRuns, endOnFailure: false },
  )
})
