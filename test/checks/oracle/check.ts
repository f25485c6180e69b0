// Sends the same queries about random worlds to the running API and to the model, and expects the same bytes from both.
//   npm run check:oracle -- --worlds 500 --requests 20000 --seed 7
//   npm run check:oracle -- --seed 7 --world 123 --requests 40     one world again, as printed with a difference
import { isDeepStrictEqual, parseArgs } from 'node:util'
import type { CountryCode } from '../../../src/traffic/country.ts'
import type { TrafficEvent } from '../../../src/traffic/event.ts'
import { type Random, seeded } from '../../support/random.ts'
import { callOf, differenceOf } from './assistant.ts'
import { type Answers, breachesOf, excludingTakesAway } from './invariants.ts'
import { answer, answerOfSites, type NamedSite, type Report, reports } from './model.ts'
import type { Params } from './params.ts'
import { pickFilters, pickRange, pickRequest } from './requests.ts'
import { type OpenSite, type Response, startRunningApi } from './running-api.ts'
import { startOfDay, zoned } from './windows.ts'
import { makeWorld, type World } from './worlds.ts'

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '100' },
    requests: { type: 'string', default: '4000' },
    parallel: { type: 'string', default: '4' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    world: { type: 'string' },
  },
})
const seed = values.seed
const numbers = values.world === undefined ? [...Array(Number(values.worlds)).keys()] : [Number(values.world)]
const requestsPerWorld = Math.ceil(Number(values.requests) / numbers.length)

const startedAt = performance.now()
const say = (text: string): void => void process.stderr.write(`${text}\n`)

say(`seed ${seed}`)
const runningApi = await startRunningApi()
const totals = { worlds: 0, requests: 0, calls: 0, differences: 0, invariants: 0 }

// A 5xx is a difference like any other but is counted separately: the API failed, it did not count wrongly. On a busy machine it must not
// displace the one wrong number in the output.
const kinds = { wrong: 0, failed: 0, broken: 0 }

/** Prints the first three of a kind in full and counts the rest. */
function report(kind: keyof typeof kinds, world: World, lines: string[]): void {
  totals[kind === 'broken' ? 'invariants' : 'differences'] += 1
  kinds[kind] += 1
  if (kinds[kind] > 3) return
  say(`\n${kind}: --seed ${seed} --world ${world.number} --requests ${requestsPerWorld}`)
  say(
    `  zone ${world.zone}, until ${new Date(world.before.until).toISOString()} ${world.before.zone}, now ${new Date(world.now).toISOString()}, ${world.events.length} events`,
  )
  for (const line of lines) say(`  ${line}`)
}

interface Opened {
  world: World
  site: NamedSite
  api: OpenSite
}

/** Sends one request, compares everything the model knows about the response, and returns its data, if there is any. */
async function compare({ world, site, api }: Opened, asked: Report, params: Params): Promise<unknown> {
  const expected = answer(site, asked, params, world.now)
  const sentAt = performance.now()
  const got = await api.get(`/stats/${asked}`, params)
  const tookMs = Math.round(performance.now() - sentAt)
  totals.requests += 1
  const [wanted, received] =
    expected.status === 200
      ? [
          [
            ...[200, expected.period, expected.previousPeriod ?? null, expected.totalRows ?? null],
            ...[expected.warnings, expected.body],
          ],
          [
            ...[
              got.status,
              got.header('stats-period'),
              got.header('stats-previous-period'),
              got.header('stats-total-rows'),
            ],
            ...[got.header('stats-warning')?.split('; ').length ?? 0, got.text],
          ],
        ]
      : [
          [expected.status, expected.code],
          [got.status, errorCode(got)],
        ]
  if (!isDeepStrictEqual(wanted, received)) {
    report(got.status >= 500 ? 'failed' : 'wrong', world, [
      `GET /stats/${asked}?${new URLSearchParams(params.map(([name, value]) => [name, value]))}`,
      `excluded ${site.excludedCountries.join(' ') || 'nothing'}`,
      `expected ${aroundTheFirstDifference(wanted.join('  '), received.join('  '))}`,
      `got after ${tookMs} ms ${aroundTheFirstDifference(received.join('  '), wanted.join('  '))}`,
    ])
  }
  return got.status === 200 ? JSON.parse(got.text).data : undefined
}

/** The overview of all sites of the account in one call, and their list. */
async function compareSites(opened: readonly [Opened, ...Opened[]], params: Params): Promise<void> {
  const [{ world, api }] = opened
  const sites = opened.map(({ site }) => site)
  const expected = answerOfSites(sites, params, world.now)
  const got = await api.getOfAccount('/sites/overview', params)
  const listed = await api.getOfAccount('/sites', [])
  const rows = sites
    .toSorted((one, other) => (one.domain < other.domain ? -1 : 1))
    .map(({ siteId, domain, zone }) => ({ site_id: siteId, domain, time_zone: zone }))
  totals.requests += 2
  const [wanted, received] =
    expected.status === 200
      ? [
          [200, expected.warnings, expected.body, rows],
          [got.status, got.header('stats-warning')?.split('; ').length ?? 0, got.text, JSON.parse(listed.text).data],
        ]
      : [
          [expected.status, expected.code],
          [got.status, errorCode(got)],
        ]
  if (isDeepStrictEqual(wanted, received)) return
  report(got.status >= 500 ? 'failed' : 'wrong', world, [
    `GET /sites/overview?${new URLSearchParams(params.map(([name, value]) => [name, value]))}`,
    ...sites.map(({ zone, excludedCountries }) => `${zone}, excluded ${excludedCountries.join(' ') || 'nothing'}`),
    `expected ${wanted.join('  ')}`,
    `got      ${received.join('  ')}`,
  ])
}

