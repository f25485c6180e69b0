// Intervals, ranges and comparison of the dashboard, on a site in Berlin with a few hits whose numbers are worked out by hand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode, readDashboard } from './dashboard-page.ts'
import { openRangesSite } from './dashboard-ranges-site.ts'

/** The question of a command that the page offers. */
const commandIn = (text: string, id: string): string =>
  decode(new RegExp(`id="curl-${id}".*?(/api/v2/[^"]*)"`, 's').exec(text)?.[1] ?? '')

test('a range offers the intervals that can be read, and begins with the one that is read best', async (t) => {
  const { get } = await openRangesSite(t)
  const expected: [query: string, offered: string, chosen: string][] = [
    ['range=24h', '', 'hour'],
    ['range=custom&start=2026-11-16&end=2026-11-16', '', 'hour'],
    ['range=custom&start=2026-11-15&end=2026-11-16', '', 'hour'],
    ['range=custom&start=2026-11-14&end=2026-11-16', 'Hour Day', 'day'],
    ['range=7d', 'Hour Day', 'day'],
    ['range=custom&start=2026-11-09&end=2026-11-16', '', 'day'],
    ['range=30d', 'Day Week', 'day'],
    ['range=90d', 'Day Week Month', 'day'],
    ['range=12m', 'Day Week Month', 'week'],
    ['range=custom&start=2022-01-01&end=2026-11-16', 'Week Month', 'month'],
    ['range=custom&start=1990-01-01&end=2026-11-16', '', 'month'],
    // What cannot be shown is not drawn, whatever the address says.
    ['range=30d&interval=hour', 'Day Week', 'day'],
    ['range=12m&interval=month', 'Day Week Month', 'month'],
    ['range=12m&interval=decade', 'Day Week Month', 'week'],
  ]
  for (const [query, offered, chosen] of expected) {
    const { text } = await get(query)
    const shown = /<nav class="intervals".*?<\/nav>/s.exec(text)?.[0] ?? ''
    const names = Array.from(shown.matchAll(/<a[^>]*>(\w+)<\/a>/g), ([, name]) => name).join(' ')
    assert.deepEqual([query, names, readDashboard(text).chartUnit], [query, offered, chosen])
  }
})

test('weeks begin on Monday and have the days that are in the range, months their names', async (t) => {
  const { get } = await openRangesSite(t)
  const weeks = readDashboard((await get('range=30d&interval=week')).text).chart
  // The last 30 days of 19 November begin on Wednesday, 21 October.
  assert.deepEqual(
    weeks.map(([name, value]) => [name, value]),
    [
      ['21 – 25 Oct', '2'],
      ['26 Oct – 1 Nov', '0'],
      ['2 – 8 Nov', '0'],
      ['9 – 15 Nov', '1'],
      ['16 – 19 Nov', '4'],
    ],
  )
  const months = readDashboard((await get('range=90d&interval=month&compare=off')).text).chart
  assert.deepEqual(months, [
    ['August 2026', '0'],
    ['September 2026', '0'],
    ['October 2026', '2'],
    ['November 2026', '5'],
  ])
})

