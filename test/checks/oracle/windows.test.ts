// Every expected value here was computed by hand from a calendar, as the comments say; none was copied from output.
import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dataOf, datesOf, periodsOf, siteWith, view } from './examples.ts'

describe('windows of each range', () => {
  // A Sunday in Berlin; the clocks went back on October 25, so earlier offsets are +02:00.
  const now = '2026-11-15T12:34:56.789+01:00'
  const end = '2026-11-15T12:34:56.789+01:00'
  const windows: Record<string, string[]> = {
    'range=24h': [
      `2026-11-14T12:34:56.789+01:00/${end}`,
      '2026-11-13T12:34:56.789+01:00/2026-11-14T12:34:56.789+01:00',
    ],
    // 15 - 6 = 9; 9 - 7 = 2; 15 - 7 = 8.
    'range=7d': [`2026-11-09T00:00:00+01:00/${end}`, '2026-11-02T00:00:00+01:00/2026-11-08T12:34:56.789+01:00'],
    // 29 days before: 15 to October 31, 14 more to the 17th. 30 before that: 17 to September 30, 13 more to the 17th.
    // 30 days before November 15: October 16.
    'range=30d': [`2026-10-17T00:00:00+02:00/${end}`, '2026-09-17T00:00:00+02:00/2026-10-16T12:34:56.789+02:00'],
    // 89 = 15 + 31 + 30 to August 31, + 13 to the 18th. 90 before that = 18 + 31 + 30 to May 31, + 11 to the 20th.
    'range=90d': [`2026-08-18T00:00:00+02:00/${end}`, '2026-05-20T00:00:00+02:00/2026-08-17T12:34:56.789+02:00'],
    'range=12m': [`2025-11-16T00:00:00+01:00/${end}`, '2024-11-16T00:00:00+01:00/2025-11-15T12:34:56.789+01:00'],
    // Three whole days, so compared with the three whole days before.
    'range=custom&start=2026-11-01&end=2026-11-03': [
      '2026-11-01T00:00:00+01:00/2026-11-04T00:00:00+01:00',
      '2026-10-29T00:00:00+01:00/2026-11-01T00:00:00+01:00',
    ],
    // Cut at now: two dates are left, so the shift is two days.
    'range=custom&start=2026-11-14&end=2026-11-20': [
      `2026-11-14T00:00:00+01:00/${end}`,
      '2026-11-12T00:00:00+01:00/2026-11-13T12:34:56.789+01:00',
    ],
    // Not begun: both windows are empty.
    'range=custom&start=2026-11-16&end=2026-11-20': [
      '2026-11-16T00:00:00+01:00/2026-11-16T00:00:00+01:00',
      '2026-11-16T00:00:00+01:00/2026-11-16T00:00:00+01:00',
    ],
  }
  for (const [query, periods] of Object.entries(windows)) {
    test(query, () => deepEqual(periodsOf('Europe/Berlin', query, now), periods))
  }

  test('30d is the default', () =>
    deepEqual(periodsOf('Europe/Berlin', '', now), periodsOf('Europe/Berlin', 'range=30d', now)))

  test('7d has seven dates, 12m in a common year has 365, a future window has none', () => {
    const site = siteWith([], 'Europe/Berlin')
    // November 9 to 15.
    const week = ['09', '10', '11', '12', '13', '14', '15'].map((day) => `2026-11-${day}`)
    deepEqual(datesOf(site, 'range=7d', now), week)
    equal(datesOf(site, 'range=30d', now).length, 30)
    equal(datesOf(site, 'range=90d', now).length, 90)
    equal(datesOf(site, 'range=12m', now).length, 365)
    deepEqual(datesOf(site, 'range=24h', now), ['2026-11-14', '2026-11-15'])
    deepEqual(datesOf(site, 'range=custom&start=2026-11-14&end=2026-11-20', now), ['2026-11-14', '2026-11-15'])
    deepEqual(datesOf(site, 'range=custom&start=2026-11-16&end=2026-11-20', now), [])
  })
})

