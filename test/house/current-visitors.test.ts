import assert from 'node:assert/strict'
import { test } from 'node:test'
import { periodsOf } from '../../src/calendar/periods.ts'
import { currentVisitors } from '../../src/stats/current-visitors.ts'
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
