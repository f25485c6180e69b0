import assert from 'node:assert/strict'
import test, { after, before } from 'node:test'
import { pageview } from '../support/events.ts'
import { type Installation, install } from '../support/installation.ts'
import { createShop, recordHits, shopDays } from '../support/shop.ts'
import { refusalOf } from '../support/stats-refusal.ts'

let installation: Installation
let { footfall, json } = {} as Installation
let siteId: string
before(async () => {
  installation = await install()
  ;({ footfall, json } = installation)
  siteId = (await createShop(installation)).id
})
after(() => installation.remove())

const tsv = async (...words: string[]) => {
  const { code, stdout, stderr } = await footfall('stats', ...words)
  assert.deepEqual([code, stderr], [0, ''], words.join(' '))
  return stdout.split('\n').map((line) => line.split('\t'))
}

test('without a terminal a site is a table with tabs: one line for each number, in the words of the API', async () => {
  assert.deepEqual(await tsv('shop.example', ...shopDays), [
    ['report', 'name', 'metric', 'value'],
    ['overview', '', 'visitors', '4'],
    ['overview', '', 'pageviews', '5'],
    ['overview', '', 'sessions', '4'],
    ['overview', '', 'bounce_rate', '50'], // b, and a on the second day
    ['overview', '', 'avg_duration', '38'], // (120 + 30) / 4 = 37.5
    ['timeseries', '2026-03-01', 'visitors', '2'],
    ['timeseries', '2026-03-01', 'pageviews', '3'],
    ['timeseries', '2026-03-02', 'visitors', '2'],
    ['timeseries', '2026-03-02', 'pageviews', '2'],
    ['timeseries', '2026-03-03', 'visitors', '0'],
    ['timeseries', '2026-03-03', 'pageviews', '0'],
    ['pages', '/', 'views', '3'],
    ['pages', '/', 'visitors', '3'],
    ['pages', '/pricing', 'views', '2'],
    ['pages', '/pricing', 'visitors', '2'],
    ['referrers', 'google.com', 'views', '2'],
    ['referrers', 'google.com', 'visitors', '1'],
    ['referrers', 'news.example', 'views', '1'],
    ['referrers', 'news.example', 'visitors', '1'],
    ['geo', 'Germany', 'visitors', '3'],
    ['geo', 'France', 'visitors', '1'],
    ['devices', 'Desktop', 'visitors', '2'],
    ['devices', 'Mobile', 'visitors', '2'],
    ['events', 'Sign up', 'count', '1'],
    ['events', 'Sign up', 'visitors', '1'],
    [''],
  ])
})

test('--compare adds the previous period and the change; without a previous number there is no change', async () => {
  const lines = await tsv('shop.example', ...shopDays, '--compare')
  assert.deepEqual(lines.slice(0, 12), [
    ['report', 'name', 'metric', 'value', 'previous', 'change'],
    ['overview', '', 'visitors', '4', '1', '300'],
    ['overview', '', 'pageviews', '5', '1', '400'],
    ['overview', '', 'sessions', '4', '1', '300'],
    ['overview', '', 'bounce_rate', '50', '100', '-50'],
    ['overview', '', 'avg_duration', '38', '0', ''],
    ['timeseries', '2026-03-01', 'visitors', '2', '0', ''], // 26 February
    ['timeseries', '2026-03-01', 'pageviews', '3', '0', ''],
    ['timeseries', '2026-03-02', 'visitors', '2', '1', ''], // 27 February
    ['timeseries', '2026-03-02', 'pageviews', '2', '1', ''],
    ['timeseries', '2026-03-03', 'visitors', '0', '0', ''],
    ['timeseries', '2026-03-03', 'pageviews', '0', '0', ''],
  ])
  assert.ok(lines.slice(0, -1).every((cells) => cells.length === 6))
})

