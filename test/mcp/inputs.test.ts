import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsOf, type Query } from '../../src/mcp/inputs.ts'

/** At this time three zones have three dates: the 17th, the 18th and the 19th. */
const now = Date.parse('2026-11-18T11:00:00Z')
const siteIn = (timeZone: string) => ({ id: 'site_aaaaaaaaaaaaaaaa', domain: 'example.com', timeZone })

function rangeOf(query: Query, timeZone: string, at = now): string {
  const fields = Object.fromEntries(fieldsOf(query, siteIn(timeZone), at))
  return fields.range === 'custom' ? `${fields.start} ${fields.end}` : (fields.range ?? '')
}

test('a range of the calendar is one of the zone of the site, not of the server', () => {
  assert.equal(rangeOf({ range: 'today' }, 'Pacific/Kiritimati'), '2026-11-19 2026-11-19')
  assert.equal(rangeOf({ range: 'today' }, 'Europe/Berlin'), '2026-11-18 2026-11-18')
  assert.equal(rangeOf({ range: 'today' }, 'Pacific/Niue', now - 3_600_000), '2026-11-17 2026-11-17')
  assert.equal(rangeOf({ range: 'yesterday' }, 'Pacific/Kiritimati'), '2026-11-18 2026-11-18')
  // Monday there, Sunday here.
  assert.equal(
    rangeOf({ range: 'last_week' }, 'Pacific/Kiritimati', Date.parse('2026-11-15T11:00:00Z')),
    '2026-11-09 2026-11-15',
  )
  assert.equal(rangeOf({ range: 'last_week' }, 'UTC', Date.parse('2026-11-15T11:00:00Z')), '2026-11-02 2026-11-08')
})

test('without a range it is 30 days; with dates it is custom; never all time', () => {
  assert.equal(rangeOf({}, 'UTC'), '30d')
  assert.equal(rangeOf({ range: '12m' }, 'UTC'), '12m')
  assert.equal(rangeOf({ start: '2026-01-01', end: '2026-01-31' }, 'UTC'), '2026-01-01 2026-01-31')
  assert.throws(() => rangeOf({ range: 'today', end: '2026-01-01' }, 'UTC'), { code: 'invalid_date' })
})

test('filters, metrics and the goal are parameters of the API, with commas and backslashes escaped', () => {
  const asked = {
    metrics: ['visitors', 'revenue:EUR'],
    goal: 'Signup',
    filters: [
      { dimension: 'country', operator: 'is', values: ['DE', 'FR'] },
      { dimension: 'page', operator: 'contains', values: ['a,b\\c'] },
    ],
  } as const
  assert.deepEqual(fieldsOf(structuredClone(asked) as never, siteIn('UTC'), now), [
    ['range', '30d'],
    ['metrics', 'visitors,revenue:EUR'],
    ['goal', 'Signup'],
    ['filter', 'country:is:DE,FR'],
    ['filter', 'page:contains:a\\,b\\\\c'],
  ])
})
