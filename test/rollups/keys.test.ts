// A source may be any text, even one that looks like the rest of a rollup key. No source is mistaken for another.
import assert from 'node:assert/strict'
import test from 'node:test'
import { reports } from '../../src/stats/reports.ts'
import { pageview } from '../support/events.ts'
import { openWorld } from '../support/world.ts'

const sources = ['a', 'a DE', 'a DE Mobile', 'a 3:b', '3:b', 'a\nDE Mobile', 'ü 2:ü', '1:a US Desktop', "a' 1:\\"]
/** A filter may not contain control characters. */
const named = sources.filter((source) => !source.includes('\n'))
const march = { range: 'custom', start: '2026-03-14', end: '2026-03-14' }

test('sources with spaces, colons, lengths and newlines are counted separately in every grouping set', async (t) => {
  const world = await openWorld(t, { now: '2026-03-15T12:00:00Z' })
  const at = '2026-03-14T10:00:00Z'
  // The first source has one phone from Germany, the second two, …, and each has one desktop from the USA on another host.
  const hits = sources.flatMap((utmSource, index) => [
    ...Array.from({ length: index + 1 }, (_, number) => {
      const visitor = `${index} ${number}`
      return pageview({ at, utmSource, visitor, country: 'DE', device: 'Mobile', hostname: 'one.example' })
    }),
    pageview({ at, utmSource, visitor: `${index}`, country: 'US', device: 'Desktop', hostname: 'two.example' }),
  ])
  await world.record(...hits)
  const visitors = async (filter: Record<string, string>) =>
    (await world.data('/stats/overview', { ...march, ...filter })).current.visitors
  const listed = async (filter: Record<string, string>) =>
    (await world.data('/stats/utm', { ...march, ...filter })).map((row: { name: string; visitors: number }) => [
      row.name,
      row.visitors,
    ])
  const most = sources.map((source, index) => [source, index + 1]).reverse()

  for (const state of ['events', 'rollups']) {
    for (const filter of [
      { country: 'DE' },
      { device: 'mobile' },
      { hostname: 'one.example' },
      { country: 'DE', device: 'mobile' },
      { country: 'DE', hostname: 'one.example' },
      { device: 'mobile', hostname: 'one.example' },
    ]) {
      assert.deepEqual(await listed(filter as Record<string, string>), most, `${state} ${JSON.stringify(filter)}`)
    }
    for (const [index, source] of sources.entries()) {
      if (!named.includes(source)) continue
      const of = (filter: Record<string, string>) => visitors({ utm_source: source, ...filter })
      assert.deepEqual(
        [
          await of({}),
          await of({ country: 'DE' }),
          await of({ device: 'mobile' }),
          await of({ device: 'desktop' }),
          await of({ hostname: 'one.example' }),
          await of({ hostname: 'one.example', device: 'mobile' }),
          await of({ hostname: 'two.example', country: 'US', device: 'desktop' }),
          await of({ hostname: 'one.example', country: 'US' }),
        ],
        [index + 2, index + 1, index + 1, 1, index + 1, index + 1, 1, 0],
        `${state} ${source}`,
      )
    }
    for (const hostname of ['one.example.de', '11.one.example', '11-one.example', 'one.example-de-mobile']) {
      assert.deepEqual([hostname, await visitors({ hostname })], [hostname, 0], state)
      assert.deepEqual(await listed({ hostname, country: 'DE' }), [], state)
    }
    await world.rollUp('2026-03-14')
  }
})

test('with an excluded country, every report about such sources is the same from rollups as from events', async (t) => {
  const world = await openWorld(t, { now: '2026-03-15T12:00:00Z', excludedCountries: ['DE'] })
  await world.record(
    ...sources.flatMap((utmSource, index) =>
      (['DE', 'US'] as const).map((country) =>
        pageview({
          at: '2026-03-14T10:00:00Z',
          utmSource,
          country,
          visitor: `${index} ${country}`,
          device: index % 2 ? 'Mobile' : 'Desktop',
        }),
      ),
    ),
  )
  // Without a device, every source and report; with one, every source but not with every report, unless FOOTFALL_FULL=1.
  const answers = async () => {
    const all: unknown[] = []
    for (const [index, name] of Object.keys(reports).entries()) {
      for (const [number, source] of [{}, ...named.map((utm_source) => ({ utm_source }))].entries()) {
        const isDrawn = process.env.FOOTFALL_FULL || (index + number) % 4 === 0
        for (const device of [{}, ...(isDrawn ? [{ device: 'mobile' }] : [])]) {
          all.push([name, device, source, await world.data(`/stats/${name}`, { ...march, ...device, ...source })])
        }
      }
    }
    return all
  }
  const before = await answers()
  await world.rollUp('2026-03-14')
  assert.deepEqual(await answers(), before)
  assert.deepEqual(
    (await world.data('/stats/utm', { ...march, device: 'desktop' })).map((row: { name: string }) => row.name).sort(),
    sources.filter((_, index) => index % 2 === 0).sort(),
  )
})
