// Where both versions can be asked the same question, the numbers are the same: every range, every combination of v1's filters, with and
// without rollups and excluded countries.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateDemo } from '../../../src/demo/generate.ts'
import { countryNames } from '../../../src/traffic/country.ts'
import { openWorld } from '../../support/world.ts'
import { noon } from '../vocabulary.ts'

const isFull = process.env.FOOTFALL_FULL !== undefined

const ranges = [
  'range=24h',
  'range=7d',
  'range=30d',
  'range=90d',
  'range=12m',
  'range=custom&start=2026-10-05&end=2026-11-03',
]

/** By the name of the filter in both versions. */
const filters = { country: 'US', device: 'mobile', hostname: '', utm_source: 'newsletter' }

/** The reports that are lists, with what a question has to ask for and how its rows become theirs. */
const lists = {
  pages: { by: 'page', metrics: 'pageviews,visitors', names: ['pathname', 'views', 'visitors'] },
  referrers: { by: 'referrer', metrics: 'pageviews,visitors', names: ['referrer', 'views', 'visitors'] },
  channels: { by: 'channel', metrics: 'visitors', names: ['channel', 'visitors'] },
  devices: { by: 'device', metrics: 'visitors', names: ['name', 'visitors'] },
  geo: { by: 'country', metrics: 'visitors', names: ['name', 'visitors'] },
  events: { by: 'event', metrics: 'events,visitors', names: ['name', 'count', 'visitors'] },
  utm: { by: 'utm_source', metrics: 'visitors', names: ['name', 'visitors'] },
} as const

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

test('version 2 has the numbers of version 1', async (t) => {
  const world = await openWorld(t, { now: noon, zone: 'Europe/Berlin' })
  const until = Date.parse(noon)
  const { clickhouse } = world.stores
  await generateDemo({
    clickhouse,
    siteId: world.siteId,
    domain: 'demo.example',
    zone: 'Europe/Berlin',
    events: 6_000,
    seed: 3,
    until,
  })
  const names = Object.keys(filters) as (keyof typeof filters)[]
  const values = { ...filters, hostname: 'demo.example' }
  const combinations = Array.from({ length: 2 ** names.length }, (_, bits) =>
    names.filter((_, bit) => bits & (1 << bit)),
  )

  const data = async (answer: ReturnType<typeof world.ask>) => {
    const { status, text, json } = await answer
    assert.equal(status, 200, text)
    return json.data
  }
  const compare = async ([range, chosen]: readonly [range: string, chosen: typeof names]) => {
    const v1 = [range, ...chosen.map((name) => `${name}=${values[name]}`)].join('&')
    const v2 = [range, ...chosen.map((name) => `filter=${name}:is:${values[name]}`)].join('&')
    const { current, previous, change } = await world.data('/stats/overview', v1)
    assert.deepEqual(await data(world.ask('totals', `${v2}&compare=previous`)), { ...current, previous, change }, v2)
    assert.deepEqual(await data(world.ask('timeseries', v2)), await world.data('/stats/timeseries', v1), v2)
    for (const [report, { by, metrics, names }] of Object.entries(lists)) {
      const rows: Record<string, string>[] = await data(world.ask('breakdown', `${v2}&by=${by}&metrics=${metrics}`))
      // v1 leaves out rows without a value, and shows names instead of codes.
      const shown = rows
        .filter((row) => row[by] !== null)
        .map((row) => [
          report === 'geo'
            ? countryNames[row[by] as 'DE']
            : report === 'devices'
              ? capitalized(row[by] ?? '')
              : row[by],
          ...metrics.split(',').map((metric) => row[metric]),
        ])
      const expected: Record<string, unknown>[] = await world.data(`/stats/${report}`, `${v1}&limit=100`)
      const listed = (all: unknown[][]) => all.map((row) => JSON.stringify(row)).sort()
      assert.deepEqual(listed(shown), listed(expected.map((row) => names.map((name) => row[name]))), `${report} ${v2}`)
    }
  }
  /** All of them at night; on a change each combination with one range. */
  const cases = (some: typeof combinations) =>
    some.flatMap((chosen, index) =>
      ranges.filter((_, place) => isFull || place === index % ranges.length).map((range) => [range, chosen] as const),
    )
  for (const one of cases(combinations)) await compare(one)
  await world.rollUp('2026-11-14')
  for (const one of cases(combinations)) await compare(one)
  await world.excludeCountries(['DE', 'FR'])
  for (const one of cases(combinations.slice(0, 6))) await compare(one)
})
