import assert from 'node:assert/strict'
import { test } from 'node:test'
import { periodsFor, queryOf } from '../../../bench/scale/queries.ts'
import { siteOf, smallSites } from '../../../bench/scale/sites.ts'
import { rowsNeeded } from '../../../bench/scale/values.ts'
import { type Period, partialEnd } from '../../../src/calendar/periods.ts'

const now = Temporal.ZonedDateTime.from('2026-11-15T12:30[UTC]')

test('windows that end yesterday have as many whole days as those that end today', () => {
  const days = ({ firstDay, lastDay }: Period) => `${firstDay} ${lastDay}`
  const yesterday = periodsFor('30d', 'yesterday', now).current
  assert.equal(days(yesterday), '2026-10-16 2026-11-14')
  assert.equal(partialEnd(yesterday), null)
  const today = periodsFor('30d', 'today', now).current
  assert.equal(days(today), '2026-10-17 2026-11-15')
  assert.equal(partialEnd(today), now.epochMilliseconds)
  assert.equal(days(periodsFor('12m', 'yesterday', now).current), '2025-11-15 2026-11-14')
})

test('a response needs a row per value and closed day of its grouping sets, and the events of today', () => {
  const day = (events: number, country: number) => ({ day: 1, events, country, channel: 4 })
  const values = {
    none: { '2026-11-08': day(70, 9), '2026-11-09': day(80, 10), '2026-11-14': day(90, 11), '2026-11-15': day(40, 7) },
    country: { '2026-11-14': day(9, 1) },
    GB: { '2026-11-09': day(8, 1), '2026-11-14': day(9, 1) },
    FR: { '2026-11-09': day(5, 1) },
  }
  const query = (window: 'today' | 'yesterday') =>
    queryOf({ site: siteOf('a', 1), report: 'geo', range: '7d', window, filter: 'none' }, now, [])
  // Seven days from the 9th, or from the 8th.
  assert.deepEqual(rowsNeeded(values, 'geo', 'none', query('today')), { rolledUp: 21, raw: 40 })
  assert.deepEqual(rowsNeeded(values, 'geo', 'none', query('yesterday')), { rolledUp: 30, raw: 0 })
  assert.deepEqual(rowsNeeded(values, 'geo', 'country', query('yesterday')), { rolledUp: 1, raw: 0 })
  // Everything, and the rows to subtract.
  assert.deepEqual(rowsNeeded(values, 'geo', 'excluded', query('yesterday')), { rolledUp: 33, raw: 0 })
  // The shares of channels need the total; overview has a previous period, here the days up to the 7th or 8th at noon.
  assert.deepEqual(rowsNeeded(values, 'channels', 'none', query('yesterday')), { rolledUp: 15, raw: 0 })
  assert.deepEqual(rowsNeeded(values, 'overview', 'none', query('today')), { rolledUp: 2, raw: 110 })
})

test('a thousand small sites, the largest first, half of them with ten events per day', () => {
  const sites = smallSites(1_000)
  assert.equal(sites.length, 1_000)
  assert.equal(new Set(sites.map(({ id }) => id)).size, 1_000)
  assert.equal(sites[0]?.events, 200_000)
  assert.equal(sites.filter(({ events }) => events === 4_000).length, 500)
  for (const { id } of sites) assert.match(id, /^site_[a-z2-7]{16}$/)
})
