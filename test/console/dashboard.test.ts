// Every number on a dashboard is the API's answer to the same question, and what the API does not have is that of the independent model.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { setExcludedCountries } from '../../src/accounts/sites.ts'
import { columnsOf, type ListName, lists } from '../../src/console/dashboard/lists.ts'
import { countryNames } from '../../src/traffic/country.ts'
import { currentVisitors } from './dashboard-model.ts'
import { type ReadDashboard, readDashboard } from './dashboard-page.ts'
import {
  addressFields,
  comparisonFields,
  comparisonInAddress,
  filterFields,
  intervalOf,
  rangeFields,
  type State,
  states,
  worldNumbers,
} from './dashboard-states.ts'
import { duration, labelOf, number, percent, plural, textOfNumber, wordsOf } from './dashboard-texts.ts'
import { type DashboardWorld, openDashboardWorld } from './dashboard-world.ts'

type Row = Record<string, string | number | null>
type Fields = [string, string][]

const codeOf = (country: string): string =>
  Object.entries(countryNames).find(([, name]) => name === country)?.[0] as string

const openWorlds = async (t: Parameters<typeof openDashboardWorld>[0]) =>
  new Map(await Promise.all(worldNumbers.map(async (one) => [one, await openDashboardWorld(t, one)] as const)))

test('every number of a dashboard and of its lists is what the API answers, whatever is filtered', {
  timeout: 1_800_000,
}, async (t) => {
  const worlds = await openWorlds(t)
  await fc.assert(
    fc.asyncProperty(states, async (state) => {
      const world = worlds.get(state.world) as DashboardWorld
      const { metric, goal, interval, tabs } = state
      const asked = [...rangeFields(world, state), ...filterFields(world, state)]
      const shown = [...addressFields(world, state), ...filterFields(world, state)]
      const page = await world.page([
        ...shown,
        ...comparisonInAddress(world, state),
        ...Object.entries({ metric, goal, interval, ...tabs }),
      ])
      const about = JSON.stringify([state.world, asked, tabs])
      assert.equal(page.status, 200, about)
      const answer = await world.ask('totals', [...asked, ...comparisonFields(world, state)])
      const totals = answer.json.data
      if (/Waiting for the first event/.test(page.text)) {
        assert.equal(world.events.length, 0)
        return
      }
      const read = readDashboard(page.text)
      checkNumbers(totals, read, isTooEarly(world, answer.headers))
      const conversions = ['conversions', 'conversion_rate'].join(',')
      const ofGoal = [...asked, ...comparisonFields(world, state), ['metrics', conversions], ['goal', goal]] as Fields
      checkConversions((await world.ask('totals', ofGoal)).json.data, read, isTooEarly(world, answer.headers))
      await checkChart(world, asked, state, read)
      for (const [panel, name] of Object.entries({ ...tabs, places: 'country' as const }))
        await checkPanel(world, asked, { panel, name, totals, read, about })
      assert.equal(read.now, currentVisitors(world))
      await checkLongList(world, asked, state, totals)
    }),
    { numRuns: process.env.FOOTFALL_FULL ? 500 : 40, seed: 1 },
  )
})

/** Whether the compared days begin before the first event of the site. */
const isTooEarly = ({ events }: DashboardWorld, headers: Headers): boolean =>
  (headers.get('stats-previous-period')?.slice(0, 10) ?? '9999') < (events.map(({ day }) => day).toSorted()[0] ?? '0')

function checkNumbers(
  totals: Record<string, number> & { change?: Row; previous?: Record<string, number> },
  { metrics }: ReadDashboard,
  tooEarly: boolean,
): void {
  const { visitors = 0, pageviews = 0, sessions = 0, bounce_rate = 0, avg_duration = 0, change, previous } = totals
  const texts: Record<string, [text: string, full: string]> = {
    visitors: [number(visitors), plural(visitors, 'visitor')],
    pageviews: [number(pageviews), plural(pageviews, 'pageview')],
    sessions: [number(sessions), plural(sessions, 'session')],
    bounce_rate: [`${bounce_rate}%`, `${bounce_rate} percent of sessions`],
    avg_duration: [duration(avg_duration), plural(avg_duration, 'second')],
  }
  for (const [name, [text, full]] of Object.entries(texts)) {
    const shown = metrics.get(name)
    assert.equal(shown?.text, text)
    assert.ok(shown?.title.startsWith(`${full}. `), shown?.title)
    if (change && tooEarly) assert.match(shown?.change ?? '', /^–The compared days begin before the first event, /)
    else
      assert.equal(
        shown?.change,
        change && changeText(change[name] as number | null, textOfNumber(name, previous?.[name] ?? 0)),
      )
  }
}

