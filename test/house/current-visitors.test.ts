import assert from 'node:assert/strict'
import { test } from 'node:test'
import { periodsOf } from '../../src/calendar/periods.ts'
import { currentVisitors } from '../../src/stats/current-visitors.ts'
import { createStatsService } from '../../src/stats/service.ts'
import { planned, type UnplannedQuery } from '../support/planned-query.ts'
import { conditionsOf, recordingStore, statementFaults } from './scope-rules.ts'

const now = Temporal.ZonedDateTime.from('2026-03-14T15:09:26.535[Europe/Berlin]')
const asked: UnplannedQuery = {
  siteId: 'site_the-one-we-ask-for',
  ...periodsOf({ name: '24h' }, now),
  filters: { country: 'FR', device: 'Tablet', hostname: 'host.example', utmSource: 'a source' },
  excludedCountries: ['IS', 'NO'],
  versions: [],
  limit: 17,
}
const query = planned(asked, {})
const start = now.subtract({ minutes: 5 })
const lastMinutes = { start, end: now, firstDay: start.toPlainDate(), lastDay: now.toPlainDate() }

const reads = {
  'current visitors': {
    read: (store: never) => currentVisitors.read(store, query),
    query: { ...query, current: lastMinutes },
  },
}

for (const [name, { read, query }] of Object.entries(reads))
  test(`${name}: the statement has the site, the period, the exclusions and each filter, and needs all of them`, async () => {
    const store = recordingStore([])
    await read(store as never)
    assert.equal(store.statements.length, 1)
    for (const statement of store.statements) {
      assert.deepEqual(statementFaults(statement, query), [], statement.text)
      const needed = [query.current, query.previous].flatMap((period) => conditionsOf(statement, query, period))
      const present = needed.filter(({ text }) => statement.text.includes(text))
      assert.ok(present.length >= 9)
      for (const condition of present) {
        const cut = { ...statement, text: statement.text.replaceAll(condition.text, 'true') }
        assert.notDeepEqual(statementFaults(cut, query), [], `without ${condition.name}`)
      }
    }
  })

test('live: each part of the statement has the site, the days, the exclusions and its window', async () => {
  const store = recordingStore([])
  const { live } = createStatsService({
    cluster: { of: () => store },
    now: () => now.epochMilliseconds,
    cacheBytes: 0,
  })
  const coverage = {
    versions: [],
    today: null,
    settledThrough: null,
    invalidations: 0,
    eventsFrom: '1970-01-01',
    imported: [],
  }
  const { siteId: id, excludedCountries } = asked
  await live.read({ id, timeZone: 'Europe/Berlin', excludedCountries, goals: [], shard: 1, coverage })
  const [statement, ...others] = store.statements
  assert.ok(statement)
  assert.deepEqual(others, [])
  const parts = statement.text.split(/FROM events/).slice(1)
  assert.equal(parts.length, 3)
  const halfHour = now.round({ smallestUnit: 'minute', roundingMode: 'floor' }).subtract({ minutes: 29 })
  for (const [index, part] of parts.entries()) {
    const start = index === 0 ? lastMinutes.start : halfHour
    const conditions = conditionsOf(statement, query, { ...lastMinutes, start })
    // It has no filters.
    const needed = conditions.filter(({ name }) => /site|days|exclusions|instant/.test(name))
    assert.equal(needed.length, 5)
    for (const { name, text } of needed) assert.ok(part.includes(text), `${name} in ${part}`)
  }
})
