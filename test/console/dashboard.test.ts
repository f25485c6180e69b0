// Every number on a dashboard is the API's answer to the same parameters, and what the API does not have is that of the independent model.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { setExcludedCountries } from '../../src/accounts/sites.ts'
import { codeOfCountry } from '../../src/console/dashboard/lists.ts'
import { currentWindow, previousWindow, type Window, zoned } from '../checks/oracle/windows.ts'
import { checkHours, currentVisitors } from './dashboard-model.ts'
import { readDashboard } from './dashboard-page.ts'
import { type DashboardWorld, openDashboardWorld } from './dashboard-world.ts'

const worldNumbers = [1, 2, 3, 4, 5, 6]
const number = (value: number): string => value.toLocaleString('en-US')
const plural = (value: number, one: string): string => `${number(value)} ${one}${value === 1 ? '' : 's'}`
const percent = (part: number, whole: number): string =>
  shareOf(whole === 0 ? 0 : Math.floor((200 * part + whole) / (2 * whole)), part)
/** What is something is not shown as nothing. */
const shareOf = (percentage: number, part: number): string => (percentage === 0 && part > 0 ? '<1%' : `${percentage}%`)

const asked = fc.record({
  world: fc.constantFrom(...worldNumbers),
  range: fc.constantFrom('24h', '7d', '30d', '90d', '12m', 'custom'),
  daysAgo: fc.tuple(fc.integer({ min: -3, max: 500 }), fc.integer({ min: -3, max: 500 })),
  filters: fc.subarray(['country', 'device', 'hostname', 'utm_source']),
  nth: fc.nat(),
  limit: fc.constantFrom('1', '3', '10', '100'),
  metric: fc.constantFrom('visitors', 'pageviews'),
  sources: fc.constantFrom('referrers', 'channels', 'utm'),
  compare: fc.constantFrom('on', 'off'),
})
type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never

/** Filters with values of an event, so that something is left. */
function fieldsOf(world: DashboardWorld, { range, daysAgo, filters, nth, limit }: Asked): Record<string, string> {
  const today = zoned(world.now, world.zone).toPlainDate()
  const event = world.events[nth % Math.max(1, world.events.length)]
  const values: Record<string, string | undefined> = {
    country: event?.country,
    device: event?.device === 'Unknown' ? undefined : event?.device.toLowerCase(),
    hostname: event?.hostname,
    utm_source: event?.utmSource,
  }
  const [last, first] = daysAgo.toSorted((one, other) => one - other).map((days) => today.subtract({ days }).toString())
  return {
    range,
    limit,
    ...(range === 'custom' && { start: first as string, end: last as string }),
    ...Object.fromEntries(filters.flatMap((name) => (values[name] ? [[name, values[name]]] : []))),
  }
}

