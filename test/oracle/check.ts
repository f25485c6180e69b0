// Asks the running API and the model the same questions about random worlds, and wants the same bytes from both.
//   npm run check:oracle -- --worlds 500 --requests 20000 --seed 7
//   npm run check:oracle -- --seed 7 --world 123 --requests 40     one world again, as the message of a difference says
import { isDeepStrictEqual, parseArgs } from 'node:util'
import type { CountryCode } from '../../src/traffic/country.ts'
import type { TrafficEvent } from '../../src/traffic/event.ts'
import { type Answers, breachesOf, excludingTakesAway } from './invariants.ts'
import { answer, type Report, reports, type Site } from './model.ts'
import type { Params } from './params.ts'
import { type Random, seeded } from './random.ts'
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
const tally = { worlds: 0, requests: 0, differences: 0, invariants: 0 }

// A 5xx is a difference like any other, but counted apart: it says that the API could not answer, not that it counts wrongly,
// and a busy machine's must not take the place of the one wrong number in what is shown.
const kinds = { wrong: 0, failed: 0, broken: 0 }

/** The first three of a kind in full; after that the number says enough. */
function report(kind: keyof typeof kinds, world: World, lines: string[]): void {
  tally[kind === 'broken' ? 'invariants' : 'differences'] += 1
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
  site: Site
  api: OpenSite
}

/** Sends one request and compares everything the model knows of the answer; gives the data back, if there is any. */
async function compare({ world, site, api }: Opened, asked: Report, params: Params): Promise<unknown> {
  const expected = answer(site, asked, params, world.now)
  const sentAt = performance.now()
  const got = await api.get(`/stats/${asked}`, params)
  const tookMs = Math.round(performance.now() - sentAt)
  tally.requests += 1
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

/** A hundred years of days have a long answer. */
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

/** All nine with the limit out of the way; nothing when one of them was refused, which `compare` has already reported. */
async function compareAll(opened: Opened, params: Params): Promise<Answers | undefined> {
  const answers: Partial<Record<Report, unknown>> = {}
  for (const name of reports) answers[name] = await compare(opened, name, [...params, ['limit', '100']])
  return reports.every((name) => answers[name] !== undefined) ? (answers as unknown as Answers) : undefined
}

/** Parameters that are answered, without a country. */
function pickAnswered(random: Random, { world, site }: Opened): Params {
  for (;;) {
    const filters = pickFilters(random, world).filter(([name]) => name !== 'country')
    const params = [...pickRange(random, world), ...filters]
    if (answer(site, 'utm', params, world.now).status === 200) return params
  }
}

/** The invariants on the API's own answers, before, during and after the exclusion of one more country. */
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
  report('broken', world, [`${JSON.stringify(params)}, ${country} excluded and not`, ...breaches])
}

/**
 * Some days folded and some not, some again, by several at once, some with late events; today counted or not; the site moved in between.
 * None of it must ever show.
 */
async function recordAndFold(random: Random, world: World, api: OpenSite, events: TrafficEvent[]): Promise<void> {
  const stepsOn = (today: Temporal.PlainDate) => {
    const anyDay = () =>
      today.subtract({ days: random.below(random.pick([3, 10, 40, 400])) - random.below(2) }).toString()
    const yesterday = today.subtract({ days: 1 }).toString()
    return [
      () => api.fold(anyDay()),
      () => api.fold(yesterday),
      () => Promise.all([api.fold(yesterday), api.refold(anyDay()), api.fold(anyDay())]),
      () => api.unfold(Array.from({ length: 1 + random.below(4) }, anyDay)),
      () => (events.length > 0 ? api.unfold([random.pick(events).day]) : undefined),
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
    await api.fold(today.subtract({ days: 1 }).toString())
    const steps = stepsOn(today)
    for (let count = random.pick([0, 0, 1, 2]); count > 0; count -= 1) await random.pick(steps)()
    if (random.oneIn(2)) await api.count()
    await api.moveTo(world.zone)
    // The rest of that day may be of one that was over before the move.
    const midnight = startOfDay(zoned(until, world.zone).toPlainDate().add({ days: 1 }), world.zone).epochMilliseconds
    since = Math.min(midnight, world.now)
    api.setNow(since - 1)
    await api.record(recorded(until, since))
    api.setNow(world.now)
  }
  await api.record(recorded(since, Number.POSITIVE_INFINITY))
  const steps = stepsOn(zoned(world.now, world.zone).toPlainDate())
  // Often few: a day that is folded once more is right whatever was wrong with it before.
  for (let count = random.pick([0, 0, 1, 3, 6]); count > 0; count -= 1) await random.pick(steps)()
  await api.record(events.filter((event) => isLate.has(event)))
  const counted = random.below(3)
  if (counted === 1) await api.count()
  for (let count = random.pick([0, 0, 1, 4]); count > 0; count -= 1) await random.pick(steps)()
  if (counted === 2) await api.count()
}

async function checkWorld(number: number): Promise<void> {
  const world = makeWorld(seed, number)
  const { excludedCountries, now, before } = world
  const api = await runningApi.openSite({ zone: before.zone, now, excludedCountries })
  try {
    const events = world.events.map((event) => ({ ...event, siteId: api.siteId }))
    await recordAndFold(seeded(`${seed}/${number}/folds`), world, api, events)
    const opened = { world, api, site: { siteId: api.siteId, zone: world.zone, excludedCountries, events } }
    const random = seeded(`${seed}/${number}/requests`)
    for (let count = 0; count < requestsPerWorld; count += 1) {
      const request = pickRequest(random, world)
      await compare(opened, request.report, request.params)
    }
    await checkInvariants(opened)
  } finally {
    await api.close()
  }
  tally.worlds += 1
  if (tally.worlds % 25 === 0) say(`${tally.worlds} worlds, ${tally.requests} requests, ${JSON.stringify(kinds)}`)
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

const ok = tally.differences === 0 && tally.invariants === 0
say(JSON.stringify(kinds))
const seconds = Math.round((performance.now() - startedAt) / 1000)
console.log(JSON.stringify({ check: 'oracle', seed, ...tally, seconds, ok }))
process.exitCode = ok ? 0 : 1