/** Beside visitors, with the rate instead of the number before. */
function checkConversions(
  { conversions, conversion_rate, change }: Record<string, number> & { change?: Row },
  { metrics }: ReadDashboard,
  tooEarly: boolean,
): void {
  const shown = metrics.get('conversions')
  const rate = `${(conversion_rate as number).toFixed(1)}% of visitors`
  assert.equal(shown?.text, number(conversions as number))
  assert.ok(shown?.title.startsWith(`${plural(conversions as number, 'conversion')}. `), shown?.title)
  if (!change) assert.equal(shown?.change, rate)
  else if (tooEarly) assert.match(shown?.change ?? '', /^–The compared days begin before the first event, /)
  else if (change.conversions === null) assert.equal(shown?.change, '–nothing to compare with')
  else assert.equal(shown?.change, changeText(change.conversions as number, '').replace(/ from $/, ` · ${rate}`))
}

function changeText(change: number | null, before: string): string {
  if (change === null) return '–nothing to compare with'
  return change === 0
    ? `0% from ${before}`
    : `${change > 0 ? '▲up' : '▼down'} ${number(Math.abs(change))}% from ${before}`
}

/** The table of the chart has the numbers of every interval, and those of its counterpart. */
async function checkChart(world: DashboardWorld, asked: Fields, state: State, read: ReadDashboard) {
  const { metric, goal, compare } = state
  const days = (await world.ask('timeseries', asked)).json.data as { date: string }[]
  const interval = intervalOf(state, state.range === '24h' ? [] : days.map(({ date }) => date))
  if (days.length > 0) assert.equal(read.chartUnit, interval, JSON.stringify(state))
  const compared = comparedByChart(interval, comparisonFields(world, state))
  const { headers, json } = await world.ask('timeseries', [
    ...asked,
    ['interval', interval],
    ['metrics', metric],
    ...(metric === 'conversions' ? [['goal', goal] as [string, string]] : []),
    ...compared,
  ])
  const all = json.data as (Record<string, number> & { previous?: Record<string, number> | null })[]
  const isCompared = all.some(({ previous }) => previous)
  assert.deepEqual(
    read.chart.map(([, value, before]) => [value, before]),
    all.map(({ [metric]: value = 0, previous }) => [
      textOfNumber(metric, value),
      isCompared ? (previous ? textOfNumber(metric, previous[metric] as number) : '') : undefined,
    ]),
  )
  if (compare !== 'on' || compared.length === 0 || interval === 'hour' || all.length === 0) return
  const end = (headers.get('stats-previous-period') ?? '').split('/')[1] as string
  const label = read.chart.findLast(([, , before]) => before)?.[3] ?? ''
  const isPart = end.slice(11, 19) !== '00:00:00'
  // Twelve months after a 29 February have a day less than those before, so the last one has no counterpart.
  if (!asked.some(([, value]) => value === '12m')) assert.equal(/, until \d\d:\d\d$/.test(label), isPart, label)
  if (/, until/.test(label)) assert.ok(label.endsWith(end.slice(11, 16)), `${label} ${end}`)
}

/** The hours of more than 31 chosen days cannot be asked for. */
function comparedByChart(interval: string, fields: Fields): Fields {
  const [first, last] = fields[0]?.[1].split('/') ?? []
  const isLong = last !== undefined && Date.parse(last) - Date.parse(first as string) >= 31 * 86_400_000
  return interval === 'hour' && isLong ? [] : fields
}

interface PanelCase {
  panel: string
  name: ListName
  totals: Record<string, number>
  read: ReadDashboard
  about: string
}

async function checkPanel(world: DashboardWorld, asked: Fields, { panel, name, totals, read, about }: PanelCase) {
  const first = await panelList(world, asked, name, totals)
  const next = { device: 'browser', goal: 'event' }[name as string] as ListName | undefined
  const below = next && first.rows.length <= 4 ? await panelList(world, asked, next, totals) : undefined
  const expected = [first, ...(below ? [{ ...below, rows: below.rows.slice(0, 9 - first.rows.length) }] : [])]
  assert.deepEqual(
    read.lists(panel).map(({ heads, rows }) => ({
      heads,
      rows: rows.map(({ label, value, words, share }) => ({ label: withoutTitle(name, label), value, words, share })),
    })),
    expected.filter(({ rows }) => rows.length > 0),
    `${name} ${about}`,
  )
}

async function panelList(world: DashboardWorld, asked: Fields, name: ListName, totals: Record<string, number>) {
  const { metrics } = lists[name]
  const answer = await world.ask('breakdown', [...asked, ['by', name], ['metrics', metrics.join(',')], ['limit', '10']])
  const of = name === 'page' ? 'pageviews' : 'visitors'
  const headOf = { pageviews: 'Views', visitors: 'Visitors', conversions: 'Conversions' }[metrics[0]]
  return {
    heads: [lists[name].heading, headOf, name === 'goal' ? 'Rate' : 'Share'],
    rows: (answer.json.data as Row[]).map((row) => ({
      label: withoutTitle(name, labelOf(name, row[name] as string | null)),
      value: number(row[metrics[0]] as number),
      words: metrics.map((metric) => wordsOf(metric, row[metric] as number)).join(', '),
      share:
        name === 'goal'
          ? `${(row.conversion_rate as number).toFixed(1)}%`
          : percent(row[of] as number, totals[of] as number),
    })),
  }
}

/** Titles are no numbers: another test reads them. No path of these worlds has a space, but one. */
const withoutTitle = (name: ListName, label: string): string =>
  name.endsWith('page') && label.startsWith('/') ? (label.split(' ')[0] as string) : label