test('the text of every panel equals the API', { timeout: 600_000 }, async (t) => {
  const worlds = new Map(
    await Promise.all(worldNumbers.map(async (one) => [one, await openDashboardWorld(t, one)] as const)),
  )
  await fc.assert(
    fc.asyncProperty(asked, async (input) => {
      const world = worlds.get(input.world) as DashboardWorld
      const fields = fieldsOf(world, input)
      const { metric, sources, compare } = input
      const page = await world.page({ ...fields, metric, sources, compare })
      assert.equal(page.status, 200)
      if (world.events.length === 0) {
        assert.match(page.text, /Waiting for the first event/)
        return
      }
      const read = readDashboard(page.text)
      const totals = (await world.api('overview', fields)).json.data.current
      await checkNumbers(world, fields, read, compare === 'on')
      for (const [id, report, label, value, whole] of [
        ['pages', 'pages', 'pathname', 'views', 'pageviews'],
        ['geo', 'geo', 'name', 'visitors', 'visitors'],
        ['devices', 'devices', 'name', 'visitors', 'visitors'],
        ['events', 'events', 'name', 'count', 'visitors'],
        [
          'sources',
          sources,
          { referrers: 'referrer', channels: 'channel', utm: 'name' }[sources],
          sources === 'referrers' ? 'views' : 'visitors',
          sources === 'referrers' ? 'pageviews' : 'visitors',
        ],
      ] as const) {
        // biome-ignore lint/suspicious/noExplicitAny: records of five reports
        const rows: any[] = (await world.api(report, fields)).json.data
        assert.deepEqual(
          read.panel(id),
          rows.map((row) => ({
            label:
              `${row[label]?.trim() === '' ? JSON.stringify(row[label]) : row[label]}${row.title ? ` ${row.title}` : ''}`.trim(),
            value: number(row[value]),
            words: wordsOf(row),
            share:
              row.percentage === undefined
                ? percent(whole === 'pageviews' ? row.views : row.visitors, totals[whole])
                : shareOf(row.percentage, row.visitors),
          })),
          `${report} ${JSON.stringify(fields)}`,
        )
      }
      if (fields.range === '24h') checkHours(world, fields, input, read)
      else await checkDays(world, fields, input, read)
      assert.equal(read.now, currentVisitors(world))
    }),
    // 200 with FOOTFALL_FULL=1 (npm run check:dashboard).
    { numRuns: process.env.FOOTFALL_FULL ? 200 : 15 },
  )
})

const wordsOf = (row: Record<string, number>): string =>
  row.count !== undefined
    ? `${plural(row.count, 'time')}, by ${plural(row.visitors as number, 'visitor')}`
    : row.views !== undefined
      ? `${plural(row.views, 'view')}, ${plural(row.visitors as number, 'visitor')}`
      : plural(row.visitors as number, 'visitor')

type Read = ReturnType<typeof readDashboard>

async function checkNumbers(
  world: DashboardWorld,
  fields: Record<string, string>,
  { metrics }: Read,
  compared: boolean,
) {
  const { current, change } = (await world.api('overview', fields)).json.data
  const seconds: number = current.avg_duration
  const duration =
    seconds < 60
      ? `${seconds}s`
      : seconds < 3600
        ? `${Math.floor(seconds / 60)}m ${seconds % 60}s`
        : `${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m`
  const texts: Record<string, [text: string, full: string]> = {
    visitors: [number(current.visitors), plural(current.visitors, 'visitor')],
    pageviews: [number(current.pageviews), plural(current.pageviews, 'pageview')],
    sessions: [number(current.sessions), plural(current.sessions, 'session')],
    bounce_rate: [`${current.bounce_rate}%`, `${current.bounce_rate} percent of sessions`],
    avg_duration: [duration, plural(seconds, 'second')],
  }
  for (const [name, [text, full]] of Object.entries(texts)) {
    const shown = metrics.get(name)
    assert.equal(shown?.text, text)
    assert.ok(shown?.title.startsWith(`${full}. `), shown?.title)
    const value: number | null = change[name]
    const expected =
      value === null
        ? '–nothing to compare with'
        : value === 0
          ? '0% vs previous'
          : `${value > 0 ? '▲up' : '▼down'} ${number(Math.abs(value))}% vs previous`
    assert.equal(shown?.change, compared ? expected : undefined)
  }
}

