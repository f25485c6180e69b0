// `footfall stats` with --by, --filter and the like, on the installation and from a server.
import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { shownWidth } from '../../src/cli/terminal.ts'
import { type ApiProcess, startApiProcess } from '../support/api-process.ts'
import { custom, pageview } from '../support/events.ts'
import { type Installation, install, onTerminal, runFootfall } from '../support/installation.ts'
import { recordHits } from '../support/shop.ts'
import { refusalOf } from '../support/stats-refusal.ts'

let installation: Installation
let api: ApiProcess
let key: string
let siteId: string
before(async () => {
  installation = await install()
  siteId = (await installation.json('site', 'create', 'shop.example', '--timezone', 'Europe/Berlin')).id
  const a = { visitor: 'a', browser: 'Firefox', referrer: 'google.com' }
  await recordHits(installation, siteId, [
    pageview({ at: '2026-03-01T10:00:00Z', ...a }),
    pageview({ at: '2026-03-01T10:02:00Z', ...a, pathname: '/pricing' }),
    custom('Signup', {
      ...{ at: '2026-03-01T10:03:00Z', ...a, pathname: '/join' },
      props: { plan: 'pro' },
      revenue: { amount: 123_450, currency: 'EUR' },
    }),
    pageview({ at: '2026-03-01T11:00:00Z', visitor: 'b', browser: 'Chrome', country: 'FR', pathname: '/pricing' }),
    pageview({ at: '2026-03-02T09:00:00Z', visitor: 'c', browser: 'Firefox', referrer: 'news.example' }),
    pageview({
      ...{ at: '2026-03-02T12:00:00Z', visitor: 'd', browser: 'Safari', referrer: 'google.com' },
      pathname: '/pricing,a',
    }),
    pageview({ at: '2026-02-27T08:00:00Z', visitor: 'e', browser: 'Firefox', pathname: '/pricing' }),
  ])
  await installation.json('goal', 'create', 'shop.example', 'Signup', '--event', 'Signup')
  key = (await installation.json('key', 'create', 'shop.example')).key
  api = await startApiProcess(installation.addresses)
})
after(async () => {
  await api?.stop()
  await installation?.remove()
})

const days = ['--start', '2026-03-01', '--end', '2026-03-03']

/** The same from this installation and from a server. */
async function shown(...words: string[]): Promise<string> {
  const [near, far] = await Promise.all([
    installation.footfall('stats', 'shop.example', ...days, ...words),
    runFootfall(['stats', '--url', api.url, ...days, ...words], { PATH: process.env.PATH ?? '', FOOTFALL_KEY: key }),
  ])
  assert.deepEqual([near.code, near.stderr], [0, ''], words.join(' '))
  assert.deepEqual(far, near)
  return near.stdout
}

const cells = (text: string) => text.split('\n').map((line) => line.split('\t'))

test('--by lists any dimension, and --filter keeps what matches', async () => {
  assert.deepEqual(cells(await shown('--by', 'browser')), [
    ['browser', 'visitors', 'pageviews'],
    ['Firefox', '2', '3'],
    ['Chrome', '1', '1'],
    ['Safari', '1', '1'],
    [''],
  ])
  assert.deepEqual(cells(await shown('--by', 'browser', '--filter', 'page:is:/pricing', '--compare')), [
    [
      'browser',
      ...['visitors', 'pageviews', 'previous_visitors', 'previous_pageviews', 'change_visitors', 'change_pageviews'],
    ],
    ['Chrome', '1', '1', '0', '0', '', ''],
    ['Firefox', '1', '1', '1', '1', '0', '0'],
    [''],
  ])
  const two = await shown('--by', 'page', '--filter', 'page:starts_with:/pricing', '--filter', 'referrer:is:google.com')
  assert.deepEqual(cells(two).slice(1), [['/pricing', '1', '1'], ['/pricing,a', '1', '1'], ['']])
  const comma = await shown('--by', 'referrer', '--filter', 'page:is:/pricing\\,a', '--csv')
  assert.equal(comma, 'referrer,visitors,pageviews\r\ngoogle.com,1,1\r\n')
  assert.deepEqual(cells(await shown('--by', 'prop:plan')).slice(0, 2), [
    ['prop:plan', 'visitors', 'events'],
    ['pro', '1', '1'],
  ])
})