/** Every fourth answered request is asked once more through /mcp. */
async function compareCall({ world, site, api }: Opened, asked: Report, params: Params): Promise<void> {
  const expected = answer(site, asked, params, world.now)
  const call = expected.status === 200 && totals.requests % 4 === 0 ? callOf(asked, params) : undefined
  if (expected.status !== 200 || !call) return
  totals.calls += 1
  const difference = differenceOf(call, expected, await api.call(call))
  if (difference) report('wrong', world, [`${call.tool} ${JSON.stringify(call.input)}`, difference.slice(0, 1500)])
}

/** The response of a hundred years of days is long. */
function aroundTheFirstDifference(text: string, other: string): string {
  if (text.length < 2000) return text
  let position = 0
  while (position < text.length && text[position] === other[position]) position += 1
  return `… ${text.slice(Math.max(0, position - 500), position + 500)} …`
}

function errorCode(response: Response): string {
  try {
    return JSON.parse(response.text).error.code
  } catch {
    return response.text
  }
}

/** All nine reports without an effective limit; undefined when one was refused, which `compare` has already reported. */
async function compareAll(opened: Opened, params: Params): Promise<Answers | undefined> {
  const answers: Partial<Record<Report, unknown>> = {}
  for (const name of reports) answers[name] = await compare(opened, name, [...params, ['limit', '100']])
  return reports.every((name) => answers[name] !== undefined) ? (answers as unknown as Answers) : undefined
}

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
  const { world, site, api } = opened
  const random = seeded(`${seed}/${world.number}/invariants`)
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
    ...[before, ofTheCountry, after].flatMap(breachesOf),
    ...excludingTakesAway(before, ofTheCountry, after),
    ...(isDeepStrictEqual(before, restored) ? [] : ['4: the numbers are not restored']),
  ]
  if (breaches.length === 0) return
  report('broken', world, [`${JSON.stringify(params)}, with and without ${country} excluded`, ...breaches])
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

async function openWorld(world: World, accountId?: string): Promise<Opened> {
  const { excludedCountries, now, before } = world
  const api = await runningApi.openSite({ zone: before.zone, now, excludedCountries, ...(accountId && { accountId }) })
  const events = world.events.map((event) => ({ ...event, siteId: api.siteId }))
  await recordAndRollUp(seeded(`${seed}/${world.number}/rollups`), world, api, events)
  const { siteId, domain } = api
  return { world, api, site: { siteId, domain, zone: world.zone, excludedCountries, events } }
}

/** Every fourth world has a neighbour in its account, of the same time, with another zone and other rollups. */
async function checkSites(opened: Opened): Promise<void> {
  const { world, api } = opened
  const random = seeded(`${seed}/${world.number}/sites`)
  const all: [Opened, ...Opened[]] = [opened]
  try {
    if (world.number % 4 === 0)
      all.push(await openWorld(makeWorld(`${seed}/second`, world.number, world.now), api.accountId))
    for (let count = 0; count < 4; count += 1) {
      const params = pickRequest(random, world).params.filter(([name]) => name !== 'limit')
      await compareSites(all, params)
    }
  } finally {
    for (const { api } of all.slice(1)) await api.close()
  }
}

async function checkWorld(number: number): Promise<void> {
  const opened = await openWorld(makeWorld(seed, number))
  const { world, api } = opened
  try {
    const random = seeded(`${seed}/${number}/requests`)
    for (let count = 0; count < requestsPerWorld; count += 1) {
      const request = pickRequest(random, world)
      await compare(opened, request.report, request.params)
      await compareCall(opened, request.report, request.params)
    }
    await checkInvariants(opened)
    await checkSites(opened)
  } finally {
    await api.close()
  }
  totals.worlds += 1
  if (totals.worlds % 25 === 0) say(`${totals.worlds} worlds, ${totals.requests} requests, ${JSON.stringify(kinds)}`)
}

const queue = numbers.values()
try {
  await Promise.all(
    Array.from({ length: Number(values.parallel) }, async () => {
      for (const number of queue) await checkWorld(number)
    }),
  )
} finally {
  await runningApi.close()
}

const ok = totals.differences === 0 && totals.invariants === 0
say(JSON.stringify(kinds))
const seconds = Math.round((performance.now() - startedAt) / 1000)
console.log(JSON.stringify({ check: 'oracle', seed, ...totals, seconds, ok }))
process.exitCode = ok ? 0 : 1
