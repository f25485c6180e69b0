// Sends the same queries about random worlds to the running API and to the model, and expects the same bytes from both.
//   npm run check:oracle -- --worlds 500 --requests 20000 --seed 7
//   npm run check:oracle -- --worlds 10 --moved 20                 and 20 worlds on two shards of two replicas, whose sites move meanwhile
//   npm run check:oracle -- --seed 7 --world 123 --requests 40     one world again, as printed with a difference
import { isDeepStrictEqual } from 'node:util'
import type { CountryCode } from '../../../src/traffic/country.ts'
import type { TrafficEvent } from '../../../src/traffic/event.ts'
import { type Random, seeded } from '../../support/random.ts'
import { runCheck } from '../runner.ts'
import { compare, compareAll, compareCall, compareSites, type Opened, type Run, report } from './comparing.ts'
import { breachesOf, excludingTakesAway } from './invariants.ts'
import { answer } from './model.ts'
import type { Params } from './params.ts'
import { compareQuestion } from './question-comparing.ts'
import { goals, pickQuestion } from './question-requests.ts'
import { pickFilters, pickRange, pickRequest } from './requests.ts'
import { type OpenSite, startRunningApi } from './running-api.ts'
import { startOfDay, zoned } from './windows.ts'
import { makeWorld, type World } from './worlds.ts'

await runCheck(
  {
    name: 'oracle',
    options: { worlds: 100, requests: 4_000, moved: 0, parallel: 4, world: Number.NaN },
    mayBeZero: ['moved'],
    seconds: ({ worlds, moved, requests }) => 300 + 15 * (worlds + 2 * moved) + requests / 3,
  },
  async (check, { worlds, requests, moved, parallel, world }) => {
    const requestsPerWorld = Math.ceil(requests / (Number.isNaN(world) ? worlds + moved : 1))
    const totals = { worlds: 0, requests: 0, calls: 0, questions: 0, moves: 0 }
    const checkWorlds = async (servers: 'one' | 'replicated', numbers: readonly number[]) => {
      if (numbers.length === 0) return
      const runningApi = await startRunningApi(servers)
      check.onEnd(runningApi.close)
      const run = { check, runningApi, requestsPerWorld, moves: servers === 'replicated', totals }
      const queue = numbers.values()
      await Promise.all(
        Array.from({ length: parallel }, async () => {
          for (const number of queue) await checkWorld(run, number)
        }),
      )
    }
    const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)
    if (Number.isNaN(world)) {
      await checkWorlds('one', numbers(0, worlds))
      await checkWorlds('replicated', numbers(worlds, moved))
    } else await checkWorlds(moved > 0 ? 'replicated' : 'one', [world])
    const { wrong = 0, failed = 0, broken = 0 } = check.faults
    return { ...totals, differences: wrong + failed, invariants: broken }
  },
)

/** Valid parameters without a country. */
function pickAnswered(random: Random, { world, site }: Opened): Params {
  for (;;) {
    const filters = pickFilters(random, world).filter(([name]) => name !== 'country')
    const params = [...pickRange(random, world), ...filters]
    if (answer(site, 'utm', params, world.now).status === 200) return params
  }
}

/** Checks the invariants on the API's own responses, before, during and after one more country is excluded. */
async function checkInvariants(opened: Opened): Promise<void> {
  const { run, world, site, api } = opened
  const random = seeded(`${run.check.seed}/${world.number}/invariants`)
  const params = pickAnswered(random, opened)
  const candidates = world.events.map((event) => event.country).filter((code) => !site.excludedCountries.includes(code))
  const country = candidates.length > 0 ? random.pick(candidates) : 'JP'
  const excluded: CountryCode[] = [...world.excludedCountries, country]

  const before = await compareAll(opened, params)
  const ofTheCountry = await compareAll(opened, [...params, ['country', country]])
  await api.excludeCountries(excluded)
  const after = await compareAll({ ...opened, site: { ...site, excludedCountries: excluded } }, params)
  await api.excludeCountries(world.excludedCountries)
  const restored = await compareAll(opened, params)
  if (!before || !ofTheCountry || !after || !restored) return

  const breaches = [
    ...[before, ofTheCountry, after].flatMap((answers) => breachesOf(answers, world.imported === undefined)),
    // Imported days have other lists, and no country.
    ...(world.imported ? [] : excludingTakesAway(before, ofTheCountry, after)),
    ...(isDeepStrictEqual(before, restored) ? [] : ['4: the numbers are not restored']),
  ]
  if (breaches.length === 0) return
  report(run, 'broken', world, [`${JSON.stringify(params)}, with and without ${country} excluded`, ...breaches])
}

/**
 * Records the events and rolls up days in a random order: some twice, some at the same time, some before their last events arrive. In
 * between it may count today and move the site to another zone. None of this may change a response.
 */