/** All columns and rows of one list, in any order, and searched. */
async function checkLongList(world: DashboardWorld, asked: Fields, state: State, totals: Record<string, number>) {
  const { more: name, order, search } = state
  const columns = columnsOf(name, true)
  const column = columns[order[0] % columns.length] as string
  const fields: Fields = [['order', `${column}${order[1] ? ':asc' : ''}`]]
  const page = await world.page([
    ...addressFields(world, state),
    ...filterFields(world, state),
    ...fields,
    ['more', name],
    ...(search ? [['search', search] as [string, string]] : []),
  ])
  const about = JSON.stringify([state.world, asked, name, fields, search])
  assert.equal(page.status, 200, about)
  const isHere = /^(channel|country|device|browser|os|event|goal)$/.test(name)
  if (search && !isHere) fields.push(['filter', `${name}:contains:${search}`])
  const answer = await world.ask('breakdown', [...asked, ...fields, ['by', name], ['metrics', columns.join(',')]])
  const rows = (answer.json.data as Row[]).filter(
    (row) =>
      !(search && isHere) ||
      labelOf(name, row[name] as string | null)
        .toLowerCase()
        .includes(search),
  )
  const of = name === 'page' ? 'pageviews' : 'visitors'
  const [, ...shown] = readDashboard(page.text).table
  assert.deepEqual(
    shown.map(([label = '', ...cells]) => [withoutTitle(name, label), ...cells]),
    rows.map((row) => [
      withoutTitle(name, labelOf(name, row[name] as string | null)),
      ...columns.map((one) => textOfNumber(one, row[one] as number)),
      ...(name === 'goal' ? [] : [percent(row[of] as number, totals[of] as number)]),
    ]),
    about,
  )
}

test('an address of an earlier version shows the numbers of version 1, and its links write filters', async (t) => {
  const worlds = await openWorlds(t)
  for (const world of worlds.values()) {
    const [event] = world.events.filter(({ device }) => device !== 'Unknown')
    if (!event) continue
    const fields = {
      range: '12m',
      country: event.country,
      device: event.device.toLowerCase(),
      hostname: event.hostname,
    }
    const page = await world.page({ ...fields, limit: '100', sources: 'channels', more: '' })
    const read = readDashboard(page.text)
    const { current } = (await world.api('overview', fields)).json.data
    assert.equal(read.metrics.get('visitors')?.text, number(current.visitors))
    const rows = async (report: string): Promise<Row[]> =>
      (await world.api(report, { ...fields, limit: '10' })).json.data
    assert.deepEqual(
      read.panel('sources').map(({ label, value }) => [label, value]),
      (await rows('channels')).map(({ channel, visitors }) => [channel, number(visitors as number)]),
    )
    assert.deepEqual(
      read.panel('pages').map(({ value }) => value),
      (await rows('pages')).map(({ views }) => number(views as number)),
    )
    assert.doesNotMatch(page.text, /[?&;](country|device|hostname|utm_source)=/)
    assert.match(page.text, /filter=device:is:/)
  }
})

test('a list that is saved has no formula, and is the list of the API', async (t) => {
  const names = ['=1', 'a;=1', 'a\t＝1', '/cart;jsessionid=1A']
  const world = await openDashboardWorld(t, 1, (now) =>
    names.map((name) => ({ at: new Date(now - 3_600_000).toISOString(), name })),
  )
  const { text } = await world.csv('event', { range: '7d' })
  const fields = { range: '7d', by: 'event', metrics: 'visitors,events' }
  assert.equal(text, (await world.ask('breakdown', fields, { Accept: 'text/csv' })).text)
  assert.deepEqual(
    text.split('\r\n').toSorted(),
    ['', "'=1,1,1", '/cart;jsessionid=1A,1,1', "a\t'＝1,1,1", "a;'=1,1,1", 'event,visitors,events'].toSorted(),
  )
})

test('a country that is excluded leaves dashboard, CSV and API at once, and comes back', async (t) => {
  const world = await openDashboardWorld(t, 3)
  const fields = { range: '12m' }
  const stateOf = async () => {
    const read = readDashboard((await world.page(fields)).text)
    const { json } = await world.api('overview', fields)
    const geo = (await world.api('geo', { ...fields, limit: '100' })).json.data as { name: string; visitors: number }[]
    const csv = (await world.csv('country', fields)).text
    assert.deepEqual(
      read.panel('places').map(({ label, value }) => [label, value]),
      geo.slice(0, 10).map(({ name, visitors }) => [name, number(visitors)]),
    )
    assert.deepEqual(
      csv
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',').slice(0, 2)),
      geo.map(({ name, visitors }) => [codeOf(name), String(visitors)]),
    )
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
  await exclude([codeOf(first.name)])
  const without = await stateOf()
  assert.deepEqual(without, { geo: before.geo.slice(1), visitors: before.visitors - first.visitors })
  assert.match((await world.page(fields)).text, new RegExp(`Without ${first.name}`))
  await exclude([])
  assert.deepEqual(await stateOf(), before)
})