describe('leap days and midnights', () => {
  test('12m on February 29 begins on March 1, its previous window ends on February 28', () => {
    // 2024-02-29 - 12 months is clamped to 2023-02-28; a day later is March 1.
    deepEqual(periodsOf('UTC', 'range=12m', '2024-02-29T12:00Z'), [
      '2023-03-01T00:00:00+00:00/2024-02-29T12:00:00+00:00',
      '2022-03-01T00:00:00+00:00/2023-02-28T12:00:00+00:00',
    ])
  })

  test('12m can begin on February 29, and is then compared from February 28', () => {
    // 2025-02-28 - 12 months = 2024-02-28; a day later is the 29th, which 2023 has not.
    deepEqual(periodsOf('UTC', 'range=12m', '2025-02-28T12:00Z'), [
      '2024-02-29T00:00:00+00:00/2025-02-28T12:00:00+00:00',
      '2023-02-28T00:00:00+00:00/2024-02-28T12:00:00+00:00',
    ])
    // 365 dates from March 1 to February 28, and the 29th.
    equal(datesOf(siteWith([]), 'range=12m', '2025-02-28T12:00Z').length, 366)
  })

  test('at midnight today is the last date of 7d, and 24h and custom end with yesterday', () => {
    const now = '2026-11-15T00:00Z'
    equal(datesOf(siteWith([]), 'range=7d', now).at(-1), '2026-11-15')
    equal(datesOf(siteWith([]), 'range=7d', now).length, 7)
    deepEqual(datesOf(siteWith([]), 'range=24h', now), ['2026-11-14'])
    deepEqual(datesOf(siteWith([]), 'range=custom&start=2026-11-13&end=2026-11-15', now), ['2026-11-13', '2026-11-14'])
    // Two dates after the cut: the 11th and 12th, both whole.
    deepEqual(periodsOf('UTC', 'range=custom&start=2026-11-13&end=2026-11-15', now), [
      '2026-11-13T00:00:00+00:00/2026-11-15T00:00:00+00:00',
      '2026-11-11T00:00:00+00:00/2026-11-13T00:00:00+00:00',
    ])
  })
})

describe('days on which the clocks change', () => {
  test('24h touches one date inside a day of 25 hours, and three around a day of 23', () => {
    const site = siteWith([], 'Europe/Berlin')
    // October 25 runs from 22:00Z on the 24th to 23:00Z on the 25th; 22:30Z - 24 h is half an hour into it.
    deepEqual(datesOf(site, 'range=24h', '2026-10-25T22:30Z'), ['2026-10-25'])
    // March 29 runs from 23:00Z on the 28th to 22:00Z on the 29th; 22:15Z is the 30th, a day earlier still the 28th.
    deepEqual(datesOf(site, 'range=24h', '2026-03-29T22:15Z'), ['2026-03-28', '2026-03-29', '2026-03-30'])
  })

  test('a window starts at 01:00 on a day that begins at 01:00', () => {
    // Havana skipped 00:00 to 01:00 on Sunday March 8. 14 - 6 = 8; 14 - 7 = 7.
    deepEqual(periodsOf('America/Havana', 'range=7d', '2026-03-14T00:30:00-04:00'), [
      '2026-03-08T01:00:00-04:00/2026-03-14T00:30:00-04:00',
      '2026-03-01T00:00:00-05:00/2026-03-07T00:30:00-05:00',
    ])
  })

  test('an hour that the earlier day skipped becomes the next one', () => {
    // 15 - 7 = 8, and 00:30 there is 01:30.
    equal(
      periodsOf('America/Havana', 'range=7d', '2026-03-15T00:30:00-04:00')[1],
      '2026-03-02T00:00:00-05:00/2026-03-08T01:30:00-04:00',
    )
  })

  test('such an hour is never in the next day: the windows do not overlap', () => {
    // Nuuk skipped 23:00 to 24:00 on Saturday March 28, so 23:30 would be 00:30 on the 29th, where 7d begins.
    deepEqual(periodsOf('America/Nuuk', 'range=7d', '2026-04-04T23:30:00-01:00'), [
      '2026-03-29T00:00:00-01:00/2026-04-04T23:30:00-01:00',
      '2026-03-22T00:00:00-02:00/2026-03-29T00:00:00-01:00',
    ])
  })

  test('a date that the zone skipped still counts: custom includes both ends, 7d has seven dates', () => {
    // Apia went from the end of 2011-12-29 at -10:00 straight to 2011-12-31 at +14:00. An event recorded on the 30th in another zone, before
    // the site moved there, is still found on the 30th.
    const site = siteWith([view('2011-12-30T09:00Z')], 'Pacific/Apia')
    const row = (day: string, count: number) => ({ date: `2011-12-${day}`, visitors: count, pageviews: count })
    const now = '2012-01-02T12:00:00+14:00'
    const custom = (start: string, end: string) =>
      dataOf(site, 'timeseries', `range=custom&start=2011-12-${start}&end=2011-12-${end}`, now)
    deepEqual(custom('29', '30'), [row('29', 0), row('30', 1)])
    deepEqual(custom('30', '31'), [row('30', 1), row('31', 0)])
    deepEqual(custom('30', '30'), [row('30', 1)])
    // January 2 and the six calendar dates before it: 1, 31, 30, 29, 28, 27.
    equal(datesOf(site, 'range=7d', now)[0], '2011-12-27')
    // Both end where the 29th ends and the 31st begins; it is one date, so the day before is the 29th.
    deepEqual(periodsOf('Pacific/Apia', 'range=custom&start=2011-12-30&end=2011-12-30', now), [
      '2011-12-31T00:00:00+14:00/2011-12-31T00:00:00+14:00',
      '2011-12-29T00:00:00-10:00/2011-12-31T00:00:00+14:00',
    ])
  })

  test('a custom window of whole days is compared with whole days, from 00:00 to 00:00 or 01:00', () => {
    // The day before March 8 in Havana ends where that one begins, at 01:00.
    deepEqual(periodsOf('America/Havana', 'range=custom&start=2026-03-08&end=2026-03-08', '2026-04-01T12:00Z'), [
      '2026-03-08T01:00:00-04:00/2026-03-09T00:00:00-04:00',
      '2026-03-07T00:00:00-05:00/2026-03-08T01:00:00-04:00',
    ])
  })
})

