import assert from 'node:assert/strict'
import { test } from 'node:test'
import { periodsOf } from '../../src/calendar/periods.ts'
import type { StatsQuery } from '../../src/stats/daily-metrics.ts'
import type { Report } from '../../src/stats/report.ts'
import { reports } from '../../src/stats/reports.ts'
import { sql, text } from '../../src/stores/clickhouse-sql.ts'
import { planned, type UnplannedQuery } from '../support/planned-query.ts'
import { conditionsOf, periodsRead, recordingStore, statementFaults, titleConditions } from './scope-rules.ts'

// Every value is unique, so that finding it in a statement means finding its condition; `24h` cuts both its edges.
const asked: UnplannedQuery = {
  siteId: 'site_the-one-we-ask-for',
  ...periodsOf({ name: '24h' }, Temporal.ZonedDateTime.from('2026-03-14T15:09:26.535[Europe/Berlin]')),
  filters: { country: 'FR', device: 'Tablet', hostname: 'host.example', utmSource: 'a source' },
  excludedCountries: ['IS', 'NO'],
  versions: [],
  limit: 17,
}

/** A month in which all days except the first and the last week are rolled up. */
const askedRolledUp: UnplannedQuery = {
  ...asked,
  ...periodsOf({ name: '30d' }, Temporal.ZonedDateTime.from('2026-03-14T15:09:26.535[Europe/Berlin]')),
  versions: [{ version: 4711, layout: 1, days: [['2026-01-20', '2026-03-07']], months: [] }],
}

const rows = [
  { period: 'current', visitors: 2, pageviews: 3, sessions: 2, bounces: 1, duration: 1500, pathname: '/a', code: 'FR' },
  { period: 'previous', visitors: 1, pageviews: 1, sessions: 1, bounces: 1, duration: 0, pathname: '/b', code: 'DE' },
]

async function statementsOf(report: Report, query: StatsQuery) {
  const store = recordingStore(rows)
  await report.read(store, query)
  return store.statements
}

for (const [name, report] of Object.entries<Report>(reports)) {
  const query = planned(asked, report)
  const rolledUpQuery = planned(askedRolledUp, report)
  test(`${name}: every statement has the site, the period, the exclusions and each filter`, async () => {
    const statements = await statementsOf(report, query)
    assert.ok(statements.length > 0, 'queries the store')
    for (const statement of statements) assert.deepEqual(statementFaults(statement, query), [], statement.text)
  })

  test(`${name}: with rollups, every source still has the site, the exclusions and each filter`, async () => {
    const statements = await statementsOf(report, rolledUpQuery)
    assert.match(statements[0]?.text ?? '', /FROM (short|long)_rollups/)
    for (const statement of statements) {
      assert.deepEqual(statementFaults(statement, rolledUpQuery), [], statement.text)
      if (!statement.text.includes('FROM events')) continue
      for (const condition of conditionsOf(statement, rolledUpQuery, rolledUpQuery.current)) {
        if (/days|instant/.test(condition.name)) continue
        const cut = { ...statement, text: statement.text.replaceAll(condition.text, 'true') }
        assert.notDeepEqual(statementFaults(cut, rolledUpQuery), [], `without ${condition.name}`)
      }
    }
  })

  test(`${name}: reads the requested period`, async () => {
    const read = (await statementsOf(report, query)).flatMap((statement) => periodsRead(statement, query))
    assert.deepEqual([...new Set(read)], name === 'overview' ? ['current', 'previous'] : ['current'])
  })

  test(`${name}: the limit reaches ClickHouse or cuts the rows exactly when it applies`, async () => {
    const many = recordingStore(Array.from({ length: 40 }, (_, index) => ({ ...rows[index % 2], name: `${index}` })))
    const { data: answer } = await report.read(many, query)
    const asked = many.statements.some(({ parameters }) => Object.values(parameters).includes(17))
    assert.equal(asked || (Array.isArray(answer) && answer.length === 17), report.limited)
  })

  test(`${name}: removing any condition from a statement is noticed`, async () => {
    for (const statement of await statementsOf(report, query)) {
      const needed = statement.text.includes('FROM titles')
        ? titleConditions(statement, query)
        : [query.current, query.previous].flatMap((period) => conditionsOf(statement, query, period))
      const present = needed.filter((condition) => statement.text.includes(condition.text))
      assert.ok(present.length >= (statement.text.includes('FROM titles') ? 2 : 9))
      for (const condition of present) {
        const cut = { ...statement, text: statement.text.replaceAll(condition.text, 'true') }
        assert.notDeepEqual(statementFaults(cut, query), [], `without ${condition.name}`)
      }
    }
  })
}

test('a report without its scope, with half of it, or over another table is found', async () => {
  const query = planned(asked, reports.utm)
  const report = (statement: ReturnType<typeof sql>): Report => ({
    ...reports.utm,
    read: async (clickhouse) => ({ data: await clickhouse.rows(statement) }),
  })
  const planted: [statement: ReturnType<typeof sql>, faults: RegExp][] = [
    [sql`SELECT count() FROM events`, /lacks site,.*lacks days,.*lacks exclusions,.*lacks utm_source/],
    [sql`SELECT count() FROM events WHERE site_id = ${text(query.siteId)}`, /^lacks days,.*lacks exclusions/],
    [sql`SELECT (SELECT count() FROM events) FROM events WHERE site_id = ${text(query.siteId)}`, /lacks site/],
    [sql`SELECT site_id = ${text(query.siteId)} AS ours, count() FROM events WHERE true`, /^lacks site/],
    [sql`SELECT site_id = ${text(query.siteId)} AS ours, count() FROM events`, /^lacks site/],
    [sql`SELECT title FROM titles WHERE pathname = ${text('/')}`, /^lacks site,lacks exclusions$/],
    [sql`SELECT title FROM titles WHERE site_id = ${text('site_another')}`, /^lacks site,lacks exclusions$/],
    [sql`SELECT title FROM titles WHERE site_id = ${text(query.siteId)}`, /^lacks exclusions$/],
    [sql`SELECT 1 FROM accounts`, /^reads accounts$/],
    [sql`SELECT 1`, /^reads nothing$/],
  ]
  for (const [statement, faults] of planted) {
    const [recorded] = await statementsOf(report(statement), query)
    assert.match(statementFaults(recorded as never, query).join(), faults)
  }
})
