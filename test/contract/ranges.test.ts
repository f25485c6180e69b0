// Which instants and dates a range covers: the expected Stats-Period headers and timeseries dates are written by hand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorld } from '../support/world.ts'
import { noon, reportNames } from './vocabulary.ts'

interface Row {
  zone?: string
  now: string
  query: string
  period: string
  previous: string
  /** The number of dates, the first and the last. */
  dates: [number, string, string]
}

const berlin = 'Europe/Berlin'
const anHourPastNoon = '2026-11-15T13:14:15.678Z'

const table: Record<string, Row> = {
  '24h ends now and begins 24 hours earlier': {
    now: anHourPastNoon,
    query: 'range=24h',
    period: '2026-11-14T13:14:15.678+00:00/2026-11-15T13:14:15.678+00:00',
    previous: '2026-11-13T13:14:15.678+00:00/2026-11-14T13:14:15.678+00:00',
    dates: [2, '2026-11-14', '2026-11-15'],
  },
  '24h at midnight touches one date': {
    now: '2026-11-15T00:00:00Z',
    query: 'range=24h',
    period: '2026-11-14T00:00:00+00:00/2026-11-15T00:00:00+00:00',
    previous: '2026-11-13T00:00:00+00:00/2026-11-14T00:00:00+00:00',
    dates: [1, '2026-11-14', '2026-11-14'],
  },
  '24h after a day of 23 hours touches three dates': {
    zone: berlin,
    now: '2026-03-29T22:30:00Z',
    query: 'range=24h',
    period: '2026-03-28T23:30:00+01:00/2026-03-30T00:30:00+02:00',
    previous: '2026-03-27T23:30:00+01:00/2026-03-28T23:30:00+01:00',
    dates: [3, '2026-03-28', '2026-03-30'],
  },
  '24h inside a day of 25 hours touches one date': {
    zone: berlin,
    now: '2026-10-25T22:30:00Z',
    query: 'range=24h',
    period: '2026-10-25T00:30:00+02:00/2026-10-25T23:30:00+01:00',
    previous: '2026-10-24T00:30:00+02:00/2026-10-25T00:30:00+02:00',
    dates: [1, '2026-10-25', '2026-10-25'],
  },
  '7d has seven dates, not eight': {
    now: anHourPastNoon,
    query: 'range=7d',
    period: '2026-11-09T00:00:00+00:00/2026-11-15T13:14:15.678+00:00',
    previous: '2026-11-02T00:00:00+00:00/2026-11-08T13:14:15.678+00:00',
    dates: [7, '2026-11-09', '2026-11-15'],
  },
  '7d has seven dates at midnight too, and the last is today': {
    now: '2026-11-15T00:00:00Z',
    query: 'range=7d',
    period: '2026-11-09T00:00:00+00:00/2026-11-15T00:00:00+00:00',
    previous: '2026-11-02T00:00:00+00:00/2026-11-08T00:00:00+00:00',
    dates: [7, '2026-11-09', '2026-11-15'],
  },
  '7d has seven dates across the end of summer time': {
    zone: berlin,
    now: '2026-10-28T10:00:00Z',
    query: 'range=7d',
    period: '2026-10-22T00:00:00+02:00/2026-10-28T11:00:00+01:00',
    previous: '2026-10-15T00:00:00+02:00/2026-10-21T11:00:00+02:00',
    dates: [7, '2026-10-22', '2026-10-28'],
  },
  '7d has seven dates across the beginning of summer time': {
    zone: berlin,
    now: '2026-04-01T21:59:59Z',
    query: 'range=7d',
    period: '2026-03-26T00:00:00+01:00/2026-04-01T23:59:59+02:00',
    previous: '2026-03-19T00:00:00+01:00/2026-03-25T23:59:59+01:00',
    dates: [7, '2026-03-26', '2026-04-01'],
  },
  '7d in a zone of +5:45': {
    zone: 'Asia/Kathmandu',
    now: '2026-11-15T18:15:00Z', // midnight there: it is the 16th
    query: 'range=7d',
    period: '2026-11-10T00:00:00+05:45/2026-11-16T00:00:00+05:45',
    previous: '2026-11-03T00:00:00+05:45/2026-11-09T00:00:00+05:45',
    dates: [7, '2026-11-10', '2026-11-16'],
  },
  '30d has thirty dates': {
    now: anHourPastNoon,
    query: 'range=30d',
    period: '2026-10-17T00:00:00+00:00/2026-11-15T13:14:15.678+00:00',
    previous: '2026-09-17T00:00:00+00:00/2026-10-16T13:14:15.678+00:00',
    dates: [30, '2026-10-17', '2026-11-15'],
  },
  'the default is 30d': {
    now: '2024-03-30T12:00:00Z',
    query: '',
    period: '2024-03-01T00:00:00+00:00/2024-03-30T12:00:00+00:00',
    previous: '2024-01-31T00:00:00+00:00/2024-02-29T12:00:00+00:00',
    dates: [30, '2024-03-01', '2024-03-30'],
  },
  '90d has ninety dates': {
    now: anHourPastNoon,
    query: 'range=90d',
    period: '2026-08-18T00:00:00+00:00/2026-11-15T13:14:15.678+00:00',
    previous: '2026-05-20T00:00:00+00:00/2026-08-17T13:14:15.678+00:00',
    dates: [90, '2026-08-18', '2026-11-15'],
  },
  '12m contains each calendar date once': {
    now: anHourPastNoon,
    query: 'range=12m',
    period: '2025-11-16T00:00:00+00:00/2026-11-15T13:14:15.678+00:00',
    previous: '2024-11-16T00:00:00+00:00/2025-11-15T13:14:15.678+00:00',
    dates: [365, '2025-11-16', '2026-11-15'],
  },
  '12m on a leap day: the day of the month is clamped first': {
    now: '2024-02-29T12:00:00Z',
    query: 'range=12m',
    period: '2023-03-01T00:00:00+00:00/2024-02-29T12:00:00+00:00',
    previous: '2022-03-01T00:00:00+00:00/2023-02-28T12:00:00+00:00',
    dates: [366, '2023-03-01', '2024-02-29'],
  },
  '12m that begins with a leap day': {
    now: '2025-02-28T12:00:00Z',
    query: 'range=12m',
    period: '2024-02-29T00:00:00+00:00/2025-02-28T12:00:00+00:00',
    previous: '2023-02-28T00:00:00+00:00/2024-02-28T12:00:00+00:00',
    dates: [366, '2024-02-29', '2025-02-28'],
  },
  '12m at the end of a month': {
    now: '2026-08-31T12:00:00Z',
    query: 'range=12m',
    period: '2025-09-01T00:00:00+00:00/2026-08-31T12:00:00+00:00',
    previous: '2024-09-01T00:00:00+00:00/2025-08-31T12:00:00+00:00',
    dates: [365, '2025-09-01', '2026-08-31'],
  },
  'custom includes both dates': {
    now: noon,
    query: 'range=custom&start=2026-11-01&end=2026-11-10',
    period: '2026-11-01T00:00:00+00:00/2026-11-11T00:00:00+00:00',
    previous: '2026-10-22T00:00:00+00:00/2026-11-01T00:00:00+00:00',
    dates: [10, '2026-11-01', '2026-11-10'],
  },
  'custom is cut at now and compared with the same number of dates': {
    now: anHourPastNoon,
    query: 'range=custom&start=2026-11-10&end=2026-11-30',
    period: '2026-11-10T00:00:00+00:00/2026-11-15T13:14:15.678+00:00',
    previous: '2026-11-04T00:00:00+00:00/2026-11-09T13:14:15.678+00:00',
    dates: [6, '2026-11-10', '2026-11-15'],
  },
  'custom cut at midnight has only the dates it touches': {
    now: '2026-11-15T00:00:00Z',
    query: 'range=custom&start=2026-11-10&end=2026-11-15',
    period: '2026-11-10T00:00:00+00:00/2026-11-15T00:00:00+00:00',
    previous: '2026-11-05T00:00:00+00:00/2026-11-10T00:00:00+00:00',
    dates: [5, '2026-11-10', '2026-11-14'],
  },
  'custom over a leap day': {
    now: noon,
    query: 'range=custom&start=2024-02-29&end=2024-02-29',
    period: '2024-02-29T00:00:00+00:00/2024-03-01T00:00:00+00:00',
    previous: '2024-02-28T00:00:00+00:00/2024-02-29T00:00:00+00:00',
    dates: [1, '2024-02-29', '2024-02-29'],
  },
  'custom over a day of 23 hours': {
    zone: berlin,
    now: noon,
    query: 'range=custom&start=2026-03-29&end=2026-03-29',
    period: '2026-03-29T00:00:00+01:00/2026-03-30T00:00:00+02:00',
    previous: '2026-03-28T00:00:00+01:00/2026-03-29T00:00:00+01:00',
    dates: [1, '2026-03-29', '2026-03-29'],
  },
  'custom over a day that begins at 01:00': {
    zone: 'America/Santiago',
    now: noon,
    query: 'range=custom&start=2026-09-06&end=2026-09-06',
    period: '2026-09-06T01:00:00-03:00/2026-09-07T00:00:00-03:00',
    previous: '2026-09-05T00:00:00-04:00/2026-09-06T01:00:00-03:00',
    dates: [1, '2026-09-06', '2026-09-06'],
  },
  'a custom date-time counts as its date as written': {
    zone: 'Asia/Tokyo',
    now: noon,
    query: 'range=custom&start=2026-11-10T15:00:00Z&end=2026-11-11t23:59:59.999999999-12:00',
    period: '2026-11-10T00:00:00+09:00/2026-11-12T00:00:00+09:00',
    previous: '2026-11-08T00:00:00+09:00/2026-11-10T00:00:00+09:00',
    dates: [2, '2026-11-10', '2026-11-11'],
  },
  'custom of a hundred years': {
    now: noon,
    query: 'range=custom&start=1926-11-16&end=2026-11-15',
    period: '1926-11-16T00:00:00+00:00/2026-11-15T12:00:00+00:00',
    previous: '1826-11-15T00:00:00+00:00/1926-11-15T12:00:00+00:00',
    dates: [36525, '1926-11-16', '2026-11-15'],
  },
}

for (const [name, { zone = 'UTC', now, query, period, previous, dates }] of Object.entries(table)) {
  test(name, async (t) => {
    const world = await openWorld(t, { zone, now })
    const overview = await world.get('/stats/overview', query)
    assert.deepEqual(
      [overview.headers.get('stats-period'), overview.headers.get('stats-previous-period')],
      [period, previous],
    )
    const days: { date: string }[] = await world.data('/stats/timeseries', query)
    assert.deepEqual([days.length, days[0]?.date, days.at(-1)?.date], dates)
  })
}

test('every report has a period header, and only overview has one for the previous period', async (t) => {
  const world = await openWorld(t, { now: noon })
  for (const name of reportNames) {
    const { headers } = await world.get(`/stats/${name}`, 'range=7d')
    assert.equal(headers.get('stats-period'), '2026-11-09T00:00:00+00:00/2026-11-15T12:00:00+00:00')
    assert.equal(headers.has('stats-previous-period'), name === 'overview')
  }
})
