import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Site } from '../../src/accounts/sites.ts'
import { type CheckedSums, checkSums, linesOf, tablesOf } from '../../src/importing/sums/checking.ts'
import type { DaySum } from '../../src/importing/sums/format.ts'
import { sumsFormatOf } from '../../src/importing/sums/formats.ts'
import { zipOf } from './zip.ts'

let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'footfall-sums-formats-'))
})
after(() => rmSync(folder, { recursive: true }))

const site = {
  id: 'site_x',
  domain: 'example.com',
  timeZone: 'UTC',
  hostnames: ['example.com'],
  allowSubdomains: false,
}
const reading = { site: site as unknown as Site, now: Date.UTC(2025, 5, 1) }

async function read(...contents: (readonly [name: string, content: string | Buffer])[]) {
  const files = contents.map(([name, content]) => {
    const path = join(folder, name)
    writeFileSync(path, content)
    const format = sumsFormatOf(path)
    assert.ok(format, `${name} is not known`)
    return { path, name, format }
  })
  const checked: CheckedSums = await checkSums(files, reading, () => {})
  const rows: DaySum[] = []
  for (const file of checked.files)
    for await (const table of tablesOf(file, reading.site, () => {}))
      for await (const line of linesOf(table, reading)) if ('rows' in line) rows.push(...line.rows)
  return { checked, rows }
}

const rowsOf = (rows: readonly DaySum[], list: string) =>
  rows.filter((row) => row.list === list).map(({ day, value, sums }) => [day, value, sums])

const comments = (name: string, range: string) => [
  '# ----------------------------------------',
  `# ${name}`,
  '# Example - GA4',
  `# ${range}`,
  '# ----------------------------------------',
  '',
]

test('Google Analytics: an exploration by date alone, with a grand total and fractions', async () => {
  const { checked, rows } = await read([
    'days.csv',
    `\uFEFF${[
      ...comments('Days', '20250301-20250303'),
      'Date,Active users,Views,Sessions,Engaged sessions,Average session duration',
      ',30,70,40,25,61.5,Grand total',
      '20250301,10,25,12,8,50.25',
      '20250302,20,45,28,17,66.321428571428569',
      '',
    ].join('\r\n')}`,
  ])
  assert.deepEqual(rowsOf(rows, 'total'), [
    ['2025-03-01', '', { visitors: 10, pageviews: 25, sessions: 12, bounces: 4, duration: 603_000 }],
    ['2025-03-02', '', { visitors: 20, pageviews: 45, sessions: 28, bounces: 11, duration: 1_857_000 }],
  ])
  assert.deepEqual(Object.fromEntries(checked.leftOut), { 'totals of all days': 1 })
  // 3 March has no row in any list, so it stays a day of the site itself.
  assert.deepEqual(checked.lists, [
    {
      list: 'total',
      metrics: ['visitors', 'pageviews', 'sessions', 'bounces', 'duration'],
      days: [['2025-03-01', '2025-03-02']],
    },
  ])
})

test('Google Analytics: one list per file, in the words of Footfall, and the days of its comments', async () => {
  const file = (name: string, ...lines: string[]) =>
    [name, `${[...comments(name, '20250301-20250302'), ...lines].join('\n')}\n`] as const
  const { checked, rows } = await read(
    file(
      'days.csv',
      'Date,Total users,Views,Sessions,Bounce rate,Average session duration',
      '20250301,9,9,9,0.333,1',
      '20250302,1,1,1,1,0',
    ),
    file(
      'pages.csv',
      'Page path and screen class,Date,Views,Active users',
      '/a?b=c,20250301,5,3',
      '"/say ""hi"", all",20250302,1,1',
    ),
    file(
      'countries.csv',
      'Date,Country,Active users',
      '20250301,Germany,4',
      '20250301,United States,2',
      '20250301,Türkiye,1',
      '20250301,(not set),2',
    ),
    file(
      'channels.csv',
      'Date,Session default channel group,Active users,Sessions',
      '20250301,Organic Search,3,3',
      '20250301,Unassigned,1,1',
    ),
    file(
      'sources.csv',
      'Date,Session source,Active users,Views',
      '20250301,google,3,3',
      '20250301,(direct),1,1',
      '20250301,news.ycombinator.com,2,2',
      '20250301,newsletter,1,1',
    ),
    file('events.csv', 'Date,Event name,Event count,Active users', '20250301,page_view,9,9', '20250301,sign_up,2,1'),
    file(
      'devices.csv',
      'date,deviceCategory,activeUsers,screenPageViews',
      '20250301,mobile,6,6',
      '20250301,smart tv,3,3',
    ),
  )
  assert.deepEqual(rowsOf(rows, 'total')[0]?.[2], {
    visitors: 9,
    pageviews: 9,
    sessions: 9,
    bounces: 3,
    duration: 9_000,
  })
  assert.deepEqual(rowsOf(rows, 'page'), [
    ['2025-03-01', '/a', { visitors: 3, pageviews: 5 }],
    ['2025-03-02', '/say "hi", all', { visitors: 1, pageviews: 1 }],
  ])
  assert.deepEqual(
    rowsOf(rows, 'country').map(([, value]) => value),
    ['DE', 'US', 'TR', 'ZZ'],
  )
  assert.deepEqual(
    rowsOf(rows, 'channel').map(([, value]) => value),
    ['Organic Search', 'Referral'],
  )
  assert.deepEqual(
    rowsOf(rows, 'referrer').map(([, value]) => value),
    ['google.com', '', 'news.ycombinator.com', ''],
  )
  assert.deepEqual(rowsOf(rows, 'event'), [['2025-03-01', 'sign_up', { visitors: 1, events: 2 }]])
  assert.deepEqual(
    rowsOf(rows, 'device').map(([, value]) => value),
    ['Mobile', 'Unknown'],
  )
  const days = new Map(checked.lists.map((one) => [one.list, one.days]))
  // The file of countries says that it is about both days, so nobody came from anywhere on 2 March.
  assert.deepEqual(days.get('country'), [['2025-03-01', '2025-03-02']])
  assert.deepEqual(checked.lists.find(({ list }) => list === 'country')?.metrics, ['visitors'])
})