test('an empty list has its columns: those that were asked for, or those that the list has without', async () => {
  const nobody = ['--filter', 'page:is:/nowhere', '--csv']
  assert.equal(await shown('--by', 'browser', ...nobody), 'browser,visitors,pageviews\r\n')
  assert.equal(await shown('--by', 'event', ...nobody), 'event,visitors,events\r\n')
  const asked = await shown('--by', 'browser', '--metrics', 'sessions,revenue:EUR', '--compare', ...nobody)
  assert.equal(
    asked,
    'browser,sessions,revenue:EUR,previous_sessions,previous_revenue:EUR,change_sessions,change_revenue:EUR\r\n',
  )
})

test('the filters of reports are filters of a list, too, and --order and --limit are those of the API', async () => {
  assert.deepEqual(cells(await shown('--by', 'page', '--country', 'fr')).slice(1), [['/pricing', '1', '1'], ['']])
  const last = await shown('--by', 'browser', '--order', 'pageviews:asc', '--limit', '1', '--json')
  const cut = await installation.footfall('stats', 'shop.example', ...days, '--by', 'browser', '--limit', '1', '--csv')
  assert.equal(cut.stderr, 'Note: these are 1 of 3 rows; --limit shows more.\n')
  const { breakdown, total_rows } = JSON.parse(last)
  assert.deepEqual([breakdown, total_rows], [[{ browser: 'Chrome', visitors: 1, pageviews: 1 }], 3])
})

test('without --by there are totals and a series, with any metrics, a goal and an interval', async () => {
  const words = ['--filter', 'referrer:contains:google', '--goal', 'Signup']
  const metrics = ['--metrics', 'visitors,conversions,conversion_rate,revenue:EUR']
  assert.deepEqual(JSON.parse(await shown(...words, ...metrics, '--json')), {
    site_id: siteId,
    domain: 'shop.example',
    time_zone: 'Europe/Berlin',
    range: 'custom',
    period: { start: '2026-03-01T00:00:00+01:00', end: '2026-03-04T00:00:00+01:00' },
    filters: [{ dimension: 'referrer', operator: 'contains', values: ['google'] }],
    goal: 'Signup',
    totals: { visitors: 2, conversions: 1, conversion_rate: 50, 'revenue:EUR': 123_450 },
    interval: 'day',
    timeseries: [
      { date: '2026-03-01', visitors: 1, conversions: 1, conversion_rate: 100, 'revenue:EUR': 123_450 },
      { date: '2026-03-02', visitors: 1, conversions: 0, conversion_rate: 0, 'revenue:EUR': 0 },
      { date: '2026-03-03', visitors: 0, conversions: 0, conversion_rate: 0, 'revenue:EUR': 0 },
    ],
    warnings: [],
  })
  const table = cells(await shown('--filter', 'page:is:/pricing', '--compare-with', '2026-02-27/2026-02-27'))
  assert.deepEqual(table.slice(0, 3), [
    ['report', 'name', 'metric', 'value', 'previous', 'change'],
    ['totals', '', 'visitors', '2', '1', '100'],
    ['totals', '', 'pageviews', '2', '1', '100'],
  ])
  assert.deepEqual(
    table.find(([report]) => report === 'timeseries'),
    ['timeseries', '2026-03-01', 'visitors', '2', '1', '100'],
  )
  const hours = cells(await shown('--filter', 'page:is:/', '--interval', 'hour', '--metrics', 'visitors'))
  assert.deepEqual(
    hours.filter(([report, , , value]) => report === 'timeseries' && value !== '0'),
    [
      ['timeseries', '2026-03-01T11:00:00+01:00', 'visitors', '1'],
      ['timeseries', '2026-03-02T10:00:00+01:00', 'visitors', '1'],
    ],
  )
})