describe('the recorded day', () => {
  test('selects a whole day, in any current zone', () => {
    // Recorded in Kiritimati (+14:00) at 11:00Z on the 14th, which was 01:00 on the 15th there; the site is in UTC now.
    const site = siteWith([view('2026-11-14T11:00Z', { day: '2026-11-15' })])
    const now = '2026-11-17T12:00Z'
    const row = (date: string, count: number) => ({ date, visitors: count, pageviews: count })
    deepEqual(dataOf(site, 'timeseries', 'range=custom&start=2026-11-14&end=2026-11-15', now), [
      row('2026-11-14', 0),
      row('2026-11-15', 1),
    ])
    deepEqual(dataOf(site, 'timeseries', 'range=custom&start=2026-11-14&end=2026-11-14', now), [row('2026-11-14', 0)])
  })

  test('instants matter only on a partial day', () => {
    // 24h from noon to noon: the 14th from noon on, the 15th before noon.
    const site = siteWith([
      view('2026-11-14T11:59:59.999Z'),
      view('2026-11-14T12:00:00.000Z'),
      view('2026-11-15T11:59:59.999Z'),
      view('2026-11-15T12:00:00.000Z'),
      // One event carries the 14th, recorded in another zone long before; the other carries the 15th, recorded long after.
      view('2026-11-13T13:00Z', { day: '2026-11-14' }),
      view('2026-11-16T00:30Z', { day: '2026-11-15' }),
    ])
    deepEqual(dataOf(site, 'timeseries', 'range=24h', '2026-11-15T12:00Z'), [
      { date: '2026-11-14', visitors: 1, pageviews: 1 },
      { date: '2026-11-15', visitors: 1, pageviews: 1 },
    ])
    // In 7d the 14th is a whole day: its three events count, including the one from before it.
    deepEqual((dataOf(site, 'timeseries', 'range=7d', '2026-11-15T12:00Z') as object[]).slice(5), [
      { date: '2026-11-14', visitors: 3, pageviews: 3 },
      { date: '2026-11-15', visitors: 1, pageviews: 1 },
    ])
  })
})

describe('refused dates', () => {
  const now = '2026-11-15T12:00Z'
  const refused = (query: string) => equal(dataOf(siteWith([]), 'pages', query, now), 'invalid_date', query)
  const accepted = (query: string) => deepEqual(dataOf(siteWith([]), 'pages', query, now), [], query)

  test('one is missing, they are in the wrong order, or no such day exists', () => {
    refused('range=custom')
    refused('range=custom&start=2026-11-01')
    refused('range=custom&end=2026-11-01')
    refused('range=custom&start=2026-11-02&end=2026-11-01')
    refused('range=custom&start=2026-02-29&end=2026-11-01')
    refused('range=7d&start=tomorrow')
    refused('range=7d&end=')
  })

  test('more than 100 years, after the cut at now', () => {
    // From 1926-11-15 on, a hundred years end with 2026-11-14; today is one day too many, whatever end says.
    refused('range=custom&start=1926-11-15&end=2026-11-15')
    refused('range=custom&start=1926-11-15&end=2099-01-01')
    accepted('range=custom&start=1926-11-15&end=2026-11-14')
    accepted('range=custom&start=1926-11-16&end=2099-01-01')
  })

  test('a date-time counts as its date as written, and a date may be written without hyphens', () => {
    // 23:30Z on the 2nd is 00:30 on the 3rd in Berlin.
    deepEqual(datesOf(siteWith([], 'Europe/Berlin'), 'range=custom&start=2026-11-02T23:30:00Z&end=20261103', now), [
      '2026-11-02',
      '2026-11-03',
    ])
    refused('range=7d&end=2026-11-02T24:00')
    refused('range=7d&end=2026-11-02T2330')
    refused('range=7d&end=20261102T23:30')
    accepted('range=7d&end=20261102T2330Z')
  })

  test('a fault of another parameter is reported first', () =>
    equal(dataOf(siteWith([]), 'pages', 'start=x&limit=101', now), 'invalid_parameter'))
})