test('Google Analytics: what cannot be imported is refused, with what to change', async () => {
  const refused = async (lines: readonly string[], why: RegExp) =>
    assert.rejects(read(['wrong.csv', `${[...comments('x', '20250301-20250301'), ...lines].join('\n')}\n`]), why)
  await refused(
    ['Date,Active users,Views', '20250301,1,1'],
    /lacks a metric for sessions, bounces, duration: add “Sessions”, “Engaged/,
  )
  await refused(['Date,Country,Browser,Active users', '20250301,Germany,Chrome,1'], /has 2 dimensions besides the date/)
  await refused(['Date,City,Active users', '20250301,Berlin,1'], /has columns that are not known: city/)
  await refused(['Page path,Views,Active users', '/,1,1'], /no table by date/)
  await refused(['Date,Country,Active users', '20250301,Germany,x'], /has a number that cannot be read as active users/)
})

test('Plausible: archives with folders, unpacked files and older columns; broken lines are named', async () => {
  const visitors = [
    'date,visitors,pageviews,bounces,visits,visit_duration',
    ...days(20).map((day) => `${day},2,3,1,2,60`),
  ]
  const { rows, checked } = await read([
    'export.zip',
    zipOf({
      'export/': '',
      'export/imported_visitors_20250301_20250320.csv': `\uFEFF${visitors.join('\r\n')}\r\n2025-03-21,x,1,1,1,1\r\n`,
      '__MACOSX/export/._imported_visitors_20250301_20250320.csv': 'binary',
      'export/imported_sources_20250301_20250320.csv':
        'date,source,utm_medium,utm_campaign,utm_content,utm_term,visitors,visits,visit_duration,bounces\n2025-03-01,Google,,,,,2,2,60,1\n',
      'export/readme.txt': 'hello',
    }),
  ])
  assert.equal(rowsOf(rows, 'total').length, 20)
  assert.deepEqual(checked.broken, [
    'imported_visitors_20250301_20250320.csv: Line 22: has a number of visitors that is not whole',
  ])
  assert.deepEqual(rowsOf(rows, 'channel'), [
    ['2025-03-01', 'Organic Search', { visitors: 2, sessions: 2, bounces: 1, duration: 60_000 }],
  ])
  // Without pageviews, the report of referrers leaves these days out.
  assert.deepEqual(checked.lists.find(({ list }) => list === 'referrer')?.metrics.includes('pageviews'), false)

  const unpacked = await read(['imported_visitors_20250301_20250320.csv', `${visitors.join('\n')}\n`])
  assert.equal(unpacked.checked.lines, 20)
})

test('Plausible: an archive that is cut off, and two that have the same days', async () => {
  const lines = ['date,visitors,pageviews,bounces,visits,visit_duration', '2025-03-01,1,1,1,1,0']
  const archive = zipOf({ 'imported_visitors.csv': `${lines.join('\n')}\n` })
  await assert.rejects(read(['cut.zip', archive.subarray(0, -30)]), /the archive is cut off or broken/)
  await assert.rejects(
    read(
      ['one.zip', archive],
      ['two.zip', zipOf({ 'imported_visitors.csv': `${[...lines, '2025-03-02,1,1,1,1,0'].join('\n')}\n` })],
    ),
    /both have the list total of 2025-03-01/,
  )
  await assert.rejects(read(['none.zip', zipOf({ 'readme.txt': 'hello' })]), /no table by date that Footfall knows/)
})

const days = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `2025-03-${String(index + 1).padStart(2, '0')}`)