/** The days of the chart are those of timeseries; the dotted line is the previous period, and adds up to its number in overview. */
async function checkDays(
  world: DashboardWorld,
  fields: Record<string, string>,
  { metric, compare }: Asked,
  read: Read,
) {
  const days: Record<string, number>[] = (await world.api('timeseries', fields)).json.data
  const window = currentWindow(
    fields.range as 'custom',
    {
      start: fields.start ? Temporal.PlainDate.from(fields.start) : undefined,
      end: fields.end ? Temporal.PlainDate.from(fields.end) : undefined,
    },
    world.zone,
    world.now,
  ) as Window
  const before = previousWindow(fields.range as 'custom', window)
  const { dates } = before
  const previous: Record<string, number>[] =
    compare === 'on' && dates.length > 0
      ? (
          await world.api('timeseries', {
            ...fields,
            range: 'custom',
            start: dates[0] as string,
            end: dates.at(-1) as string,
          })
        ).json.data
      : []
  const sum = (numbers: readonly (number | undefined)[]) => numbers.reduce<number>((all, one) => all + (one ?? 0), 0)
  const shown = read.chart.map(([, value, before]) => [value, before])
  if (previous.length > 0) {
    const total: number = (await world.api('overview', fields)).json.data.previous[metric]
    assert.equal(sum(shown.map(([, before]) => Number((before || '0').replaceAll(',', '')))), total)
    const isPart = before.end.toPlainDate().toString() === dates.at(-1)
    const label = read.chart.findLast(([, , , name]) => name)?.[3] ?? ''
    assert.equal(/, until \d\d:\d\d$/.test(label), isPart, label)
    if (isPart) assert.ok(label.endsWith(before.end.toPlainTime().toString().slice(0, 5)), label)
  }
  if (read.chartUnit === 'month') {
    const months = [...Map.groupBy(days, ({ date }) => String(date).slice(0, 7)).values()]
    assert.deepEqual(
      shown.map(([value]) => value),
      months.map((month) => number(sum(month.map((day) => day[metric])))),
    )
    return
  }
  assert.equal(shown.length, days.length)
  for (const [index, day] of days.entries()) {
    assert.equal(shown[index]?.[0], number(day[metric] as number))
    // The last one is what the others leave of the total. Twelve months may have a 29 February, which counts with the 28th.
    if (fields.range === '12m' || index >= previous.length - 1) continue
    assert.equal(shown[index]?.[1], number(previous[index]?.[metric] as number))
  }
}

test('a list that is saved has no formula, and is the list of the API', async (t) => {
  const names = ['=1', 'a;=1', 'a\t＝1', '/cart;jsessionid=1A']
  const world = await openDashboardWorld(t, 1, (now) =>
    names.map((name) => ({ at: new Date(now - 3_600_000).toISOString(), name })),
  )
  const fields = { range: '7d', limit: '100' }
  const { text } = await world.csv('events', fields)
  assert.equal(text, (await world.api('events', fields, { Accept: 'text/csv' })).text)
  assert.deepEqual(
    text.split('\r\n').toSorted(),
    ['', "'=1,1,1", '/cart;jsessionid=1A,1,1', "a\t'＝1,1,1", "a;'=1,1,1", 'name,count,visitors'].toSorted(),
  )
})

test('a country that is excluded leaves dashboard, CSV and API at once, and comes back', async (t) => {
  const world = await openDashboardWorld(t, 3)
  const fields = { range: '12m', limit: '100' }
  const stateOf = async () => {
    const read = readDashboard((await world.page(fields)).text)
    const { json } = await world.api('overview', fields)
    const geo = (await world.api('geo', fields)).json.data as { name: string; visitors: number }[]
    const csv = (await world.csv('geo', fields)).text
    assert.deepEqual(
      read.panel('geo').map(({ label, value }) => [label, value]),
      geo.map(({ name, visitors }) => [name, number(visitors)]),
    )
    assert.equal(csv, ['name,visitors', ...geo.map(({ name, visitors }) => `${name},${visitors}`), ''].join('\r\n'))
    assert.equal(read.metrics.get('visitors')?.text, number(json.data.current.visitors))
    return { geo, visitors: json.data.current.visitors as number }
  }
  const exclude = async (countries: string[]) => {
    await setExcludedCountries(world.console.stores.postgres, world.siteId, countries as never)
    world.console.api.directory.forget(world.siteId)
  }
  await exclude([])
  const before = await stateOf()
  const first = before.geo[0] as { name: string; visitors: number }
  await exclude([codeOfCountry(first.name) as string])
  const without = await stateOf()
  assert.deepEqual(without, { geo: before.geo.slice(1), visitors: before.visitors - first.visitors })
  assert.match((await world.page(fields)).text, new RegExp(`Without ${first.name}`))
  await exclude([])
  assert.deepEqual(await stateOf(), before)
})