async function recordAndRollUp(random: Random, world: World, api: OpenSite, events: TrafficEvent[]): Promise<void> {
  const stepsOn = (today: Temporal.PlainDate) => {
    const anyDay = () =>
      today.subtract({ days: random.below(random.pick([3, 10, 40, 400])) - random.below(2) }).toString()
    const yesterday = today.subtract({ days: 1 }).toString()
    return [
      () => api.rollUp(anyDay()),
      () => api.rollUp(yesterday),
      () => Promise.all([api.rollUp(yesterday), api.rebuild(anyDay()), api.rollUp(anyDay())]),
      () => api.invalidate(Array.from({ length: 1 + random.below(4) }, anyDay)),
      () => (events.length > 0 ? api.invalidate([random.pick(events).day]) : undefined),
      () => api.sweep(),
    ]
  }
  const isLateAtAll = random.oneIn(2)
  const isLate = new Set(events.filter(() => isLateAtAll && random.oneIn(5)))
  const { zone, until } = world.before
  const recorded = (from: number, to: number) =>
    events.filter((event) => {
      const at = world.recordedAt.get(event.eventId) ?? 0
      return at >= from && at < to && !isLate.has(event)
    })
  let since = 0
  if (zone !== world.zone) {
    api.setNow(until)
    await api.record(recorded(0, until))
    const today = zoned(until, zone).toPlainDate()
    await api.rollUp(today.subtract({ days: 1 }).toString())
    const steps = stepsOn(today)
    for (let count = random.pick([0, 0, 1, 2]); count > 0; count -= 1) await random.pick(steps)()
    if (random.oneIn(2)) await api.count()
    await api.moveTo(world.zone)
    // The rest of that day may belong to a day that was over before the move.
    const midnight = startOfDay(zoned(until, world.zone).toPlainDate().add({ days: 1 }), world.zone).epochMilliseconds
    since = Math.min(midnight, world.now)
    api.setNow(since - 1)
    await api.record(recorded(until, since))
    api.setNow(world.now)
  }
  await api.record(recorded(since, Number.POSITIVE_INFINITY))
  const steps = stepsOn(zoned(world.now, world.zone).toPlainDate())
  // Often few steps, because rolling up a day once more repairs whatever was wrong with it before.
  for (let count = random.pick([0, 0, 1, 3, 6]); count > 0; count -= 1) await random.pick(steps)()
  await api.record(events.filter((event) => isLate.has(event)))
  const counted = random.below(3)
  if (counted === 1) await api.count()
  for (let count = random.pick([0, 0, 1, 4]); count > 0; count -= 1) await random.pick(steps)()
  if (counted === 2) await api.count()
}

async function openWorld(run: Run, world: World, accountId?: string): Promise<Opened> {
  const { excludedCountries, now, before } = world
  const api = await run.runningApi.openSite({
    zone: before.zone,
    now,
    excludedCountries,
    ...(accountId && { accountId }),
  })
  const events = world.events.map((event) => ({ ...event, siteId: api.siteId }))
  const { imported } = world
  const isFirst = world.number % 2 === 0
  if (imported && isFirst) await api.importSums(imported.files)
  await recordAndRollUp(seeded(`${run.check.seed}/${world.number}/rollups`), world, api, events)
  if (imported && !isFirst) await api.importSums(imported.files)
  const { siteId, domain } = api
  return { run, world, api, site: { siteId, domain, zone: world.zone, excludedCountries, events, imported } }
}

/** Every fourth world has a neighbour in its account, of the same time, with another zone and other rollups. */
async function checkSites(opened: Opened): Promise<void> {
  const { run, world, api } = opened
  const { seed } = run.check
  const random = seeded(`${seed}/${world.number}/sites`)
  const all: [Opened, ...Opened[]] = [opened]
  try {
    if (world.number % 4 === 0)
      all.push(await openWorld(run, makeWorld(`${seed}/second`, world.number, world.now), api.accountId))
    for (let count = 0; count < 4; count += 1) {
      const params = pickRequest(random, world).params.filter(([name]) => name !== 'limit')
      await compareSites(all, params)
    }
  } finally {
    for (const { api } of all.slice(1)) await api.close()
  }
}

async function checkWorld(run: Run, number: number): Promise<void> {
  const { check, totals } = run
  const opened = await openWorld(run, makeWorld(check.seed, number))
  const { world, api } = opened
  try {
    const random = seeded(`${check.seed}/${number}/requests`)
    const questions = seeded(`${check.seed}/${number}/questions`)
    await api.addGoals(goals)
    const move = run.moves ? api.moveToOtherShard() : undefined
    for (let count = 0; count < run.requestsPerWorld; count += 1) {
      const request = pickRequest(random, world)
      await compare(opened, request.report, request.params)
      await compareCall(opened, request.report, request.params)
      const asked = pickQuestion(questions, world, goals)
      if (asked) await compareQuestion(opened, asked, questions.pick([1, 3, 100, 1000]))
    }
    await move
    if (move) totals.moves += 1
    await checkInvariants(opened)
    await checkSites(opened)
  } finally {
    await api.close()
  }
  totals.worlds += 1
  if (totals.worlds % 25 === 0)
    check.say(`${totals.worlds} worlds, ${totals.requests} requests, ${JSON.stringify(check.faults)}`)
}
