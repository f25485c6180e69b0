// What the numbers of a dashboard are compared with, on a site in Berlin whose numbers are worked out by hand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode, readDashboard, textOf } from './dashboard-page.ts'
import { openRangesSite } from './dashboard-ranges-site.ts'

const changeIn = (text: string) => readDashboard(text).metrics.get('visitors')?.change

const legendIn = (text: string): string => textOf(/<p class="legend">.*?<\/p>/s.exec(text)?.[0] ?? '')

test('a range is compared with the days before, the same days a year earlier, chosen days or nothing', async (t) => {
  const { get } = await openRangesSite(t)
  // 13 to 19 November: four visitors. None in the seven days before, because that of 12 November came in the afternoon; one on 14 November 2025; two on 25 October.
  const cases: [query: string, change: string | undefined, compared: string | undefined][] = [
    ['', '–nothing to compare with', '6 Nov – 12 Nov, until 11:36'],
    ['&match=weekday', '–nothing to compare with', '6 Nov – 12 Nov, until 11:36'],
    ['&compare=year', '▲up 300% from 1', '13 Nov 2025 – 19 Nov 2025, until 11:36'],
    // 364 days: from Friday to Thursday again.
    ['&compare=year&match=weekday', '▲up 300% from 1', '14 Nov 2025 – 20 Nov 2025, until 11:36'],
    ['&compare=2026-10-25/2026-10-26', '▲up 100% from 2', '25 Oct – 26 Oct'],
    ['&compare=off', undefined, undefined],
  ]
  for (const [query, change, compared] of cases) {
    const { text } = await get(`range=7d${query}`)
    assert.deepEqual([query, changeIn(text)], [query, change])
    const legend = legendIn(text)
    if (compared) assert.ok(legend.startsWith(`13 Nov – 19 Nov${compared}`), legend)
    else assert.equal(legend, '13 Nov – 19 Novtoday so far')
  }
})

test('a day is compared with the day before, or with the same weekday', async (t) => {
  const { get } = await openRangesSite(t)
  // Wednesday: two visitors. Tuesday: one; the Wednesday before: none.
  const usual = (await get('range=yesterday')).text
  assert.equal(changeIn(usual), '▲up 100% from 1')
  assert.match(usual, /<span>vs <\/span><b title="Tue 17 Nov">/)
  const matched = (await get('range=yesterday&match=weekday')).text
  assert.equal(changeIn(matched), '–nothing to compare with')
  assert.match(matched, /<span>vs <\/span><b title="Wed 11 Nov">/)
  assert.match(legendIn(matched), /^Wed 18 NovemberWed 11 November/)
})

test('where the compared days begin before the first event, the change is a dash with the reason', async (t) => {
  const { get, console, share } = await openRangesSite(t)
  const reason = '–The compared days begin before the first event, which came on 10 Oct 2025.'
  // 20 November 2024 to 19 November 2025 has two visitors, and the range seven.
  const year = (await get('range=12m')).text
  assert.equal(changeIn(year), reason)
  assert.match(legendIn(year), /20 Nov 2024 – 19 Nov 2025, until 11:36, first event 10 Oct 2025/)
  const described = readDashboard(year).metrics
  assert.deepEqual(
    [...described.values()].map(({ change }) => change),
    Array.from({ length: 5 }, () => reason),
  )
  // Of the weeks only those after the first event have a change: that of 10 to 16 November 2025 had one visitor.
  const changes = Array.from(
    (await get('range=12m&interval=month')).text.matchAll(/<tr data-value="\d+" data-previous="(\d+)"( data-change)?/g),
    ([, previous, change]) => [previous, change !== undefined],
  )
  assert.deepEqual(
    changes.filter(([previous]) => previous !== '0'),
    [
      ['1', false],
      ['1', true],
    ],
  )
  assert.equal(changeIn((await get('range=7d&compare=2025-10-10/2025-10-16')).text), '▲up 300% from 1')
  assert.equal(changeIn((await get('range=7d&compare=2025-10-09/2025-10-16')).text), reason)
  // Behind a link nobody learns of a visitor from France.
  const path = await share('country:is:DE')
  const shared = (await console.stranger().get(`${path}?range=12m`)).text
  assert.equal(changeIn(shared), '–The compared days begin before the first event, which came on 14 Nov 2025.')
})

test('all time is compared only with chosen days, and other ranges remember what was chosen', async (t) => {
  const { get } = await openRangesSite(t)
  const all = (await get('range=all&compare=year')).text
  assert.equal(changeIn(all), undefined)
  assert.match(all, /Before all time there is nothing to compare with/)
  assert.match(all, /href="[^"]*\?range=7d&#38;compare=year"/)
  assert.equal(changeIn((await get('range=all&compare=2025-11-01/2025-11-30')).text), '▲up 800% from 1')
})

test('chosen days are typed into a form, and a mistake comes back with what was typed', async (t) => {
  const { get, at, path } = await openRangesSite(t)
  const form = (start: string, end: string) =>
    get(`range=7d&filter=country:is:DE&compare=days&compare_start=${start}&compare_end=${end}`)
  const { status, headers } = await form('2026-10-25', '2026-10-26')
  const address = `${path}?range=7d&filter=country:is:DE&compare=2026-10-25/2026-10-26`
  assert.deepEqual([status, headers.get('location')], [303, address])
  const wrong = await form('2026-10-26', '2026-10-25')
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /The first day is after the last one\..*name="compare_start" value="2026-10-26"/s)
  const swap = /href="([^"]*)">Swap them/.exec(wrong.text)?.[1] ?? ''
  assert.equal(decode(swap), address)
  assert.equal(changeIn((await at(decode(swap))).text), '▲up 100% from 2')
  for (const [end, sentence] of [
    ['', 'Choose a first and a last day.'],
    ['2026-02-30', 'One of these days does not exist.'],
    ['2226-10-26', undefined],
  ] as const) {
    const { text } = await form('2026-02-01', end)
    if (sentence) assert.ok(text.includes(sentence), sentence)
    assert.equal(text.includes('name="compare_start" value="2026-02-01"'), sentence !== undefined)
  }
  assert.match((await get('range=7d&compare=1800-01-01/2026-10-26')).text, /at most 100 years long/)
})

test('hours are not compared with more days than there are hours of', async (t) => {
  const { get } = await openRangesSite(t)
  const { text } = await get('range=yesterday&compare=2026-10-01/2026-11-15')
  // Three visitors in these 46 days.
  assert.equal(changeIn(text), '▼down 33.3% from 3')
  const read = readDashboard(text)
  assert.deepEqual([read.chartUnit, read.chart.length, read.chart[0]?.length], ['hour', 24, 2])
})