test('a day is shown by its hours as bars, the day on which clocks change with 25, and today until now', async (t) => {
  const { get } = await openRangesSite(t)
  const changed = (await get('range=custom&start=2026-10-25&end=2026-10-25&compare=off')).text
  const hours = readDashboard(changed).chart
  assert.equal(hours.length, 25)
  assert.deepEqual(hours.slice(1, 4), [
    ['25 Oct, 01:00 to 02:00', '0'],
    ['25 Oct, 02:00 to 02:00', '1'],
    ['25 Oct, 02:00 to 03:00', '1'],
  ])
  assert.equal(changed.match(/<rect class="hour/g)?.length, 25)
  assert.match(changed, /The hours add up to 2: who stays/)
  assert.doesNotMatch(changed, /so far/)
  // It is 11:36 in Berlin.
  const today = (await get('range=custom&start=2026-11-19&end=2026-11-19')).text
  const shown = readDashboard(today).chart
  assert.deepEqual(shown.slice(-2), [
    ['19 Nov, 10:00 to 11:00', '0', '1', '18 Nov, 10:00 to 11:00'],
    ['19 Nov, 11:00 to 11:36', '1', '0', '18 Nov, 11:00 to 11:36'],
  ])
  assert.equal(today.match(/<rect class="hour open"/g)?.length, 1)
  // The twelfth of 24 bars: the rest of the day has its room.
  assert.match(today, /<rect class="hour open" x="46\.5%" width="2\.83%"/)
  assert.match(today, /Thu 19 November.*Wed 18 November, until 11:36.*this hour so far/s)
})

test('a click on a point opens its days, and a day opens by the hour', async (t) => {
  const { get, at } = await openRangesSite(t)
  const pointsOf = (text: string) => {
    const drawn = /<svg class="opens".*?<\/svg>/s.exec(text)?.[0] ?? ''
    const listed = /<table id="chart-numbers">.*?<\/table>/s.exec(text)?.[0] ?? ''
    const hrefs = (part: string) => Array.from(part.matchAll(/<a href="([^"]*)"/g), ([, href = '']) => decode(href))
    assert.deepEqual(hrefs(drawn), hrefs(listed))
    return hrefs(drawn)
  }
  const weeks = pointsOf((await get('range=12m&filter=country:is:DE&interval=week')).text)
  assert.equal(weeks.length, 53)
  const week = await at(weeks[51] as string)
  assert.match(weeks[51] as string, /\?range=custom&start=2026-11-09&end=2026-11-15&filter=country:is:DE$/)
  const days = pointsOf(week.text)
  assert.equal(days.length, 7)
  const day = readDashboard((await at(days[3] as string)).text)
  assert.deepEqual(
    [day.chartUnit, day.chart.filter(([, value]) => value !== '0').map(([name, value]) => [name, value])],
    ['hour', [['12 Nov, 15:00 to 16:00', '1']]],
  )
  assert.deepEqual(pointsOf((await at(days[3] as string)).text), [])
})

test('the ranges of the calendar are the days of the site at its current time, and the API is asked for these', async (t) => {
  const { get, run } = await openRangesSite(t)
  const expected: [range: string, visitors: string, start: string, end: string][] = [
    ['today', '1', '2026-11-19', '2026-11-19'],
    ['yesterday', '2', '2026-11-18', '2026-11-18'],
    ['this_week', '4', '2026-11-16', '2026-11-19'],
    ['this_month', '5', '2026-11-01', '2026-11-19'],
    ['last_month', '2', '2026-10-01', '2026-10-31'],
    ['this_year', '7', '2026-01-01', '2026-11-19'],
    ['all', '9', '2025-10-10', '2026-11-19'],
  ]
  for (const [range, visitors, start, end] of expected) {
    const { text } = await get(`range=${range}&compare=off`)
    assert.deepEqual([range, readDashboard(text).metrics.get('visitors')?.text], [range, visitors])
    const question = commandIn(text, 'totals')
    assert.match(question, new RegExp(`&range=custom&start=${start}&end=${end}$`))
    assert.equal(String((await run(question)).json.data.visitors), visitors)
    // Links keep the name, so that the address means the same tomorrow.
    assert.match(text, new RegExp(`href="[^"]*\\?range=${range}&#38;compare=off&#38;countries=map"`))
  }
})

test('a day has arrows to the days beside it, and there is none after today', async (t) => {
  const { get, at } = await openRangesSite(t)
  const arrow = (text: string, which: string) =>
    decode(new RegExp(`<a class="pick beside" href="([^"]*)" aria-label="The day ${which}:`).exec(text)?.[1] ?? '')
  const yesterday = (await get('range=yesterday')).text
  assert.match(yesterday, /<span>Yesterday <\/span><b title="Wed 18 November">Wed 18 Nov<\/b>/)
  assert.match(arrow(yesterday, 'before'), /range=custom&start=2026-11-17&end=2026-11-17$/)
  const today = (await at(arrow(yesterday, 'after'))).text
  assert.match(today, /<span>Today <\/span><b title="Thu 19 November">Thu 19 Nov<\/b>/)
  assert.equal(arrow(today, 'after'), '')
  assert.doesNotMatch((await get('range=7d')).text, /The day before/)
})

test('behind a link all time begins with the first day that it shows', async (t) => {
  const { console, share } = await openRangesSite(t)
  const visitor = console.stranger()
  const firstOf = async (path: string) =>
    readDashboard((await visitor.get(`${path}?range=all&interval=month`)).text).chart[0]?.[0]
  assert.equal(await firstOf(await share()), 'October 2025')
  assert.equal(await firstOf(await share('country:is:FR')), 'October 2025')
  assert.equal(await firstOf(await share('country:is:DE')), 'November 2025')
})