test('with today in the range, the previous days add up to the previous numbers, and the last one says until when', async () => {
  const { id } = await json('site', 'create', 'today.example', '--timezone', 'Europe/Berlin')
  const last = Temporal.Now.plainDateISO('Europe/Berlin').subtract({ days: 7 })
  const at = (day: Temporal.PlainDate, time: string) =>
    new Date(day.toZonedDateTime({ timeZone: 'Europe/Berlin', plainTime: time }).epochMilliseconds).toISOString()
  await recordHits(installation, id, [
    pageview({ at: at(last, '00:00:00'), visitor: 'a' }),
    pageview({ at: at(last, '23:59:59'), visitor: 'b' }), // after this time of day
    pageview({ at: at(last.subtract({ days: 1 }), '12:00:00'), visitor: 'c' }),
  ])
  const answer = await json('stats', 'today.example', '--range', '7d', '--compare')
  assert.equal(answer.overview.previous.visitors, 2) // a and c
  const days = answer.previous_timeseries
  assert.equal(days.length, 7)
  assert.deepEqual(days.slice(-2), [
    { date: last.subtract({ days: 1 }).toString(), visitors: 1, pageviews: 1 },
    { date: last.toString(), visitors: 1, pageviews: 1, until: answer.previous_period.end },
  ])
  await json('site', 'delete', 'today.example', '--yes')
})

test('filters and the limit are those of the API, and the only site needs no name', { timeout: 600_000 }, async () => {
  const visitors = async (...words: string[]) => (await tsv(...shopDays, ...words))[1]?.[3]
  assert.equal(await visitors(), '4')
  assert.equal(await visitors('--country', 'fr'), '1')
  assert.equal(await visitors('--device', 'mobile'), '2')
  assert.equal(await visitors('--hostname', 'blog.shop.example'), '1')
  assert.equal(await visitors('--utm-source', 'letter'), '1')
  assert.equal(await visitors('--country', 'DE', '--device', 'mobile'), '1')
  const pages = (await tsv(...shopDays, '--limit', '1')).filter(([report]) => report === 'pages')
  assert.deepEqual(pages, [
    ['pages', '/', 'views', '3'],
    ['pages', '/', 'visitors', '3'],
  ])
})

test('--csv is the same table as RFC 4180', async () => {
  const { stdout } = await footfall('stats', siteId, ...shopDays, '--compare', '--csv')
  const lines = stdout.split('\r\n')
  assert.equal(lines.at(-1), '')
  assert.deepEqual(lines.slice(0, 3), [
    'report,name,metric,value,previous,change',
    'overview,,visitors,4,1,300',
    'overview,,pageviews,5,1,400',
  ])
  const tabbed = await tsv('shop.example', ...shopDays, '--compare')
  assert.deepEqual(
    lines.map((line) => line.split(',')),
    tabbed,
  )
})

test('all sites have a line each, by domain, with the five numbers', async () => {
  const other = await json('site', 'create', 'another.example')
  const header = ['site_id', 'domain', 'visitors', 'pageviews', 'sessions', 'bounce_rate', 'avg_duration']
  assert.deepEqual(await tsv('--all-sites', ...shopDays), [
    header,
    [other.id, 'another.example', '0', '0', '0', '0', '0'],
    [siteId, 'shop.example', '4', '5', '4', '50', '38'],
    [''],
  ])
  const compared = await tsv('--all-sites', ...shopDays, '--compare')
  assert.deepEqual(compared[2]?.slice(7), ['1', '1', '1', '100', '0', '300', '400', '300', '-50', ''])
  assert.deepEqual(compared[0]?.slice(7, 9), ['previous_visitors', 'previous_pageviews'])
  const [, shop] = await json('stats', '--all-sites', ...shopDays)
  assert.deepEqual(shop, {
    site_id: siteId,
    domain: 'shop.example',
    period: { start: '2026-03-01T00:00:00+01:00', end: '2026-03-04T00:00:00+01:00' },
    current: { visitors: 4, pageviews: 5, sessions: 4, bounce_rate: 50, avg_duration: 38 },
    previous: { visitors: 1, pageviews: 1, sessions: 1, bounce_rate: 100, avg_duration: 0 },
    change: { visitors: 300, pageviews: 400, sessions: 300, bounce_rate: -50, avg_duration: null },
  })
  assert.equal((await json('site', 'delete', 'another.example', '--yes')).deleted, true)
})