for (const columns of [40, 80, 120])
  test(`both are drawn within ${columns} columns`, async () => {
    const environment = { ...installation.environment, NO_COLOR: '1' }
    const draw = (...words: string[]) => onTerminal(['stats', 'shop.example', ...days, ...words], environment, columns)
    const [list, numbers] = await Promise.all([
      draw('--by', 'country', '--filter', 'page:is:/,/pricing', '--compare', '--metrics', 'visitors,bounce_rate'),
      draw('--filter', 'referrer:is:google.com', '--goal', 'Signup', '--metrics', 'visitors,conversions,revenue:EUR'),
    ])
    for (const line of `${list}${numbers}`.split('\n')) assert.ok(shownWidth(line) <= columns, line)
    assert.match(list, /^shop\.example[^\n]*\n/)
    assert.match(list, /^Only page is \/ or \/pricing$/m)
    // a and c of Germany, with e of before; b of France.
    assert.match(list, /^Germany \(DE\) +2 +▲ 100%/m)
    assert.match(list, /^France \(FR\) +1 +–/m)
    assert.match(numbers, /^Conversions: Signup$/m)
    assert.match(numbers, /1,234\.50/)
    assert.match(numbers, /^Visitors by day$/m)
  })

test('a list that is longer than a page of the API is read to its end', async () => {
  const many = await installation.json('site', 'create', 'many.example')
  const at = '2026-03-01T10:00:00Z'
  const pages = Array.from({ length: 2_345 }, (_, number) => pageview({ at, pathname: `/${number}` }))
  await recordHits(installation, many.id, pages)
  const account = (await installation.json('account', 'list'))[0].id
  const accountKey = (await installation.json('key', 'create', '--account', account)).key
  const words = ['many.example', ...days, '--by', 'page', '--limit', '2200', '--json']
  const [near, far] = await Promise.all([
    installation.footfall('stats', ...words),
    runFootfall(['stats', '--url', api.url, ...words], { PATH: process.env.PATH ?? '', FOOTFALL_KEY: accountKey }),
  ])
  assert.deepEqual(far, near)
  const { breakdown, total_rows } = JSON.parse(near.stdout)
  assert.deepEqual([breakdown.length, total_rows], [2_200, 2_345])
})

test('a wrong option gives one sentence and what to do next', async () => {
  for (const [words, expected] of [
    [['--by', 'page', '--interval', 'day'], /A list has no intervals\./],
    [['--filter', 'page:is:/', '--limit', '5'], /--limit is for lists\.\n.*--by/],
    [['--by', 'page', '--limit', '100001'], /limit must be a whole number from 1 to 100000/],
    [['--by', 'page', '--compare', '--compare-with', 'year'], /--compare is the previous period/],
    [['--by', 'page', '--range', '7d', '--start', '2026-03-01'], /for a custom range/],
    [['--by', 'page', '--country', ''], /--country is empty\.\n {2}Leave it out\. .*: --filter country:is:\n/],
    [['--filter', 'page:is:/', '--utm-source', ''], /--utm-source is empty\.\n.*: --filter utm_source:is:\n/],
  ] as const)
    assert.match(await refusalOf(['shop.example', ...words]), expected, words.join(' '))
  assert.match(await refusalOf(['--all-sites', '--by', 'page']), /--by asks about one site\.\n {2}Leave out/)
  for (const [words, expected] of [
    [['--by', 'cities'], /^footfall: by must be one of page, hostname, .*\n {2}See: footfall stats --help\n$/],
    [['--filter', 'city:is:Berlin'], /"city" is not one of page/],
    [['--goal', 'Sale', '--metrics', 'conversions'], /no goal of this name/],
    [['--filter', 'page:is:/', '--match', 'day'], /match must be weekday/],
  ] as const) {
    const near = await installation.footfall('stats', 'shop.example', ...words)
    const environment = { PATH: process.env.PATH ?? '', FOOTFALL_KEY: key }
    assert.deepEqual(await runFootfall(['stats', '--url', api.url, ...words], environment), near)
    assert.deepEqual([near.code, near.stdout], [1, ''])
    assert.match(near.stderr, expected)
  }
})