test('names of visitors neither break the table nor reach a terminal as commands; JSON keeps them', async () => {
  const name = 'Say\t"hi"\n\x1b[31m\u009b31m\u202etxt'
  const { id } = await json('site', 'create', 'hostile.example')
  await recordHits(installation, id, [
    { at: '2026-03-01T10:00:00Z', name },
    { at: '2026-03-01T10:00:00Z', name: '=cmd()' },
  ])
  const words = ['stats', 'hostile.example', ...shopDays]
  const { stdout: tabbed } = await footfall(...words)
  assert.match(tabbed, /^events\tSay\ufffd"hi"\ufffd\ufffd\[31m\ufffd31mtxt\tcount\t1$/m)
  const { stdout: csv } = await footfall(...words, '--csv')
  assert.match(csv, /^events,"Say\ufffd""hi""\ufffd\ufffd\[31m\ufffd31mtxt",count,1\r$/m)
  assert.match(csv, /^events,'=cmd\(\),count,1\r$/m)
  const { stdout: text } = await footfall(...words, '--json')
  for (const shown of [tabbed, csv, text]) assert.doesNotMatch(shown, /(?![\t\r\n])[\p{Cc}\p{Cf}]/u)
  assert.deepEqual(
    JSON.parse(text).events.map((event: { name: string }) => event.name),
    ['=cmd()', name],
  )
  await json('site', 'delete', 'hostile.example', '--yes')
})

const oneSentence = /^footfall: \S[^\n]+\n {2}\S[^\n]*\n$/

test('a wrong site gives the nearest names, and a key in its place is not repeated', async () => {
  await json('site', 'create', 'shop-two.example')
  for (const [words, expected] of [
    [['shop.exmaple'], /no site shop\.exmaple\.\n {2}Did you mean shop\.example/],
    [['nowhere.test'], /no site nowhere\.test\.\n {2}There are shop-two\.example, shop\.example\./],
    [[], /Which site\?\n {2}footfall stats <site>, or --all-sites/],
    [['ff_s_secret'], /^footfall: This is an API key, not a site\.\n {2}(?!.*ff_s_)/],
    [['shop.example', '--start', '1900-01-01', '--end', '2026-01-01'], /at most 100 years/],
    [['shop.example', '--key', 'ff_s_secret'], /See: footfall stats --help/],
  ] as const) {
    const { code, stdout, stderr } = await footfall('stats', ...words)
    assert.deepEqual([code, stdout], [1, ''], words.join(' '))
    assert.match(stderr, expected, words.join(' '))
    assert.match(stderr, oneSentence, words.join(' '))
  }
})

test('a wrong option gives one sentence and what to do next', async () => {
  for (const [words, expected] of [
    [['a.example', 'b.example'], /shows one site\.\n.*--all-sites/],
    [['shop.example', '--all-sites'], /takes no site/],
    [['--all-sites', '--limit', '5'], /--limit is for lists/],
    [['shop.example', '--range', '31d'], /range must be one of .*\n {2}See: footfall stats --help/],
    [['shop.example', '--limit', '101'], /limit must be a whole number from 1 to 100/],
    [['shop.example', '--country', 'UK'], /for the UK it is GB/],
    [['shop.example', '--device', 'watch'], /desktop, mobile or tablet/],
    [['shop.example', '--hostname', ''], /hostname needs a value/],
    [['shop.example', '--utm-source', 'a\tb'], /control characters/],
    [['shop.example', '--start', '2026-03-01'], /needs both start and end/],
    [['shop.example', '--range', '7d', '--end', '2026-03-01'], /for a custom range\.\n.*--range/],
    [['shop.example', '--csv', '--json'], /either CSV or JSON/],
    [['shop.example', '--watch'], /draws on a terminal/],
    [['shop.example', '--key-file', '/key'], /none is named\.\n.*--url/],
  ] as const) {
    const refusal = await refusalOf(words)
    assert.match(refusal, expected, words.join(' '))
    assert.match(refusal, oneSentence, words.join(' '))
  }
})
